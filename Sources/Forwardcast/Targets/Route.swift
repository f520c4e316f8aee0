// Route.swift: the receivers of a selector's messages, in order.

import Synchronization

/// The receivers of one selector's messages, in order. A *step* is a registration with its method.
///
/// A route is made outside the proxy's lock and published on a ``RouteBoard`` with the lock held.
/// After that, steps may be appended under the lock if they leave the route's ``RouteTraits``
/// unchanged. A message reads `end` once and then follows the route without the lock.
///
/// A new message may use the route, unless it is stale, if three conditions hold:
/// - No table has changed since the board was made. A change begins a new *epoch* and board.
/// - The route's board is published. The proxy drops the board if a target's ownership, delivery,
///   order or limit of selectors changes, or if a target is replaced.
/// - The target list has the route's version. If targets have joined, their steps are added.
///
/// A successor replaces the route to insert a step, to release a strong target (unless the route
/// is unused), or to change hooks. Steps of removed weak targets stay until they are the majority.
@usableFromInline
final class Route: @unchecked Sendable {  // what changes is atomic, or guarded by the proxy's lock
  let selector: MessageSelector
  /// The proxy's core, retained. The `deinit` of the proxy makes the core release its routes.
  @usableFromInline let core: MulticastCore
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  let capacity: UInt32
  /// The number of steps. Grows when steps are appended. Shrinks only if no message uses the route.
  @usableFromInline let end = Atomic<Int>(0)
  /// The list's version that the steps were made from; `.max` if closed. Grows with the steps.
  private let knownVersion: Atomic<UInt>
  /// True if the route was made without the current hooks, so the next message must rebuild it.
  let isStale: Bool
  let traits: RouteTraits
  /// True if messages need a ``MessageDelivery``: for hooks, a prelude, other contexts, or queries.
  let needsWalk: Bool
  /// The function type of all methods if one loop can deliver a message; otherwise `nil`.
  @usableFromInline let loopType: ObjectIdentifier?
  /// The address of the retained plan, or 0. Written once, with the proxy's lock held.
  private let planWord = Atomic<UInt>(0)
  /// The low bits are the step that last answered `responds(to:)`. The high bits count the resets.
  private let witness = Atomic<UInt64>(0)
  /// The actions before the first step; only set if the route serves one message.
  let prelude: MessagePrelude?
  let around: RouteSurroundings?
  /// True if a successor has taken over the steps, so this route does not release them. Guarded by
  /// the lock.
  private var isMoved = false

  /// - Parameters:
  ///   - version: the target list's version; for a caller's own route, the number of changes or 0.
  ///   - old: an unused route whose steps the new route takes over. If it is given, `steps` has
  ///     traits only.
  @inline(never)
  init(
    _ core: MulticastCore, _ selector: MessageSelector, version: UInt = 0, steps: RouteSteps, room: Int = 0,
    prelude: MessagePrelude? = nil, around: RouteSurroundings? = nil, isStale: Bool = false, over old: Route? = nil
  ) {
    (self.core, self.selector, self.prelude, self.around) = (core, selector, prelude, around)
    self.isStale = isStale
    knownVersion = Atomic(version)
    var traits = steps.traits
    // Without steps there is no loop. The traits come from a predecessor, and all of its steps may
    // have ended.
    if old == nil, steps.list.isEmpty { traits.types = .none }
    self.traits = traits
    needsWalk = around != nil || prelude != nil || traits.needsWalk
    loopType = needsWalk ? nil : traits.types.only
    assert(room >= 0, "room for \(room) steps")
    if let old {
      (self.steps, capacity) = (old.steps, old.capacity)
      end.store(old.count, ordering: .releasing)
      old.isMoved = true
      return
    }
    let capacity = max(steps.list.count + room, 1)
    self.capacity = UInt32(capacity)
    self.steps = .allocate(capacity: capacity)
    append(steps)
  }

  deinit {
    if !isMoved {
      for index in 0..<count { steps[index].release() }
      steps.deallocate()
    }
    keptPlan?.release()
  }

  var plan: DeliveryPlan? { keptPlan?.takeUnretainedValue() }

  var keptPlan: Unmanaged<DeliveryPlan>? {
    UnsafeRawPointer(bitPattern: planWord.load(ordering: .acquiring)).map { .fromOpaque($0) }
  }

