// DeliveryPlan.swift: which steps of a route share an envelope.

import Synchronization

/// Steps of a route that go to one context together, or one step that goes alone.
@usableFromInline
package final class DeliveryGroup: @unchecked Sendable {  // immutable, or atomic
  let core: MulticastCore
  package let selector: MessageSelector
  let mailbox: Mailbox
  /// Whether its steps share an envelope; otherwise there is one step.
  let isBatched: Bool
  let indices: ContiguousArray<Int>
  /// The steps, retained here, so that waiting messages do not depend on the route. They retain no
  /// target.
  @usableFromInline let steps: UnsafeMutableBufferPointer<RouteStep>
  /// The common function type of methods that all run in their sender's turn; otherwise `nil`.
  let methodType: ObjectIdentifier?
  /// A ``BatchWord``: the last posted batch, retained by this group, or none.
  let batch = Atomic<UInt64>(0)
  /// A number of this group alone.
  let number = groups.wrappingAdd(1, ordering: .relaxed).newValue
  private static let groups = Atomic<UInt>(0)
  let nextCapacity = Atomic<Int>(DeliveryGroup.smallestBatch)
  static let smallestBatch = 4

  init(
    _ core: MulticastCore, _ mailbox: Mailbox, _ indices: ContiguousArray<Int>, isBatched: Bool,
    along route: MessageRoute
  ) {
    (self.core, selector, self.mailbox, self.indices) = (core, route.selector, mailbox, indices)
    self.isBatched = isBatched
    assert(!indices.isEmpty && (isBatched || indices.count == 1), "a group of \(indices.count) steps")
    assert(indices.allSatisfy { route.steps[$0].queued?.mailbox === mailbox }, "the steps of a group have one mailbox")
    let steps = UnsafeMutableBufferPointer<RouteStep>.allocate(capacity: indices.count)
    for (place, index) in indices.enumerated() {
      steps.initializeElement(at: place, to: route.steps[index].retainedWithoutTarget())
    }
    self.steps = steps
    let first = steps.first?.functionType
    let isPlain = steps.allSatisfy { step in
      step.functionType == first && step.method?.takeUnretainedValue().isolation.isSender == true
    }
    methodType = isPlain ? first : nil
  }

  deinit {
    releaseBatch()
    for step in steps { step.releaseWithoutTarget() }
    steps.deallocate()
  }
}

extension RouteStep {
  /// Whether the target is a closure, which is its own method.
  private var isClosure: Bool {
    let key = registration._withUnsafeGuaranteedRef { UInt(bitPattern: $0.key) }
    return UInt(bitPattern: method?.toOpaque()) == key
  }

  /// A step that retains no target. The method of a closure may be used only while the target is
  /// held.
  fileprivate func retainedWithoutTarget() -> RouteStep {
    _ = registration.retain()
    if !isClosure { _ = method?.retain() }
    return RouteStep(unretained: registration, method)
  }

  fileprivate func releaseWithoutTarget() {
    if !isClosure { method?.release() }
    registration.release()
  }
}

/// Neighbouring steps of a route that are served in one way.
struct StepSegment {
  var end: Int
  /// The function type of the methods of direct targets, which a loop serves; `nil` where each step
  /// is served alone.
  let type: ObjectIdentifier?
}

/// How the messages of one selector leave: worked out once for a route and kept with it.
@usableFromInline
final class DeliveryPlan: @unchecked Sendable {  // immutable
  @usableFromInline let count: Int
  let segments: ContiguousArray<StepSegment>
  /// The steps without a method, whose targets are asked each time.
  let asked: [(step: Int, multicast: MulticastCast?)]
  /// The group and place in it of each queued step.
  let locations: ByStep<(group: Int, place: Int)>
  /// The groups in the order in which they are posted.
  let groups: ContiguousArray<DeliveryGroup>
  /// `groups`, to be iterated without reference counting.
  @usableFromInline let list: UnsafeMutableBufferPointer<Unmanaged<DeliveryGroup>>
  /// Whether a typed message that covers the plan only has to be posted to all groups.
  let isPlain: Bool

