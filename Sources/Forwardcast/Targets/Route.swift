// Route.swift: who gets the messages of one selector, and what surrounds them.

import Synchronization

/// Who gets the messages of one selector, in order.
///
/// A route is made outside of the proxy's lock and published under it, on a ``RouteBoard``. Then only steps of the same traits are
/// added at its end, under the lock. A message reads the end once, so it follows the route without the lock.
///
/// It is valid for a message that begins now as long as three things hold:
///
///     epoch        of all tables        is its board's      a method came or went, in any table     → another board
///     its board    is the proxy's                           something left the target list, or moved → no board
///     version      of the target list   is the route's      something joined at the end              → what joined is added
@usableFromInline
final class Route: @unchecked Sendable {  // what changes is atomic, or guarded by the proxy's lock
  let selector: MessageSelector
  /// The proxy's; it releases its routes when it ends.
  @usableFromInline let core: MulticastCore
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  private let capacity: UInt32
  /// How far into the list's last priority the route reaches. Guarded by the lock.
  private(set) var covered: UInt32
  @usableFromInline let end = Atomic<Int>(0)
  private let knownVersion: Atomic<UInt>
  let traits: RouteTraits
  /// Whether messages take more than calling methods of direct targets: hooks, other contexts, targets that are asked, multicasts,
  /// or targets registered more than once.
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
  ///   - reach: of the target list that the steps were made from; 0 for a route that serves one message.
  ///   - room: for how many more steps to allocate memory.
  @inline(never)
  init(
    _ core: MulticastCore, _ selector: MessageSelector, reach: RouteReach, steps: RouteSteps, room: Int = 0,
    prelude: MessagePrelude? = nil, around: RouteSurroundings? = nil
  ) {
    (self.core, self.selector, self.prelude, self.around) = (core, selector, prelude, around)
    knownVersion = Atomic(reach.version)
    covered = reach.end
    traits = steps.traits
    needsWalk = around != nil || prelude != nil || traits.needsWalk
    loopType = needsWalk ? nil : traits.types.only
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

  var version: UInt { knownVersion.load(ordering: .acquiring) }

  private func append(_ more: RouteSteps) {
    let count = count
    (steps + count).initialize(from: more.list, count: more.list.count)
    end.store(count + more.list.count, ordering: .releasing)
  }

  var hasForwarders: Bool { traits.hasForwarders }
  var hasNested: Bool { traits.hasNested }
  var hasQueued: Bool { traits.hasQueued }
  var leavesOut: Bool { traits.leavesOut }
  var hasRepeats: Bool { traits.hasRepeats }

  /// Adds steps at the end if there is room and their traits are the same. Called under the proxy's lock.
  func extend(by steps: RouteSteps, to reach: RouteReach) -> Bool {
    // A plan is for all steps.
    guard plan == nil, count + steps.list.count <= Int(capacity), traits.joined(by: steps.traits) == traits else {
      return false
    }
    append(steps)
    covered = reach.end
    knownVersion.store(reach.version, ordering: .releasing)
    return true
  }

  /// A longer copy with room to grow. Called under the proxy's lock.
  func grown(by more: RouteSteps, to reach: RouteReach) -> Route {
    var all = retainedSteps(upTo: count)
    all.list += more.list
    all.traits = traits.joined(by: more.traits)
    return Route(core, selector, reach: reach, steps: all, room: all.list.count, around: around)
  }

  /// A copy of the steps that one message sees.
  func copy(upTo end: Int, only isMeant: (Registration) -> Bool, _ prelude: MessagePrelude) -> Route {
    var seen = retainedSteps(upTo: end, only: isMeant)
    seen.traits.leavesOut = true
    return Route(core, selector, reach: .init(), steps: seen, prelude: prelude, around: around)
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
    if index != first {
      // Fails if a target has been unmuted since: it may be a skipped one.
      _ = witness.compareExchange(
        expected: known, desired: known & ~Route.witnessNumber | UInt64(index), ordering: .acquiringAndReleasing)
    }
    return (found, index - first)
  }

  /// Makes the next search begin with the first step. Called under the proxy's lock.
  func forgetWitness() {
    let known = witness.load(ordering: .relaxed) & ~Route.witnessNumber
    witness.store(known &+ Route.witnessNumber + 1, ordering: .releasing)
  }

  private static let witnessNumber: UInt64 = 1 << 32 - 1
}

/// How far a route reaches in the target list: the list's version, and how many slots its last priority had.
struct RouteReach {
  var version: UInt = 0
  var end: UInt32 = 0
}

struct RouteTraits: Equatable {
  var types = Types.none
  var hasForwarders = false
  var hasNested = false
  var hasQueued = false
  var leavesOut = false
  /// Whether a target may have several steps, but is to get a message once.
  var hasRepeats = false
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
  var needsWalk: Bool { hasQueued || hasForwarders || hasRepeats }

  func joined(by more: RouteTraits) -> RouteTraits {
    RouteTraits(
      types: types.joined(by: more.types), hasForwarders: hasForwarders || more.hasForwarders,
      hasNested: hasNested || more.hasNested,
      hasQueued: hasQueued || more.hasQueued, leavesOut: leavesOut || more.leavesOut,
      hasRepeats: hasRepeats || more.hasRepeats, hasIsolated: hasIsolated || more.hasIsolated)
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
  /// Creates the message's observers when it enters the proxy, inside of hooks, and returns its route. `nil` if it creates none.
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
  /// The route of a message for which `make` creates observers once hooks have let it through, the first of them with `signature`.
  package func makingObservers(_ signature: MethodSignature?, _ make: @escaping () -> MessageRoute) -> MessageRoute {
    preceded(by: MessagePrelude(makeObservers: make, signature: signature))
  }

  /// The route of a message that has made observers, some of which failed; only for the registrations that it is meant for.
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

/// One step of a route: a registration and its target's method. A trivial type, so that following a route retains nothing: the
/// ``Route`` retains all three.
@usableFromInline
struct RouteStep {
  @usableFromInline let registration: Unmanaged<Registration>
  /// `nil` for a target that is asked each time.
  @usableFromInline let method: Unmanaged<Method>?
  /// The target of a strong, direct registration; `nil` for any other, whose weak reference is loaded.
  @usableFromInline let strong: Unmanaged<AnyObject>?

  /// Retains each; ``release()`` releases them.
  init(_ registration: Registration, method: Method?, strong: AnyObject?) {
    self.registration = .passRetained(registration)
    self.method = method.map { .passRetained($0) }
    self.strong = strong.map { .passRetained($0) }
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
