// DeliveryPlan.swift: which steps of a route travel in one envelope.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// The steps of a route that go to one context together, or one step that goes alone.
@usableFromInline
final class DeliveryGroup: Sendable {
  let core: MulticastCore
  let selector: MessageSelector
  let mailbox: Mailbox
  /// Whether its steps share a parcel; one that does not has one step.
  let isBatched: Bool
  /// Where each step stands in the route.
  let indices: ContiguousArray<Int>
  /// The steps themselves: so that what is on its way does not depend on the route.
  nonisolated(unsafe) let steps: UnsafeMutableBufferPointer<RouteStep>  // written before it is shared
  /// The function type that all methods have, where each runs in its sender's turn; `nil` when they differ.
  let methodType: ObjectIdentifier?

  init(
    _ core: MulticastCore, _ mailbox: Mailbox, _ indices: ContiguousArray<Int>, isBatched: Bool,
    along route: MessageRoute
  ) {
    (self.core, selector, self.mailbox, self.indices) = (core, route.selector, mailbox, indices)
    self.isBatched = isBatched
    let steps = UnsafeMutableBufferPointer<RouteStep>.allocate(capacity: indices.count)
    for (place, index) in indices.enumerated() {
      steps.initializeElement(at: place, to: route.steps[index].retained())
    }
    self.steps = steps
    let first = steps.first?.functionType
    let isPlain = steps.allSatisfy { step in
      step.functionType == first && step.method?.takeUnretainedValue().isolation == .sender
    }
    methodType = isPlain ? first : nil
  }

  /// Posts a parcel for all of the group.
  @usableFromInline
  func post(_ parcel: PlainParcel) { mailbox.post(parcel) }

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
  @usableFromInline let count: Int
  /// The steps of each context that travel together, and those that travel alone, in the order in which they are posted.
  @usableFromInline let groups: ContiguousArray<DeliveryGroup>
  /// Whether there are only steps that travel together.
  let areAllTogether: Bool

  init(_ core: MulticastCore, _ route: MessageRoute) {
    var parts: [(mailbox: Mailbox, indices: ContiguousArray<Int>, isBatched: Bool)] = []
    // The part that the next step of a mailbox joins. A step that travels alone ends it, so that no later step of that
    // mailbox is posted before it.
    var open: [ObjectIdentifier: Int] = [:]
    var hasDirect = false
    for index in 0..<route.count {
      guard let queued = route.steps[index].registration.takeUnretainedValue().queued else {
        hasDirect = true
        continue
      }
      let key = ObjectIdentifier(queued.mailbox)
      if queued.travelsAlone {
        open[key] = nil
        parts.append((queued.mailbox, [index], false))
      } else if let part = open[key] {
        parts[part].indices.append(index)
      } else {
        open[key] = parts.count
        parts.append((queued.mailbox, [index], true))
      }
    }
    count = route.count
    groups = ContiguousArray(
      parts.map { DeliveryGroup(core, $0.mailbox, $0.indices, isBatched: $0.isBatched, along: route) })
    areAllTogether = !hasDirect && groups.allSatisfy(\.isBatched)
  }

  // Nobody can post to the groups any more, but their parcels, which do not keep them alive, may still wait. Whatever
  // is posted to a mailbox now comes behind those.
  deinit {
    for group in groups where group.isBatched && !group.mailbox.isAsleep { group.mailbox.post(GroupRelease(group)) }
  }
}

/// Keeps a group until every parcel of it has been opened.
private final class GroupRelease: Envelope, @unchecked Sendable {  // immutable
  private let group: DeliveryGroup
  init(_ group: DeliveryGroup) { self.group = group }
}
