// DeliveryPlan.swift: which steps of a route travel in one envelope.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// The steps of a route that go to one context together, or one step that goes alone.
@usableFromInline
final class DeliveryGroup: Sendable {
  let core: MulticastCore
  let selector: MessageSelector
  let mailbox: Mailbox
  /// Where each step stands in the route.
  let indices: ContiguousArray<Int>
  /// The steps themselves: so that what is on its way does not depend on the route.
  nonisolated(unsafe) let steps: UnsafeMutableBufferPointer<RouteStep>  // written before it is shared

  init(
    _ core: MulticastCore, _ selector: MessageSelector, _ mailbox: Mailbox, _ indices: ContiguousArray<Int>,
    in walk: RouteWalk
  ) {
    (self.core, self.selector, self.mailbox, self.indices) = (core, selector, mailbox, indices)
    let steps = UnsafeMutableBufferPointer<RouteStep>.allocate(capacity: indices.count)
    for (place, index) in indices.enumerated() {
      steps.initializeElement(at: place, to: walk.route.steps[index].retained())
    }
    self.steps = steps
  }

  /// Whether every registration lets messages through at this moment.
  var areAllActive: Bool {
    for step in steps where !step.isActive { return false }
    return true
  }

  deinit {
    for step in steps { step.release() }
    steps.deallocate()
  }
}

/// How the messages of one selector leave: worked out once for a route and kept with it.
@usableFromInline
final class DeliveryPlan: Sendable {
  /// How many steps of the route the plan covers.
  let count: Int
  /// The steps that travel together, one group for each context.
  let groups: ContiguousArray<DeliveryGroup>
  /// The steps that travel alone.
  let loners: [DeliveryGroup]
  /// The steps that run, or may run, in the sender's turn.
  let inTurn: [Int]
  /// Whether there are only steps that travel together.
  let areAllTogether: Bool

  init(_ core: MulticastCore, _ walk: RouteWalk) {
    var together: [(mailbox: Mailbox, indices: ContiguousArray<Int>)] = []
    var places: [ObjectIdentifier: Int] = [:]
    var alone: [DeliveryGroup] = []
    var inTurn: [Int] = []
    let selector = walk.route.selector
    for index in 0..<walk.count {
      guard let part = walk.route.steps[index].registration.takeUnretainedValue().queued else {
        inTurn.append(index)
        continue
      }
      if part.delivery.isAutomatic { inTurn.append(index) }
      if part.travelsAlone {
        alone.append(DeliveryGroup(core, selector, part.mailbox, [index], in: walk))
        continue
      }
      let key = ObjectIdentifier(part.mailbox)
      if let place = places[key] {
        together[place].indices.append(index)
      } else {
        places[key] = together.count
        together.append((part.mailbox, [index]))
      }
    }
    count = walk.count
    groups = ContiguousArray(together.map { DeliveryGroup(core, selector, $0.mailbox, $0.indices, in: walk) })
    loners = alone
    self.inTurn = inTurn
    areAllTogether = alone.isEmpty && inTurn.isEmpty
  }

  // Nobody can post to the groups any more, but their parcels, which do not keep them alive, may still wait. Whatever
  // is posted to a mailbox now comes behind those.
  deinit {
    for group in groups where !group.mailbox.isAsleep { group.mailbox.post(Retirement(group)) }
  }
}

/// Keeps a group until every parcel of it has been opened.
private final class Retirement: Envelope, @unchecked Sendable {  // immutable
  private let group: DeliveryGroup
  init(_ group: DeliveryGroup) { self.group = group }
}
