// Walk.swift: one message on its way along the steps of a route: whose turn it is, and the outcomes.

/// One message on its way to every target of a route, and to those of nested multicasts.
///
/// ``serve(to:awaits:)`` goes from step to step and runs targets and hooks, ``take(_:at:)`` takes the outcome of each. Nested
/// proxies are entered and left without recursion. Hooks are levels too: what they let through is served inside of their call, by
/// this same walk.
///
/// Used in the turn of its message only: no access overlaps another, so none has to be checked.
@usableFromInline
class Walk: OutcomeLog {
  /// What is to be waited for before the walk continues.
  indirect enum Suspension {
    case hooks(RouteNode)
    /// A proxy that a target led to, or a queued one whose turn is the sender's: room behind it was not waited for before.
    case node(RouteNode)
    case turn(OutgoingMessage.Attempt, RouteStep, AnyObject)
  }

  /// How the sender gets the outcomes of other contexts.
  enum Waiting {
    case nobody
    case suspended
    case blocked(Patience)
  }

  /// The message; inside of hooks as they have changed it.
  @exclusivity(unchecked) final var message: OutgoingMessage
  final let root: RouteNode
  /// Whether the message came to ``root`` on another context, as to a target.
  final let isQueued: Bool
  final let waiting: Waiting
  /// Whether targets that do not get the message are listed too.
  final let listsEveryTarget: Bool
  /// Takes answers without boxes; `nil` if nobody does.
  final let taker: TypedTaker?
  /// Whether answers that come synchronously are taken without their places.
  final let takesPlain: Bool
  /// Where the walk runs, if in a task on the context of a nested proxy.
  final let executor: MailboxExecutor?
  /// Where outcomes of other contexts go; `nil` when nobody waits for them. Hooks have their own.
  @exclusivity(unchecked) final var pending: PendingAnswers?
  /// Whether open outcomes are waited for by a sender on another context, and not here.
  final let isElsewhere: Bool
  /// Whether the walk is inside of a hook that does not suspend: then no target is queued that would have to be waited for.
  @exclusivity(unchecked) final var mayNotWait = false
  /// Where the outcomes inside of the innermost hooks begin in the log, which has what the sink has not got yet.
  @exclusivity(unchecked) final var logStart = 0
  /// How many running calls of hooks get answers: then the sink gets nothing.
  @exclusivity(unchecked) final var hooksThatAsk = 0
  /// Tells for each answer whether it is enough for the sender, while answers are kept back from the sink.
  @exclusivity(unchecked) final var probe: ((ArgumentBox) -> Bool)?
  /// Whether an outcome in the log is open.
  @exclusivity(unchecked) final var hasOpen = false
  /// The answers that the sink has got, if a new probe has to count them.
  @exclusivity(unchecked) final var given: [ArgumentBox] = []
  /// Whether the sender needs nothing more, as far as its sink, or the probe, knows: further targets are skipped.
  @exclusivity(unchecked) final var (isKnown, isEnough) = (false, false)
  @exclusivity(unchecked) final var reached = 0
  @exclusivity(unchecked) final var toldCount = 0
  /// How many messages full buffers of this proxy, and of those in the same turn, dropped for this one.
  @exclusivity(unchecked) final var dropped = 0
  /// The same with queued proxies that were waited for.
  final var allDropped: Int { dropped + (isElsewhere ? 0 : pending?.dropped ?? 0) }
  /// Whether the budget has ended the message.
  @exclusivity(unchecked) final var isSpent = false
  /// Whether hooks around the first proxy ended the message.
  @exclusivity(unchecked) final var failedInHooks = false
  /// How many outcomes the current loop has reported.
  @exclusivity(unchecked) final var toldInLoop = 0
  /// Keeps the answers of the running loop, if hooks get them first or an earlier outcome is open.
  @exclusivity(unchecked) final var keeper: TypedTaker?
  /// Whether some target ran inside of hooks, whatever these made of that.
  @exclusivity(unchecked) final var wasAsked = false
  /// Whether some target of the proxy with hooks that was left last has failed.
  @exclusivity(unchecked) final var hasFailedInside = false
  /// The wait of a method that the sender is in.
  @exclusivity(unchecked) final var wait: SuspendedWait?
  @exclusivity(unchecked) final var keepsRoom = false

