// Route.swift: who gets the messages of one selector, worked out once and kept.

import Synchronization

/// Who gets the messages of one selector, in order.
///
/// A route is made outside of the proxy's lock and published under it, on a ``RouteBoard``. From then on only steps of the same
/// traits are added behind its end, under the lock, while those who walk it have taken note of the end before; so walking needs
/// no lock.
///
/// It is the right one for a message that begins now as long as three things hold:
///
///     epoch        of all tables        is its board's      a method came or went, in any table     → another board
///     its board    is the proxy's                           something left the target list, or moved → no board
///     version      of the target list   is the route's      something joined at the end              → what joined is added
@usableFromInline
final class Route: @unchecked Sendable {  // what changes is atomic, or guarded by the proxy's lock
  let selector: MessageSelector
  /// The proxy's; it lets its routes go when it ends.
  @usableFromInline let core: MulticastCore
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  private let capacity: UInt32
  /// How far into the list's last priority the route reaches. The lock's.
  private(set) var covered: UInt32
  @usableFromInline let end = Atomic<Int>(0)
  private let knownVersion: Atomic<UInt>
  /// What the steps have in common.
  let traits: RouteTraits
  /// Whether messages take more than to call the methods of direct targets: there are hooks, other contexts, targets that are
  /// asked, among them multicasts, or targets that are registered more than once.
  let needsWalk: Bool
  /// The function type of all methods, where the messages take no more than a loop over them; `nil` where they have several types
  /// or the messages take more.
  @usableFromInline let loopType: ObjectIdentifier?
  /// The address of the plan, retained, or 0: written once, under the proxy's lock.
  private let planWord = Atomic<UInt>(0)
  /// The number of the step that was last found able to answer, for `responds(to:)`, and above it how often that has been
  /// forgotten.
  private let witness = Atomic<UInt64>(0)
  /// What precedes the one message that the route was made for.
  let prelude: MessagePrelude?
  /// What stands around the messages of the selector; `nil` when nothing does.
  let around: RouteSurroundings?

  /// - Parameters:
  ///   - list: the target list that the steps were made from; `nil` for a route that serves one message.
  ///   - room: how many more steps there is to be memory for.
  @inline(never)
  init(
    _ core: MulticastCore, _ selector: MessageSelector, list: TargetList?, steps: RouteSteps, room: Int = 0,
    prelude: MessagePrelude? = nil, around: RouteSurroundings? = nil
  ) {
    (self.core, self.selector, self.prelude, self.around) = (core, selector, prelude, around)
    knownVersion = Atomic(list?.version ?? 0)
    covered = UInt32(list?.end ?? 0)
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

  /// Which steps travel together; `nil` while that has not been worked out.
  var plan: DeliveryPlan? { keptPlan?.takeUnretainedValue() }

  /// The same, which the route keeps.
  var keptPlan: Unmanaged<DeliveryPlan>? {
    UnsafeRawPointer(bitPattern: planWord.load(ordering: .acquiring)).map { .fromOpaque($0) }
  }

  /// Keeps a plan for the messages that follow, if it is for all steps. Called under the proxy's lock.
  func keep(_ plan: DeliveryPlan) {
    guard self.plan == nil, plan.count == count else { return }
    planWord.store(UInt(bitPattern: Unmanaged.passRetained(plan).toOpaque()), ordering: .releasing)
  }

  /// The function types of the methods, where a loop is all that the message takes behind hooks that all come before it.
  var typesBehindHooks: RouteTraits.Types? {
    around?.isBefore ?? false && !traits.needsWalk && prelude == nil ? traits.types : nil
  }

  /// How many steps there are.
  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { end.load(ordering: .acquiring) }
  }

  /// The version of the target list that the route knows.
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

  /// Adds steps behind the end if there is room and they are like those that are there. Called under the proxy's lock.
  func extend(by steps: RouteSteps, to list: TargetList) -> Bool {
    // A plan is for all steps that there are.
    guard plan == nil, count + steps.list.count <= Int(capacity), traits.joined(by: steps.traits) == traits else {
      return false
    }
    append(steps)
    covered = UInt32(list.end)
    knownVersion.store(list.version, ordering: .releasing)
    return true
  }

  /// A longer copy with room to grow. Called under the proxy's lock.
  func grown(by more: RouteSteps, to list: TargetList) -> Route {
    var all = retainedSteps(upTo: count)
    all.list += more.list
    all.traits = traits.joined(by: more.traits)
    return Route(core, selector, list: list, steps: all, room: all.list.count, around: around)
  }

  /// A copy of the steps that one message has seen.
  func copy(upTo end: Int, _ prelude: MessagePrelude) -> Route {
    var seen = retainedSteps(upTo: end)
    seen.traits.leavesOut = true
    return Route(core, selector, list: nil, steps: seen, prelude: prelude, around: around)
  }

  /// Steps, each with one more reference.
  private func retainedSteps(upTo end: Int) -> RouteSteps {
    RouteSteps(list: (0..<end).map { steps[$0].retained() }, traits: traits)
  }

