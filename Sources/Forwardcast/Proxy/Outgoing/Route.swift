// Route.swift: who gets the messages of one selector, worked out once and kept.
// Layer: Proxy. See DESIGN.md, "Routes".

/// Who gets the messages of one selector, in order.
///
/// A route is made outside of the proxy's lock and published under it. From then on steps are only ever added behind
/// its end, under the lock, while those who walk it have taken note of the end before; so walking needs no lock.
@usableFromInline
final class Route: @unchecked Sendable {  // what changes is guarded by the proxy's lock
  let selector: MessageSelector
  /// The proxy's; it lets its routes go when it ends.
  @usableFromInline let core: MulticastCore
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  private let capacity: Int
  /// The table changes that the route knows of.
  let epoch: UInt
  /// The generation of the target list that the route was made from.
  let generation: UInt
  private(set) var count = 0
  /// How far into the list's last priority the route reaches.
  private(set) var covered: Int
  /// The version of the target list that the route knows.
  private(set) var version: UInt
  /// Whether some step has to be asked each time.
  private(set) var hasForwarders = false
  /// Whether some target is a multicast.
  private(set) var hasNested = false
  /// Whether some step is delivered on another context.
  private(set) var hasQueued = false
  /// Whether some registration is not among the steps.
  private(set) var leavesOut: Bool
  /// Whether one target may be in several steps, and is to get a message once.
  private(set) var hasRepeats = false
  /// Which steps travel together, as worked out last.
  var plan: DeliveryPlan?
  /// The step that was last found able to answer, for `responds(to:)`; `count` when none is until something changes.
  var witness = 0
  /// What precedes the one message that the route was made for.
  let prelude: MessagePrelude?
  /// What stands around the messages of the selector; `nil` when nothing does.
  let around: RouteSurroundings?
  /// How messages go along the route.
  private(set) var way: RouteWay

  init(
    _ core: MulticastCore, _ selector: MessageSelector, epoch: UInt, list: TargetList, steps: RouteSteps, room: Int = 0,
    prelude: MessagePrelude? = nil, around: RouteSurroundings? = nil
  ) {
    (self.core, self.selector, self.epoch, self.prelude) = (core, selector, epoch, prelude)
    self.around = around
    way = around != nil ? .surrounded : prelude != nil ? .scheduled : .direct
    generation = list.generation
    version = list.version
    covered = list.end
    leavesOut = steps.leavesOut
    capacity = max(steps.list.count + room, 1)
    self.steps = .allocate(capacity: capacity)
    append(steps)
  }

  /// A copy of the steps that one message has seen.
  init(copyOf route: Route, upTo end: Int, prelude: MessagePrelude) {
    (core, selector, epoch, self.prelude) = (route.core, route.selector, 0, prelude)
    around = route.around
    way = around == nil ? .scheduled : .surrounded
    (generation, version, covered) = (0, 0, 0)
    leavesOut = true
    capacity = max(end, 1)
    steps = .allocate(capacity: capacity)
    let list = (0..<end).map { route.steps[$0].retained() }
    append(RouteSteps(list: list, hasNested: route.hasNested, leavesOut: true, hasRepeats: route.hasRepeats))
  }

  deinit {
    for index in 0..<count { steps[index].release() }
    steps.deallocate()
  }

  private func append(_ more: RouteSteps) {
    for step in more.list {
      (steps + count).initialize(to: step)
      count += 1
      if step.method == nil { hasForwarders = true }
      if step.queued != nil { hasQueued = true }
    }
    if more.hasNested { hasNested = true }
    if more.leavesOut { leavesOut = true }
    if more.hasRepeats { hasRepeats = true }
    if case .direct = way { way = wayInside }
  }

  /// How messages go along the route once what stands around them is done.
  var wayInside: RouteWay {
    hasQueued || hasForwarders || hasRepeats || prelude != nil || around?.trace != nil ? .scheduled : .direct
  }

  /// Adds steps behind the end if there is room. Called under the proxy's lock.
  func extend(by steps: RouteSteps, to list: TargetList) -> Bool {
    guard count + steps.list.count <= capacity else { return false }
    append(steps)
    covered = list.end
    version = list.version
    return true
  }

  /// A longer copy with room to grow. Called under the proxy's lock.
  func grown(by more: RouteSteps, to list: TargetList) -> Route {
    var all = retainedSteps
    all.list += more.list
    all.hasNested = all.hasNested || more.hasNested
    all.leavesOut = all.leavesOut || more.leavesOut
    all.hasRepeats = all.hasRepeats || more.hasRepeats
    return Route(core, selector, epoch: epoch, list: list, steps: all, room: all.list.count, around: around)
  }