  /// Caches a plan for later messages if it covers all steps. Called with the proxy's lock held.
  func keep(_ plan: DeliveryPlan) {
    core.state.assertHeld()
    guard self.plan == nil, plan.count == count else { return }
    planWord.store(UInt(bitPattern: Unmanaged.passRetained(plan).toOpaque()), ordering: .releasing)
  }

  /// The methods' function type, if all targets are direct or automatic and there are no hooks.
  var automaticType: ObjectIdentifier? {
    traits.isAutomatic && !traits.hasForwarders && around == nil && prelude == nil ? traits.types.only : nil
  }

  /// The methods' function types, if messages need only `before` hooks and a loop.
  var typesBehindHooks: RouteTraits.Types? {
    around?.isBefore ?? false && !traits.needsWalk && prelude == nil ? traits.types : nil
  }

  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { end.load(ordering: .acquiring) }
  }

  var version: UInt { knownVersion.load(ordering: .acquiring) }

  /// True if a message may use the route while the target list has `version`.
  @inline(__always)
  func isValid(for version: UInt) -> Bool { self.version == version && !isStale }

  private func append(_ more: RouteSteps) {
    let count = count
    assert(count + more.list.count <= Int(capacity), "a route has room for the steps that are added")
    (steps + count).initialize(from: more.list, count: more.list.count)
    end.store(count + more.list.count, ordering: .releasing)
  }

  var hasForwarders: Bool { traits.hasForwarders }
  var hasNested: Bool { traits.hasNested }
  var hasQueued: Bool { traits.hasQueued }
  var leavesOut: Bool { traits.leavesOut }
  /// If the steps come last, fit, and leave the traits unchanged, appends them and returns true.
  func extend(by steps: RouteSteps, to version: UInt) -> Bool {
    core.state.assertHeld()
    // A plan covers all steps, so a route with a plan gets no further steps.
    guard !isStale, plan == nil || steps.list.isEmpty, count + steps.list.count <= Int(capacity),
      traits.joined(by: steps.traits) == traits, comeLast(steps.list)
    else { return false }
    assert(version &- self.version < .max / 2, "a route does not go back to an older version")
    append(steps)
    knownVersion.store(version, ordering: .releasing)
    return true
  }

  private func comeLast(_ more: [RouteStep]) -> Bool {
    var last = count > 0 ? steps[count - 1].priority : .max
    for step in more {
      if step.priority > last { return false }
      last = step.priority
    }
    return true
  }

  /// A successor with more steps. Each new step follows the existing steps of its priority.
  func grown(by more: RouteSteps, to version: UInt, around: RouteSurroundings?, isUnused: Bool) -> Route {
    core.state.assertHeld()
    if isUnused, more.list.isEmpty { return moved(version, traits.joined(by: more.traits), around: around) }
    var (all, next) = (RouteSteps(), 0)
    all.list.reserveCapacity(count + more.list.count)
    func takeOver(_ index: Int) {
      if !hasEnded(index) { all.list.append(steps[index].retained()) }
    }
    for step in inOrder(more.list, by: { -Int($0.priority) }) {
      while next < count, steps[next].priority >= step.priority {
        takeOver(next)
        next += 1
      }
      all.list.append(step)
    }
    for index in next..<count { takeOver(index) }
    assert(zip(all.list, all.list.dropFirst()).allSatisfy { $0.priority >= $1.priority }, "steps are in delivery order")
    all.traits = traits.joined(by: more.traits)
    return Route(core, selector, version: version, steps: all, room: all.list.count, around: around)
  }

  /// Makes the route invalid for messages that begin from now on, and returns its version.
  func close() -> UInt { knownVersion.exchange(.max, ordering: .acquiringAndReleasing) }

  /// A successor without the ended steps.
  func withoutEnded(version: UInt) -> Route {
    core.state.assertHeld()
    var all = RouteSteps()
    all.list.reserveCapacity(count)
    for index in 0..<count where !hasEnded(index) { all.append(steps[index].retained()) }
    // A step without a method may be a nested proxy.
    all.traits.hasNested = traits.hasNested && all.traits.hasForwarders
    all.traits.leavesOut = traits.leavesOut
    return Route(
      core, selector, version: version, steps: all, room: all.list.count / 4 + 1, around: around, isStale: isStale)
  }

  /// Removes a step of a closed route that no message uses, and opens the route with `version`.
  ///
  /// - Returns: false if a successor is needed, because the traits could change or most of the
  ///   memory would remain unused.
  func removeStep(_ index: Int, version: UInt, garbage: inout Garbage) -> Bool {
    core.state.assertHeld()
    assert(self.version == .max, "messages cannot begin while the steps move")
    // One step always stays, as the traits must describe a step.
    let kept = count - 1
    guard traits.isUniform, plan == nil, kept > 0, kept * 4 >= Int(capacity) else { return false }
    steps[index].release(after: &garbage)
    (steps + index).moveInitialize(from: steps + index + 1, count: kept - index)
    end.store(kept, ordering: .releasing)
    forgetWitness()
    knownVersion.store(version, ordering: .releasing)
    return true
  }

  private func hasEnded(_ index: Int) -> Bool { steps[index].registration._withUnsafeGuaranteedRef(\.hasEnded) }

  /// A stale successor without hooks. The next message rebuilds it with the current hooks.
  func stale(version: UInt, isUnused: Bool) -> Route {
    core.state.assertHeld()
    if isUnused { return moved(version, traits, isStale: true) }
    return Route(core, selector, version: version, steps: retainedSteps(upTo: count), isStale: true)
  }

  /// A successor that takes over all steps of this route, which no message uses.
  private func moved(
    _ version: UInt, _ traits: RouteTraits, around: RouteSurroundings? = nil, isStale: Bool = false
  ) -> Route {
    let none = RouteSteps(traits: traits)
    return Route(core, selector, version: version, steps: none, around: around, isStale: isStale, over: self)
  }

  /// A route with only the step of `registration`, without hooks.
  func only(_ registration: Registration) -> Route {
    Route(core, selector, steps: retainedSteps(upTo: count) { $0 === registration })
  }

  /// The step of a registration. The latest steps, which often leave first, are found first.
  func step(of registration: Registration) -> Int? {
    (0..<count).last { steps[$0].registration._withUnsafeGuaranteedRef { $0 === registration } }
  }

  func copy(upTo end: Int, only isMeant: (Registration) -> Bool, _ prelude: MessagePrelude?) -> Route {
    assert(end <= count, "a message sees \(end) of \(count) steps")
    var seen = retainedSteps(upTo: end, only: isMeant)
    seen.traits.leavesOut = true
    return Route(core, selector, steps: seen, prelude: prelude, around: around)
  }

  private func retainedSteps(upTo end: Int, only isMeant: (Registration) -> Bool = { _ in true }) -> RouteSteps {
    let meant = (0..<end).filter { isMeant(steps[$0].registration.takeUnretainedValue()) }
    return RouteSteps(list: meant.map { steps[$0].retained() }, traits: traits)
  }

  /// Finds a step whose target is alive and unmuted. Each search starts at the step that the
  /// previous search found, so the amortized cost does not grow with the number of targets.
  ///
  /// - Returns: the target, to be released outside any lock, and the number of skipped steps.
  func findWitness() -> (target: AnyObject?, passed: Int) {
    let (known, end) = (witness.load(ordering: .acquiring), count)
    let first = Int(truncatingIfNeeded: known & Route.witnessNumber)
    var (index, found) = (first, AnyObject?.none)
    while index < end {
      let step = steps[index]
      if step.answers, step.isActive, let target = step.target {
        found = target
        break
      }
      index += 1
    }
    assert(first <= end, "the witness is a step of the route")
    if index != first {
      // Fails if a target was unmuted during the search, since a skipped step may respond again.
      _ = witness.compareExchange(
        expected: known, desired: known & ~Route.witnessNumber | UInt64(index), ordering: .acquiringAndReleasing)
    }
    return (found, index - first)
  }

  /// Makes the next search start at the first step.
  func forgetWitness() {
    core.state.assertHeld()
    let known = witness.load(ordering: .relaxed) & ~Route.witnessNumber
    witness.store(known &+ Route.witnessNumber + 1, ordering: .releasing)
  }

  private static let witnessNumber: UInt64 = 1 << 32 - 1
}