  init(_ core: MulticastCore, _ route: MessageRoute) {
    var parts: [(mailbox: Mailbox, indices: ContiguousArray<Int>, isBatched: Bool)] = []
    // The part that the next step of a mailbox joins. A step that travels alone ends it, so that no later step of the mailbox is
    // posted before it.
    var open: [ObjectIdentifier: Int] = .init()
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
    let askedSteps = route.route.hasForwarders ? (0..<route.count).filter { route.steps[$0].method == nil } : []
    asked = askedSteps.map { ($0, MulticastCast(route.steps[$0].target)) }
    segments = StepSegment.all(of: route)
    var locations = ByStep<(group: Int, place: Int)>()
    for (group, part) in parts.enumerated() {
      for (place, index) in part.indices.enumerated() { locations[index] = (group, place) }
    }
    self.locations = locations
    groups = ContiguousArray(
      parts.map { DeliveryGroup(core, $0.mailbox, $0.indices, isBatched: $0.isBatched, along: route) })
    list = .allocate(capacity: groups.count)
    _ = list.initialize(from: groups.lazy.map { Unmanaged.passUnretained($0) })
    assert(segments.last?.end ?? 0 == count, "segments cover all steps")
    let whole = route.route
    isPlain =
      !hasDirect && groups.allSatisfy(\.isBatched) && !groups.isEmpty && core.ignoresSilence && !core.stopsAtFirst
      && !whole.hasNested && whole.prelude == nil && whole.around == nil
  }

  /// Whether some target's buffer makes senders wait for room.
  var suspendsSenders: Bool { groups.contains { !$0.isBatched && $0.steps[0].queued?.line?.suspendsSenders ?? false } }

  // Nobody can post to the groups any more, but their envelopes, which do not retain them, may still wait. The releases are posted
  // behind those.
  deinit {
    list.deallocate()
    for group in groups where group.isBatched && !group.mailbox.isAsleep { group.mailbox.post(GroupRelease(group)) }
  }
}

extension StepSegment {
  fileprivate static func all(of route: MessageRoute) -> ContiguousArray<StepSegment> {
    var segments: ContiguousArray<StepSegment> = []
    for index in 0..<route.count {
      let step = route.steps[index]
      let runsAnywhere = step.method?.takeUnretainedValue().isolation.isSender ?? false
      let type = step.queued == nil && runsAnywhere ? step.functionType : nil
      if let last = segments.indices.last, segments[last].type == type {
        segments[last].end = index + 1
      } else {
        segments.append(StepSegment(end: index + 1, type: type))
      }
    }
    return segments
  }
}

/// The cast of one object to a multicast, found once: it is a conformance lookup.
struct MulticastCast {
  /// The words of an existential of a protocol that is not class-bound, holding an object.
  private typealias Words = (object: UInt, UInt, UInt, type: UInt, table: UInt)
  private let words: Words

  /// `nil` when the object is not a multicast, or stands for a value that is one.
  init?(_ target: AnyObject?) {
    guard let target, let multicast = target as? any MulticastSending else { return nil }
    words = withUnsafeBytes(of: multicast as any MulticastSending) { $0.load(as: Words.self) }
    guard words.object == UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque()) else { return nil }
  }

  /// The multicast; valid while the object lives.
  var multicast: any MulticastSending { withUnsafeBytes(of: words) { $0.load(as: (any MulticastSending).self) } }
}

/// Values of some steps of a route. Takes no memory while there are none.
struct ByStep<Element> {
  /// The values with their steps, in the order in which they were set.
  private var list: [(step: Int, value: Element)] = []
  /// For each step the place of its value in the list, counted from 1; 0 for none.
  private var places: [Int32] = []

  /// The steps with a value, in the order in which they got it.
  var indices: [Int] {
    list.indices.compactMap { Int(places[list[$0].step]) == $0 + 1 ? list[$0].step : nil }
  }

  subscript(index: Int) -> Element? {
    get { index < places.count && places[index] != 0 ? list[Int(places[index]) - 1].value : nil }
    set {
      if index >= places.count {
        if newValue == nil { return }
        places += repeatElement(0, count: index + 1 - places.count)
      }
      assert(index >= 0 && index < places.count, "step \(index) of \(places.count)")
      guard let newValue else { return places[index] = 0 }
      list.append((index, newValue))
      places[index] = Int32(list.count)
    }
  }
}

/// Retains a group until every envelope of it has been opened.
package final class GroupRelease: Envelope, @unchecked Sendable {  // immutable
  private let group: DeliveryGroup
  init(_ group: DeliveryGroup) { self.group = group }
}