  /// Whether the message passes a proxy with hooks around it.
  private(set) final lazy var hasHooks = root.all().contains { $0.hasTurn }
  /// The proxy whose targets the message is at, or the first one.
  @exclusivity(unchecked) final var node: RouteNode
  @exclusivity(unchecked) final var depth = 0
  /// The proxies that were not behind ``root`` when the message began, or were entered late.
  @exclusivity(unchecked) final var late: [RouteNode] = []
  /// The proxy with hooks that comes next.
  @exclusivity(unchecked) final var surrounded: RouteNode?
  @exclusivity(unchecked) final var suspension: Suspension?
  /// The target of an automatic delivery whose turn it is.
  @exclusivity(unchecked) private final var taken: QueuedState?
  /// The trace's number of the turn; 0 for none.
  @exclusivity(unchecked) final var tracedStep = 0

  @inline(never)
  init(
    _ message: consuming OutgoingMessage, to root: RouteNode, waiting: Waiting, isQueued: Bool,
    on executor: MailboxExecutor?, for pending: PendingAnswers?, listsEveryTarget: Bool, _ taker: TypedTaker?,
    takesPlain: Bool
  ) {
    self.message = message
    (self.root, node, self.waiting) = (root, root, waiting)
    (self.listsEveryTarget, self.taker, self.takesPlain) = (listsEveryTarget, taker, takesPlain)
    (self.isQueued, self.executor) = (isQueued, executor)
    if self.message.trace == nil { self.message.trace = root.route.route.around?.trace }
    isElsewhere = pending != nil
    if case .nobody = waiting { self.pending = pending } else { self.pending = PendingAnswers() }
  }

  // What the verb makes of outcomes: see ``OutcomeSink``.