/// Properties of a route's steps. Steps may be appended if they do not change the properties.
struct RouteTraits: Equatable {
  var types = Types.none
  /// True if some targets are queried for each message.
  var hasForwarders = false
  /// True if some of the queried targets are multicasts.
  var hasNested = false
  var hasQueued = false
  /// True if all queued steps have an automatic delivery.
  var isAutomatic = true
  /// True if some registrations of the proxy have no step.
  var leavesOut = false
  /// True if some methods run only in their own isolation, not in the sender's.
  var hasIsolated = false

  enum Types: Equatable {
    case none
    case one(ObjectIdentifier)
    case several

    var only: ObjectIdentifier? { if case .one(let type) = self { type } else { nil } }

    func joined(by more: Types) -> Types {
      switch (self, more) {
      case (.none, _): more
      case (_, .none): self
      default: self == more ? self : .several
      }
    }
  }

  var needsWalk: Bool { hasQueued || hasForwarders }

  /// True if all steps are direct, with methods of one type that run in the sender's isolation.
  var isUniform: Bool { types.only != nil && !needsWalk && !hasIsolated }

  func joined(by more: RouteTraits) -> RouteTraits {
    RouteTraits(
      types: types.joined(by: more.types), hasForwarders: hasForwarders || more.hasForwarders,
      hasNested: hasNested || more.hasNested,
      hasQueued: hasQueued || more.hasQueued, isAutomatic: isAutomatic && more.isAutomatic,
      leavesOut: leavesOut || more.leavesOut,
      hasIsolated: hasIsolated || more.hasIsolated)
  }
}