  /// The steps, each with one more reference.
  private var retainedSteps: RouteSteps {
    RouteSteps(
      list: (0..<count).map { steps[$0].retained() }, hasNested: hasNested, leavesOut: leavesOut, hasRepeats: hasRepeats
    )
  }

  /// Looks for a step whose target is alive and unmuted, from where the last one was found. Called under the proxy's
  /// lock; the target that was loaded is to be released after it.
  ///
  /// Every step that is passed over is dead, removed or muted, and is passed over once until a target joins or is
  /// unmuted: so the cost does not grow with the number of targets.
  func findWitness() -> LoadedTarget {
    while witness < count {
      let step = steps[witness]
      if step.answers, step.isActive, let target = step.target { return LoadedTarget(object: target) }
      witness += 1
    }
    return LoadedTarget(object: nil)
  }

  /// Whether nothing has changed that the route does not know of. Called under the proxy's lock.
  func isCurrent(_ list: TargetList, _ epoch: UInt) -> Bool {
    self.epoch == epoch && version == list.version
  }
}

/// How messages go along a route.
@usableFromInline
enum RouteWay: UInt8 {
  /// By a loop over direct targets with methods.
  case direct
  /// By a schedule: there are other contexts, targets that are asked, among them multicasts, or targets that are
  /// registered more than once.
  case scheduled
  /// Through hooks, and then one of the other ways.
  case surrounded
}

/// What stands around the messages of one selector in one proxy. Immutable: a change makes new routes.
final class RouteSurroundings: Sendable {
  private let hooks: HookChain
  let trace: MessageTrace?

  /// `nil` when there is nothing.
  init?(_ selector: MessageSelector, hooks: [Hook], trace: MessageTrace?) {
    self.hooks = HookChain(hooks: hooks.filter { $0.isFor(selector) })
    self.trace = trace
    if self.hooks.hooks.isEmpty, trace == nil { return nil }
  }

  /// Runs the hooks around `rest`, and tells the trace that the message came and what came of it.
  func run(_ message: HookedMessage, _ rest: @escaping Hook.Rest) throws -> MessageAnswers {
    guard let trace else { return try hooks.run(message, rest) }
    let step = MessageTrace.nextStep()
    trace.note(.sent, message, step: step)
    do {
      let answers = try hooks.run(message, rest)
      trace.note(.answered, message, step: step, answers.boxes.last?.description ?? "")
      return answers
    } catch {
      trace.note(.failed, message, step: step, "\(error)")
      throw error
    }
  }

  /// Runs the hooks around `rest`, which may suspend.
  nonisolated(nonsending) func runAndWait(_ message: HookedMessage, _ rest: @escaping Hook.WaitingRest) async throws
    -> MessageAnswers
  {
    guard let trace else { return try await hooks.runAndWait(message, rest) }
    let step = MessageTrace.nextStep()
    trace.note(.sent, message, step: step)
    do {
      let answers = try await hooks.runAndWait(message, rest)
      trace.note(.answered, message, step: step, answers.boxes.last?.description ?? "")
      return answers
    } catch {
      trace.note(.failed, message, step: step, "\(error)")
      throw error
    }
  }
}

/// Steps of a route that is being made.
struct RouteSteps {
  var list: [RouteStep] = []
  /// Whether a target among them is a multicast.
  var hasNested = false
  /// Whether a registration was not made a step.
  var leavesOut = false
  /// Whether one target may be in several steps, and is to get a message once.
  var hasRepeats = false
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
    MessageRoute(Route(copyOf: route, upTo: count, prelude: prelude))
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
  @inlinable @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  /// The method's.
  @inlinable @inline(__always)
  var functionType: ObjectIdentifier? { method?._withUnsafeGuaranteedRef { $0.functionType } }

  /// The target, or `nil` when it has died.
  @inlinable @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.weakTarget }
  }

  /// Whether there is a method that its table did not refuse.
  var answers: Bool { method?._withUnsafeGuaranteedRef { !$0.isRefusal } ?? false }

  /// The registration's side of delivery on another context.
  var queued: QueuedState? { registration._withUnsafeGuaranteedRef { $0.queued } }

  /// Why a registration that was found not to be active is passed over.
  var reasonToSkip: DeliveryReport.SkipReason { registration.takeUnretainedValue().isCancelled ? .removed : .muted }

  /// Calls a method that has the types of `arguments` and `R`: that of a step whose ``functionType`` says so. `nil` when
  /// the target has died.
  ///
  /// Nothing is retained but a weak target for the time of the call: the route keeps method and strong target alive.
  @inlinable @inline(__always)
  func call<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) throws -> R? {
    guard let method else { return nil }
    let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.toOpaque())
    if let strong {
      return try strong._withUnsafeGuaranteedRef { target in
        try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
      }
    }
    guard let target = registration._withUnsafeGuaranteedRef({ $0.weakTarget }) else { return nil }
    return try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
  }
}