  /// Takes one outcome. `false` when no further target is needed.
  func accept(_ outcome: StepOutcome, at context: StepContext) -> Bool { true }
  /// Takes an answer without its place, where ``takesPlain``.
  func accept(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {}
  /// Counts targets that ran and whose answers nobody wants.
  func countDelivered(_ count: Int) {}
  /// The counts so far; reset when a hook sends the message again.
  var counts: BroadcastSummary {
    get { BroadcastSummary() }
    set {}
  }

  final var selector: MessageSelector { message.selector }
  /// The route of the proxy that the message was sent to.
  final var route: MessageRoute { root.route }

  // MARK: Steps

  /// Runs targets and hooks until those of the proxies deeper than `base` are done, or ``suspension`` is to be waited for.
  ///
  /// - Parameter awaits: whether the caller can wait.
  /// - Throws: the error of hooks around the first proxy.
  // Apart from code that suspends, where each continuation would contain the loop again.
  @inline(never)
  final func serve(to base: Int, awaits: Bool = false) throws {
    while suspension == nil {
      if let node = surrounded {
        surrounded = nil
        if awaits, node.hasTurn { suspension = .hooks(node) } else { try HookedTurn(self, node).run() }
      } else if depth <= base {
        return
      } else if node.frame.index >= node.route.count || isSpent {
        if listsEveryTarget { takeLeftOut(before: node.frame.index) }
        leave(to: base)
      } else {
        serveNext(node, awaits: awaits)
      }
    }
  }

  /// Serves the next step of the proxy that the message is in, or the segment that begins there: a loop serves direct steps whose
  /// methods have one type, with the sender's typed arguments or with boxes opened once for all of them.
  private final func serveNext(_ node: RouteNode, awaits: Bool) {
    let index = node.frame.index
    if listsEveryTarget { takeLeftOut(before: index) }
    if !node.proxies.isOpen { node.frame.stop = stopNow }
    let mayStop = pending != nil && node.route.core.stopsAtFirst
    if mayStop, node.frame.stop == nil, pending?.hasFailed(in: node.proxies) ?? false { node.frame.stop = .stopped }
    if isEnough || node.frame.stop != nil { return stop(node) }
    let type = node.nextSegment()
    guard let type, index >= node.frame.loopsFrom, !mayStop, message.trace == nil, message.trail?.budget == nil else {
      return turn(node, index, awaits: awaits)
    }
    if let arguments = message.shared, arguments.functionType != nil {
      if arguments.functionType == type, let loop = arguments.loop { return loop(arguments, self) }
    } else {
      let invocation = message.invocation
      if !invocation.hasStatedSignature, let method = loopSteps.first.pointee.method?.takeUnretainedValue(),
        method.withOpened(invocation.arguments, serveOpened)
      {
        return
      }
    }
    // No loop can serve them.
    node.frame.loopsFrom = node.frame.segmentEnd
  }

  private final func turn(_ node: RouteNode, _ index: Int, awaits: Bool) {
    let step = node.route.steps[index]
    node.frame.index += 1
    if step.queued != nil, takePosted(step, index, node) { return }
    guard pay(step.isActive ? .target : .passed, at: { $0.context(step, nil) }) else { return }
    if let reason = step.obstacle {
      let isListed = !node.isListedElsewhere(step)
      if case .node(let child)? = node.nested(at: index), !child.isAway, isListed && listsEveryTarget || child.hasLeft {
        // What was posted behind it is on its way, and would be missing in the report.
        child.list(reason, at: context(step, step.target), in: self, to: self)
      } else if isListed {
        take(.skipped(reason), at: passedContext(step))
      }
      return
    }
    guard let target = step.target else {
      node.frame.dead += 1
      if node.list(step) { take(.skipped(.dead), at: context(step, nil)) }
      return
    }
    if node.route.route.hasRepeats, step.queued == nil, !node.served.enter(step) { return }
    switch node.nested(at: index) {
    case .node(let child)?:
      guard child.isAway else { return enter(child, target) }
      child.forgetPosted()
      enter(child, target, awaits: awaits)
    case .refused(let error)?: take(.failed(error), at: context(step, target))
    case nil:
      guard let queued = step.queued else { return perform(step, on: target, awaits: awaits) }
      if queued.beginTurn() {
        taken = queued
        return perform(step, on: target, awaits: awaits)
      }
      // Another thread runs it at the moment.
      if let (group, place) = node.location(of: index) {
        _ = take(post(group, place, node, mayRunNow: false), of: step, node)
      }
    }
  }

  /// Why no further target of the proxy gets the message at this moment.
  final var stopNow: DeliveryReport.SkipReason? {
    guard proxies.isNested, let obstacle = proxies.obstacle else { return node.frame.stop }
    return .first(node.frame.stop, obstacle)
  }

  /// Skips the steps whose turn does not come any more.
  private final func stop(_ node: RouteNode) {
    let stop = node.frame.stop ?? .stopped
    if listsEveryTarget || stop == .removed || stop == .muted || node.hasLeft {
      node.list(stop, at: nil, in: self, to: self)
    }
    (node.frame.index, node.frame.nextLeftOut) = (node.route.count, node.leftOut.count)
  }

  /// Takes the outcome of a queued step, which is posted now unless all were posted before. `false` when it runs in the sender's
  /// turn.
  final func takePosted(_ step: RouteStep, _ index: Int, _ node: RouteNode) -> Bool {
    let posted = node.posted.map { $0[index] } ?? node.location(of: index).map { post($0.group, $0.place, node) }
    return take(posted ?? .outcome(.queued(slot: -1)), of: step, node)
  }

  private final func take(_ posted: RouteNode.Posted, of step: RouteStep, _ node: RouteNode) -> Bool {
    switch posted {
    case .inTurn: return false
    case .repeated: break
    case .away(let outcomes):
      for found in outcomes {
        note(found.outcome)
        put(found.outcome, found.context)
      }
    case .outcome(var outcome):
      // An open outcome is listed by its slot and retains no target; a target that has died meanwhile will not run.
      let target = listsEveryTarget && !outcome.isOpen ? step.target : nil
      if listsEveryTarget, target == nil, case .queued(slot: -1) = outcome { outcome = .skipped(.dead) }
      take(outcome, at: StepContext(step, of: selector, in: node.proxies, target, isQueued: true))
    }
    return true
  }

  /// Charges the message's budget for a proxy, with the steps and registrations that are looked through, however few targets are
  /// served. `false` when that has ended the message.
  final func payForProxy() -> Bool {
    let (route, leavesOut) = (node.route, listsEveryTarget && node.route.route.leavesOut)
    let leftOut = leavesOut ? max(0, route.core.registrationCount - route.count) : 0
    return pay(.step, leavesOut || route.route.needsWalk ? route.count : 0, at: { $0.proxyContext })
      && pay(.passed, leftOut, at: { $0.proxyContext }) && pay(.proxy, at: { $0.proxyContext })
  }

  /// Lists the registrations without a step that are before the step at `index`.
  final func takeLeftOut(before index: Int) {
    let node = node
    while node.frame.nextLeftOut < node.leftOut.count, node.leftOut[node.frame.nextLeftOut].before <= index {
      node.frame.nextLeftOut += 1
      node.list(node.leftOut[node.frame.nextLeftOut - 1], stopNow, to: self)
    }
  }

  final override func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool) {
    if isStep { return take(outcome, at: context) }
    node.frame.isListed = true
    put(outcome, context)
  }