  /// Looks for a step whose target is alive and unmuted, from where the last one was found.
  ///
  /// Every step that is passed over is dead, removed or muted, and is passed over once until a target joins or is
  /// unmuted: so the cost does not grow with the number of targets.
  ///
  /// - Returns: the target, which is to be released outside of any lock, and how many steps were looked at before.
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
      // Unless a target has been unmuted since: it may be one that was passed over.
      _ = witness.compareExchange(
        expected: known, desired: known & ~Route.witnessNumber | UInt64(index), ordering: .acquiringAndReleasing)
    }
    return (found, index - first)
  }

  /// Has the next search begin with the first step. Called under the proxy's lock.
  func forgetWitness() {
    let known = witness.load(ordering: .relaxed) & ~Route.witnessNumber
    witness.store(known &+ Route.witnessNumber + 1, ordering: .releasing)
  }

  private static let witnessNumber: UInt64 = 1 << 32 - 1
}

/// What the steps of a route have in common.
struct RouteTraits: Equatable {
  var types = Types.none
  /// Whether some step has to be asked each time.
  var hasForwarders = false
  /// Whether some target is a multicast.
  var hasNested = false
  /// Whether some step is delivered on another context.
  var hasQueued = false
  /// Whether some registration is not among the steps.
  var leavesOut = false
  /// Whether one target may be in several steps, and is to get a message once.
  var hasRepeats = false
  /// Whether some method runs in an isolation of its own.
  var hasIsolated = false

  /// The function types of the methods.
  enum Types: Equatable {
    /// There are no steps.
    case none
    case one(ObjectIdentifier)
    case several

    /// The one of all methods.
    var only: ObjectIdentifier? { if case .one(let type) = self { type } else { nil } }

    func joined(by more: Types) -> Types {
      switch (self, more) {
      case (.none, _): more
      case (_, .none): self
      default: self == more ? self : .several
      }
    }
  }

  /// Whether a message takes more than to call one method after another.
  var needsWalk: Bool { hasQueued || hasForwarders || hasRepeats }

  func joined(by more: RouteTraits) -> RouteTraits {
    RouteTraits(
      types: types.joined(by: more.types), hasForwarders: hasForwarders || more.hasForwarders,
      hasNested: hasNested || more.hasNested,
      hasQueued: hasQueued || more.hasQueued, leavesOut: leavesOut || more.leavesOut,
      hasRepeats: hasRepeats || more.hasRepeats, hasIsolated: hasIsolated || more.hasIsolated)
  }
}

/// Steps of a route that is being made.
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

/// What a message finds before it reaches any target.
@usableFromInline
final class MessagePrelude: @unchecked Sendable {  // immutable; used in the turn of the one message or question
  /// Observers that were to be made for the message and could not be.
  let failures: [(target: AnyObject, error: any Error)]
  /// Why nobody gets the message.
  let refusal: (any Error)?
  /// Whether the message would make observers, whose first one has this signature.
  let makesObservers: Bool
  let signature: MethodSignature?

  init(
    failures: [(target: AnyObject, error: any Error)] = [], refusal: (any Error)? = nil, makesObservers: Bool = false,
    signature: MethodSignature? = nil
  ) {
    (self.failures, self.refusal) = (failures, refusal)
    (self.makesObservers, self.signature) = (makesObservers, signature)
  }
}

extension MessageRoute {
  /// The route of a message that would first make observers, the first of them with that signature.
  package func makingObservers(_ signature: MethodSignature?) -> MessageRoute {
    preceded(by: MessagePrelude(makesObservers: true, signature: signature))
  }

  /// The route of a message for which observers were to be made and could not be.
  package func failing(_ failures: [(target: AnyObject, error: any Error)]) -> MessageRoute {
    preceded(by: MessagePrelude(failures: failures))
  }

  /// The route with a prelude, for one message.
  func preceded(by prelude: MessagePrelude) -> MessageRoute {
    let copy = route.copy(upTo: count, prelude)
    return MessageRoute(copy, count: copy.count)
  }
}

/// One step of a route: a registration and the method that its target runs.
///
/// Trivial on purpose, so that walking a route retains nothing: the ``Route`` that holds it keeps all three alive.
@usableFromInline
struct RouteStep {
  @usableFromInline let registration: Unmanaged<Registration>
  /// `nil` for a target that is asked each time.
  @usableFromInline let method: Unmanaged<Method>?
  /// The target itself when the registration is strong; `nil` for a weak one, which is loaded.
  @usableFromInline let strong: Unmanaged<AnyObject>?

  /// Takes one reference on each; ``release()`` gives them back.
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

  /// Whether the registration lets messages through at this moment.
  @export(implementation) @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  /// The method's.
  @export(implementation) @inline(__always)
  var functionType: ObjectIdentifier? { method?._withUnsafeGuaranteedRef { $0.functionType } }

  /// The target, or `nil` when it has died.
  @export(implementation) @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.weakTarget }
  }

  /// Whether there is a method that its table did not refuse.
  var answers: Bool { method?._withUnsafeGuaranteedRef { !$0.isRefusal } ?? false }

  /// The registration's side of delivery on another context.
  var queued: QueuedState? { registration._withUnsafeGuaranteedRef { $0.queued } }

  /// Calls a method that has the types of `arguments` and `R`: that of a step whose ``functionType`` says so. `nil` when
  /// the target has died.
  ///
  /// - Precondition: there is a method.
  ///
  /// Nothing is retained but a weak target for the time of the call: the route keeps method and strong target alive.
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
