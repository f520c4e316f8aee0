// Route.swift: who gets the messages of one selector, and what surrounds them.

import Synchronization

/// Who gets the messages of one selector, in order.
///
/// A route is made outside of the proxy's lock and published under it, on a ``RouteBoard``. Then
/// only steps of the same traits are added at its end, under the lock. A message reads the end
/// once, so it follows the route without the lock.
///
/// It is valid for a message that begins now as long as three things hold:
///
///     epoch      of all tables        is its board's     a method came or went, in any table           → another board
///     its board  is the proxy's                          ownership, delivery or place of a target changed → no board
///     version    of the target list   is the route's     registrations joined                          → their steps are added
///
/// If a step has to be inserted or a strong target be released, or hooks come or go, a patched copy
/// replaces the route. Steps of removed weak targets stay until they are the majority.
@usableFromInline
final class Route: @unchecked Sendable {  // what changes is atomic, or guarded by the proxy's lock
  let selector: MessageSelector
  /// The proxy's; it releases its routes when it ends.
  @usableFromInline let core: MulticastCore
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  private let capacity: UInt32
  @usableFromInline let end = Atomic<Int>(0)
  private let knownVersion: Atomic<UInt>
  /// Whether hooks have changed since, so the next message adds what surrounds it.
  let isStale: Bool
  let traits: RouteTraits
  /// Whether messages take more than calling methods of direct targets: hooks, other contexts,
  /// targets that are asked, or multicasts.
  let needsWalk: Bool
  /// The function type of all methods, where messages only take a loop over them; otherwise `nil`.
  @usableFromInline let loopType: ObjectIdentifier?
  /// The address of the plan, retained, or 0: written once, under the proxy's lock.
  private let planWord = Atomic<UInt>(0)
  /// Below, the number of the step last found able to answer, for `responds(to:)`; above, how often that was forgotten.
  private let witness = Atomic<UInt64>(0)
  /// What precedes the one message that the route was made for.
  let prelude: MessagePrelude?
  let around: RouteSurroundings?

  /// - Parameters:
  ///   - version: of the target list that the steps were made from; 0 for a route that serves one
  ///     message.
  ///   - room: for how many more steps to allocate memory.
  @inline(never)
  init(
    _ core: MulticastCore, _ selector: MessageSelector, version: UInt = 0, steps: RouteSteps, room: Int = 0,
    prelude: MessagePrelude? = nil, around: RouteSurroundings? = nil, isStale: Bool = false
  ) {
    (self.core, self.selector, self.prelude, self.around) = (core, selector, prelude, around)
    self.isStale = isStale
    knownVersion = Atomic(version)
    traits = steps.traits
    needsWalk = around != nil || prelude != nil || traits.needsWalk
    loopType = needsWalk ? nil : traits.types.only
    assert(room >= 0, "room for \(room) steps")
    let capacity = max(steps.list.count + room, 1)
    self.capacity = UInt32(capacity)
    self.steps = .allocate(capacity: capacity)
    append(steps)
  }

  deinit {
    for index in 0..<count { steps[index].release() }
    steps.deallocate()
    keptPlan?.release()
  }

  var plan: DeliveryPlan? { keptPlan?.takeUnretainedValue() }

  var keptPlan: Unmanaged<DeliveryPlan>? {
    UnsafeRawPointer(bitPattern: planWord.load(ordering: .acquiring)).map { .fromOpaque($0) }
  }

  /// Keeps a plan for later messages, if it is for all steps. Called under the proxy's lock.
  func keep(_ plan: DeliveryPlan) {
    core.state.assertHeld()
    guard self.plan == nil, plan.count == count else { return }
    planWord.store(UInt(bitPattern: Unmanaged.passRetained(plan).toOpaque()), ordering: .releasing)
  }