struct RouteSteps {
  var list: [RouteStep] = []
  var traits = RouteTraits()

  mutating func append(_ step: RouteStep) {
    list.append(step)
    if let method = step.method?.takeUnretainedValue() {
      if !method.isolation.isSender { traits.hasIsolated = true }
    } else {
      traits.hasForwarders = true
    }
    if let queued = step.queued {
      traits.hasQueued = true
      if queued.turns == nil { traits.isAutomatic = false }
    }
    traits.types = traits.types.joined(by: step.loopType.map { .one($0) } ?? .several)
  }
}

/// The actions of one message before its first target.
@usableFromInline
final class MessagePrelude: @unchecked Sendable {  // immutable; used by one message or query
  let failures: [(target: AnyObject, error: any Error)]
  /// True for the registrations that the message may reach; `nil` if it may reach all.
  let isMeant: ((Registration) -> Bool)?
  let refusal: (any Error)?
  /// Creates lazy observers (see `ExtensionCenter`) and returns the message's route. Called after
  /// the hooks have let the message through.
  let makeObservers: (() -> MessageRoute)?
  let signature: MethodSignature?

  var makesObservers: Bool { makeObservers != nil }

  init(
    failures: [(target: AnyObject, error: any Error)] = [], only isMeant: ((Registration) -> Bool)? = nil,
    refusal: (any Error)? = nil, makeObservers: (() -> MessageRoute)? = nil, signature: MethodSignature? = nil
  ) {
    (self.failures, self.isMeant, self.refusal) = (failures, isMeant, refusal)
    (self.makeObservers, self.signature) = (makeObservers, signature)
  }
}

extension MessageRoute {
  /// A route that calls `make` after the hooks. `make` creates observers; the first observer has
  /// `signature`.
  package func makingObservers(_ signature: MethodSignature?, _ make: @escaping () -> MessageRoute) -> MessageRoute {
    preceded(by: MessagePrelude(makeObservers: make, signature: signature))
  }

  /// The route of a message after its observers were created: limited to the matching
  /// registrations, and with the errors of observers that could not be created.
  package func failing(
    _ failures: [(target: AnyObject, error: any Error)], only isMeant: @escaping (Registration) -> Bool
  ) -> MessageRoute {
    preceded(by: MessagePrelude(failures: failures, only: isMeant))
  }

  private func preceded(by prelude: MessagePrelude) -> MessageRoute {
    let copy = route.copy(upTo: count, only: prelude.isMeant ?? { _ in true }, prelude)
    return MessageRoute(copy, count: copy.count)
  }
}

/// The hooks and trace of one selector in one proxy. Immutable: a change makes new routes.
final class RouteSurroundings: Sendable {
  let hooks: HookChain
  let trace: MessageTrace?
  let isBefore: Bool
  /// True if all hooks are streams of messages, which let every message through unchanged.
  let onlyListens: Bool

  init?(hooks: [Hook], trace: MessageTrace?) {
    self.hooks = HookChain(hooks: hooks)
    self.trace = trace
    isBefore = trace == nil && self.hooks.isBefore
    onlyListens = isBefore && hooks.allSatisfy { $0.finish != nil }
    if self.hooks.hooks.isEmpty, trace == nil { return nil }
  }
}
