// DeliveryPlan.swift: groups the queued steps of a route that share an envelope.

import Synchronization

/// Queued steps of one context that get a message in one envelope, or one step that needs an
/// envelope of its own. Owned by a ``DeliveryPlan``; queued messages may outlive the plan.
@usableFromInline
package final class DeliveryGroup: @unchecked Sendable {  // immutable, or atomic
  let core: MulticastCore
  package let selector: MessageSelector
  let mailbox: Mailbox
  /// True if the steps share an envelope. Otherwise there is exactly one step.
  let isBatched: Bool
  let indices: ContiguousArray<Int>
  /// Copies of the steps, retained without their targets, so queued messages can outlive the route.
  @usableFromInline let steps: UnsafeMutableBufferPointer<RouteStep>
  /// The methods' function type, if they share one and run in the sender's isolation; else `nil`.
  let methodType: ObjectIdentifier?
  /// The last posted batch, as a ``BatchWord``, retained by this group.
  let batch = Atomic<UInt64>(0)
  /// Identifies the group, see `Mailbox.lastGroup`.
  let number = groups.wrappingAdd(1, ordering: .relaxed).newValue
  private static let groups = Atomic<UInt>(0)
  /// The capacity of the next batch, adapted when a batch ends.
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
  private var isClosure: Bool {
    let key = registration._withUnsafeGuaranteedRef { UInt(bitPattern: $0.key) }
    return UInt(bitPattern: method?.toOpaque()) == key
  }

  /// A copy that does not retain the target. A closure is its own method, so a closure's method is
  /// not retained either.
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

/// Consecutive steps of a route that are delivered in the same manner.
struct StepSegment {
  var end: Int
  /// The function type of methods that one loop calls; `nil` for steps served one at a time.
  let type: ObjectIdentifier?
}

/// How the messages of one selector are delivered. Computed once per route and cached there.
@usableFromInline
final class DeliveryPlan: @unchecked Sendable {  // immutable
  @usableFromInline let count: Int
  let segments: ContiguousArray<StepSegment>
  /// The steps without a method. Their targets are queried for each message.
  let asked: [(step: Int, multicast: MulticastCast?)]
  /// The group of each queued step, and its index in that group.
  let locations: ByStep<(group: Int, place: Int)>
  let groups: ContiguousArray<DeliveryGroup>
  /// `groups` as raw references, iterated without reference counting.
  @usableFromInline let list: UnsafeMutableBufferPointer<Unmanaged<DeliveryGroup>>
  /// True if a typed message only needs to be posted to every group.
  let isPlain: Bool

  init(_ core: MulticastCore, _ route: MessageRoute) {
    var parts: [(mailbox: Mailbox, indices: ContiguousArray<Int>, isBatched: Bool)] = []
    // For each mailbox, the group that later steps join. A step with an envelope of its own ends
    // the group, since no later step of the mailbox may be posted before that step.
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

  /// True if at least one target's buffer suspends senders when it is full.
  var suspendsSenders: Bool { groups.contains { !$0.isBatched && $0.steps[0].queued?.line?.suspendsSenders ?? false } }

  // Queued envelopes do not retain their group, so a marker behind them retains the group.
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
      let type = step.queued == nil && runsAnywhere ? step.loopType : nil
      if let last = segments.indices.last, segments[last].type == type {
        segments[last].end = index + 1
      } else {
        segments.append(StepSegment(end: index + 1, type: type))
      }
    }
    return segments
  }
}

/// A cached cast of one object to a multicast. It saves a conformance lookup for each message.
struct MulticastCast {
  /// The layout of an existential that holds an object, for a protocol without a class constraint.
  private typealias Words = (object: UInt, UInt, UInt, type: UInt, table: UInt)
  private let words: Words

  /// `nil` unless the object itself is a multicast. An object that wraps a multicast is not enough.
  init?(_ target: AnyObject?) {
    guard let target, let multicast = target as? any MulticastSending else { return nil }
    words = withUnsafeBytes(of: multicast as any MulticastSending) { $0.load(as: Words.self) }
    guard words.object == UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque()) else { return nil }
  }

  /// The multicast. Valid while the object lives.
  var multicast: any MulticastSending { withUnsafeBytes(of: words) { $0.load(as: (any MulticastSending).self) } }
}

/// A sparse array indexed by step. Empty instances allocate nothing.
struct ByStep<Element> {
  private var list: [(step: Int, value: Element)] = []
  /// For each step, the index of its value in `list` plus 1; 0 for a step without a value.
  private var places: [Int32] = []

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

/// A marker that retains a group until the envelopes posted before the marker are opened.
package final class GroupRelease: Envelope, @unchecked Sendable {  // immutable
  private let group: DeliveryGroup
  init(_ group: DeliveryGroup) { self.group = group }
}