  /// The function types of the methods, where messages only take `before` hooks and a loop.
  var typesBehindHooks: RouteTraits.Types? {
    around?.isBefore ?? false && !traits.needsWalk && prelude == nil ? traits.types : nil
  }

  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { end.load(ordering: .acquiring) }
  }

  /// The version of the target list that the steps were made from.
  var version: UInt { knownVersion.load(ordering: .acquiring) }

  /// Whether a message that begins while the list has `version` may use the route.
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
  /// Adds steps if they come last, there is room, and their traits are the same. Called under the
  /// proxy's lock.
  func extend(by steps: RouteSteps, to version: UInt) -> Bool {
    core.state.assertHeld()
    // A plan is for all steps.
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

  /// A copy with more steps, each behind those of its priority, and room to grow. Called under the
  /// proxy's lock.
  ///
  /// - Parameter around: what surrounds the messages now.
  func grown(by more: RouteSteps, to version: UInt, around: RouteSurroundings?) -> Route {
    core.state.assertHeld()
    var (all, next) = (RouteSteps(), 0)
    all.list.reserveCapacity(count + more.list.count)
    func takeOver(_ index: Int) {
      if !steps[index].registration._withUnsafeGuaranteedRef(\.hasEnded) { all.list.append(steps[index].retained()) }
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

  /// A copy without the steps of registrations that have ended. Called under the proxy's lock.
  func withoutEnded() -> Route {
    core.state.assertHeld()
    var all = RouteSteps()
    for index in 0..<count where !steps[index].registration._withUnsafeGuaranteedRef(\.hasEnded) {
      all.append(steps[index].retained())
    }
    // A step without a method may be that of a nested proxy.
    all.traits.hasNested = traits.hasNested && all.traits.hasForwarders
    all.traits.leavesOut = traits.leavesOut
    return Route(
      core, selector, version: version, steps: all, room: all.list.count / 4 + 1, around: around, isStale: isStale)
  }

  /// A copy that the next message completes with the hooks of then. Called under the proxy's lock.
  func stale() -> Route {
    core.state.assertHeld()
    return Route(core, selector, version: version, steps: retainedSteps(upTo: count), isStale: true)
  }

  func hasStep(of registration: Registration) -> Bool {
    (0..<count).contains { steps[$0].registration._withUnsafeGuaranteedRef { $0 === registration } }
  }

  /// A copy of the steps that one message sees.
  func copy(upTo end: Int, only isMeant: (Registration) -> Bool, _ prelude: MessagePrelude) -> Route {
    assert(end <= count, "a message sees \(end) of \(count) steps")
    var seen = retainedSteps(upTo: end, only: isMeant)
    seen.traits.leavesOut = true
    return Route(core, selector, steps: seen, prelude: prelude, around: around)
  }

  private func retainedSteps(upTo end: Int, only isMeant: (Registration) -> Bool = { _ in true }) -> RouteSteps {
    let meant = (0..<end).filter { isMeant(steps[$0].registration.takeUnretainedValue()) }
    return RouteSteps(list: meant.map { steps[$0].retained() }, traits: traits)
  }

  /// Finds a step whose target is alive and unmuted, starting where the last one was found.
  ///
  /// Skipped steps are dead, removed or muted, and are skipped once until a target joins or is unmuted: so the cost does not grow
  /// with the number of targets.
  ///
  /// - Returns: the target, to be released outside of any lock, and how many steps were skipped.
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
      // Fails if a target has been unmuted since: it may be a skipped one.
      _ = witness.compareExchange(
        expected: known, desired: known & ~Route.witnessNumber | UInt64(index), ordering: .acquiringAndReleasing)
    }
    return (found, index - first)
  }

  /// Makes the next search begin with the first step. Called under the proxy's lock.
  func forgetWitness() {
    core.state.assertHeld()
    let known = witness.load(ordering: .relaxed) & ~Route.witnessNumber
    witness.store(known &+ Route.witnessNumber + 1, ordering: .releasing)
  }

  private static let witnessNumber: UInt64 = 1 << 32 - 1
}

struct RouteTraits: Equatable {
  var types = Types.none
  var hasForwarders = false
  var hasNested = false
  var hasQueued = false
  var leavesOut = false
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

  /// Whether a message takes more than calling one method after another.
  var needsWalk: Bool { hasQueued || hasForwarders }

  func joined(by more: RouteTraits) -> RouteTraits {
    RouteTraits(
      types: types.joined(by: more.types), hasForwarders: hasForwarders || more.hasForwarders,
      hasNested: hasNested || more.hasNested,
      hasQueued: hasQueued || more.hasQueued, leavesOut: leavesOut || more.leavesOut,
      hasIsolated: hasIsolated || more.hasIsolated)
  }
}

/// The steps of a route that is being made.
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
    if step.queued != nil { traits.hasQueued = true }
    traits.types = traits.types.joined(by: step.functionType.map { .one($0) } ?? .several)
  }
}

/// What a message meets before any target.
@usableFromInline
final class MessagePrelude: @unchecked Sendable {  // immutable; used in the turn of the one message or question
  /// Observers that could not be made for the message.
  let failures: [(target: AnyObject, error: any Error)]
  /// Why nobody gets the message.
  let refusal: (any Error)?
  /// Creates the message's observers when it enters the proxy, inside of hooks, and returns its
  /// route. `nil` if it creates none.
  let makeObservers: (() -> MessageRoute)?
  /// The types of the first of them.
  let signature: MethodSignature?