  // MARK: Places

  /// The context of a target whose turn is the sender's.
  final func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    StepContext(step, of: selector, in: proxies, target, isQueued: isQueued)
  }

  /// The context of a skipped target.
  final func passedContext(_ step: RouteStep) -> StepContext {
    context(step, listsEveryTarget ? step.target : nil)
  }

  /// The place of a proxy in the one around it; `nil` for the proxy that the message was sent to.
  final func place(of node: RouteNode) -> StepContext? {
    node.proxies.outer.map { outer in
      StepContext(
        selector: selector, proxies: outer, registration: node.proxies.registration, target: node.target,
        isQueued: isQueued)
    }
  }

  /// The context of the proxy itself: its place in the proxy around it, if any.
  final var proxyContext: StepContext { place(of: node) ?? StepContext(selector: selector, proxies: proxies) }

  // MARK: Turns

  private final func perform(_ step: RouteStep, on target: AnyObject, awaits: Bool) {
    if let trace = message.trace, !(target is any MulticastSending) {
      tracedStep = MessageTrace.nextStep()
      trace.note(.began, selector, message.arguments, at: context(step, target), step: tracedStep)
    }
    // Only targets that see the message itself can send it on: the trail is laid for the first of those.
    let earlier = message.trail
    func trail() -> ProxyTrail {
      let trail = node.frame.trail ?? proxies.trail(after: earlier)
      node.frame.trail = trail
      return trail
    }
    // The route keeps the method.
    let attempt = message.perform(step.method?.takeUnretainedValue(), on: target, trail: trail())
    if case .multicast(let multicast) = attempt {
      endTurn()
      if let child = node(multicast, target, step) { enter(child, target, awaits: awaits) }
      return
    }
    if case .over = attempt {} else if awaits, mayAwaitTurns { return suspension = .turn(attempt, step, target) }
    if let outcome = attempt.ended(&message) { take(crossed(outcome, step, target), at: context(step, target)) }
    endTurn()
  }

  /// Gives back a target that an automatic delivery has taken: when its turn ends or suspends.
  @inline(never) func endTurn() {
    guard let taken else { return }
    self.taken = nil
    taken.endTurn()
  }

  final var proxies: ProxyChain { node.proxies }
}