  var makesObservers: Bool { makeObservers != nil }

  init(
    failures: [(target: AnyObject, error: any Error)] = [], refusal: (any Error)? = nil,
    makeObservers: (() -> MessageRoute)? = nil, signature: MethodSignature? = nil
  ) {
    (self.failures, self.refusal) = (failures, refusal)
    (self.makeObservers, self.signature) = (makeObservers, signature)
  }
}

extension MessageRoute {
  /// The route of a message for which `make` creates observers once hooks have let it through, the
  /// first of them with `signature`.
  package func makingObservers(_ signature: MethodSignature?, _ make: @escaping () -> MessageRoute) -> MessageRoute {
    preceded(by: MessagePrelude(makeObservers: make, signature: signature))
  }

  /// The route of a message that has made observers, some of which failed; only for the
  /// registrations that it is meant for.
  package func failing(
    _ failures: [(target: AnyObject, error: any Error)], only isMeant: (Registration) -> Bool
  ) -> MessageRoute {
    preceded(by: MessagePrelude(failures: failures), only: isMeant)
  }

  private func preceded(by prelude: MessagePrelude, only isMeant: (Registration) -> Bool = { _ in true })
    -> MessageRoute
  {
    let copy = route.copy(upTo: count, only: isMeant, prelude)
    return MessageRoute(copy, count: copy.count)
  }
}

/// One step of a route: a registration and its target's method. A trivial type, so that following a
/// route retains nothing: the ``Route`` retains all three.
@usableFromInline
struct RouteStep {
  @usableFromInline let registration: Unmanaged<Registration>
  /// `nil` for a target that is asked each time.
  @usableFromInline let method: Unmanaged<Method>?
  /// The target of a strong, direct registration; `nil` for any other, whose weak reference is
  /// loaded.
  @usableFromInline let strong: Unmanaged<AnyObject>?

  /// Retains each; ``release()`` releases them.
  init(_ registration: Registration, method: Method?, strong: AnyObject?) {
    self.registration = .passRetained(registration)
    self.method = method.map { .passRetained($0) }
    self.strong = strong.map { .passRetained($0) }
  }

  init(unretained registration: Unmanaged<Registration>, _ method: Unmanaged<Method>?) {
    (self.registration, self.method, strong) = (registration, method, nil)
  }

  func release() {
    registration.release()
    method?.release()
    strong?.release()
  }

  func retained() -> RouteStep {
    _ = registration.retain()
    _ = method?.retain()
    _ = strong?.retain()
    return self
  }

  @export(implementation) @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  @export(implementation) @inline(__always)
  var functionType: ObjectIdentifier? { method?._withUnsafeGuaranteedRef { $0.functionType } }

  /// The target; `nil` when it has died.
  @export(implementation) @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.weakTarget }
  }

  /// Whether there is a method that its table did not refuse.
  var answers: Bool { method?._withUnsafeGuaranteedRef { !$0.isRefusal } ?? false }

  var queued: QueuedState? { registration._withUnsafeGuaranteedRef { $0.queued } }

  /// For holders of the lock of the proxy.
  var priority: Int16 { registration._withUnsafeGuaranteedRef { $0.storedPriority } }

  /// Calls the method, which exists and has the types of `arguments` and `R` (by ``functionType``). `nil` when the target has died.
  ///
  /// Only a weak target is retained, for the call: the route retains method and strong target.
  @export(implementation) @inline(__always)
  func call<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) throws -> R? {
    let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.unsafelyUnwrapped.toOpaque())
    if let strong {
      return try strong._withUnsafeGuaranteedRef { target in
        try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
      }
    }
    guard let target = registration._withUnsafeGuaranteedRef({ $0.weakTarget }) else { return nil }
    return try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
  }
}

/// What surrounds the messages of one selector in one proxy. Immutable: a change makes new routes.
final class RouteSurroundings: Sendable {
  let hooks: HookChain
  let trace: MessageTrace?
  let isBefore: Bool

  init?(hooks: [Hook], trace: MessageTrace?) {
    self.hooks = HookChain(hooks: hooks)
    self.trace = trace
    isBefore = trace == nil && self.hooks.isBefore
    if self.hooks.hooks.isEmpty, trace == nil { return nil }
  }
}
