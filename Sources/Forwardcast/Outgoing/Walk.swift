// Walk.swift: one message on its way along the steps of a route: whose turn it is, and what came of it.

/// One message on its way to every target of a route, and to those of multicasts among them.
///
/// ``serve(to:awaits:)`` goes from step to step and runs targets and hooks, ``take(_:at:)`` takes what came of each. Proxies in one
/// another are frames of a stack of its own: depth costs no thread stack. Hooks are frames too: what they let through is served
/// inside of their call, by this same walk.
///
/// Used in the turn of its message only: no access to it overlaps with another, so none has to be checked.
@usableFromInline
final class Walk {
  /// What is to be waited for before the walk goes on.
  enum Suspension {
    case hooks(RouteNode, StepContext?)
    /// A proxy that a target led to, or that might have gone elsewhere: room behind it was not waited for before.
    case node(RouteNode, StepContext)
    case turn(OutgoingMessage.Attempt, RouteStep, AnyObject)
  }

  /// How the sender gets the outcomes of other contexts.
  enum Waiting {
    /// Not at all.
    case nobody
    /// Its task suspends until all are there.
    case suspended
    /// It blocks until then.
    case blocked(Patience)
  }

  /// The message; inside of hooks as they have changed it.
  @exclusivity(unchecked) var message: OutgoingMessage
  let root: RouteNode
  /// The place of ``root`` in the proxy around it, where the message came to it on a context of its own.
  let place: StepContext?
  let waiting: Waiting
  let sink: WalkSink
  /// Where the walk runs, if that is the context of a proxy among the targets of another.
  let executor: MailboxExecutor?
  /// Where outcomes of other contexts go; `nil` when nobody waits for them. Hooks have one of their own.
  @exclusivity(unchecked) var pending: PendingAnswers?
  /// Whether open outcomes are waited for by a sender on another context, and not here.
  let isElsewhere: Bool
  /// Whether the walk is inside of a hook that does not suspend: then no target is queued that would have to be waited for.
  @exclusivity(unchecked) var mayNotWait = false
  /// Outcomes that were not given to the sink yet, in the order of delivery.
  @exclusivity(unchecked) var log: [Outcome] = []
  /// How many calls of hooks that get answers are under way: then nothing is given to the sink.
  @exclusivity(unchecked) var hooksThatAsk = 0
  /// Says of each answer whether it is enough for the sender, where answers are kept back from the sink.
  @exclusivity(unchecked) var probe: ((ArgumentBox) -> Bool)?
  /// Whether an outcome in the log is open.
  @exclusivity(unchecked) var hasOpen = false
  /// The answers that the sink has got, where a new probe has to count them.
  @exclusivity(unchecked) var given: [ArgumentBox] = []
  /// Whether the sender needs nothing more, as far as its sink, or the probe, knows: further targets are passed by.
  @exclusivity(unchecked) var (isKnown, isEnough) = (false, false)
  /// How many targets got the message.
  @exclusivity(unchecked) var reached = 0
  /// How many outcomes there were.
  @exclusivity(unchecked) var toldCount = 0
  /// How many messages full buffers of this proxy, and of those in the same turn, gave up for this one.
  @exclusivity(unchecked) var dropped = 0
  /// The same with those of proxies on contexts of their own that were waited for.
  var allDropped: Int { dropped + (isElsewhere ? 0 : pending?.dropped ?? 0) }
  /// Whether the budget has ended the message.
  @exclusivity(unchecked) var isSpent = false
  /// Whether the message was ended by hooks around the proxy that it was sent to.
  @exclusivity(unchecked) var failedInHooks = false
  /// Keeps the answers of the loop under way, where hooks get them first or an earlier outcome is open.
  @exclusivity(unchecked) var keeper: TypedTaker?
  /// Whether some target ran inside of hooks, whatever these made of that.
  @exclusivity(unchecked) var wasAsked = false
  /// Whether some target of the proxy with hooks that was left last has failed.
  @exclusivity(unchecked) var hasFailedInside = false
  /// The wait of a method that the sender is in.
  @exclusivity(unchecked) var wait: SuspendedWait?
  /// Whether the sender has kept places in buffers.
  @exclusivity(unchecked) var keepsRoom = false

  /// Whether a proxy with hooks is among those that the message passes.
  private(set) lazy var hasHooks = root.all().contains { $0.hasTurn }
  @exclusivity(unchecked) var frames: [Frame] = []
  /// The proxy with hooks that comes next.
  @exclusivity(unchecked) var surrounded: (node: RouteNode, place: StepContext?)?
  /// The target of an automatic delivery whose turn it is.
  @exclusivity(unchecked) private var taken: QueuedState?
  /// The number of the turn that a trace was told of; 0 when it was told of none.
  @exclusivity(unchecked) var tracedStep = 0

  /// The way along the route of one proxy. It has no computed properties: to ask for one would copy it.
  struct Frame {
    let node: RouteNode
    /// Whether the proxy, or one around it, keeps to the order of delivery.
    let isInOrder: Bool
    /// Whose turn a nested proxy is; `nil` for the proxy that the message was sent to.
    let place: StepContext?
    /// How many registrations that are no steps have been told of.
    var nextLeftOut = 0
    var index = 0
    var segment = 0
    /// The first step that may be served by a loop.
    var loopsFrom = 0
    /// Whether somebody got the message.
    var reached = false
    /// Whether some target failed.
    var failed = false
    /// Whether an outcome was noted, be it that nobody got the message.
    var isListed = false
    /// Why nobody further gets it.
    var stop: DeliveryReport.SkipReason?
    var dead = 0
    var skipped = 0
    var trail: ProxyTrail?
  }

  /// A walk for a sender that sends a message to a proxy.
  convenience init(
    _ message: OutgoingMessage, along route: MessageRoute, into sink: WalkSink, waiting: Waiting = .nobody
  ) {
    let root = RouteNode.tree(
      route, ProxyChain(route.core), message.trail, listsEveryTarget: sink.listsEveryTarget)
    self.init(message, to: root, into: sink, waiting: waiting)
  }

  /// - Parameters:
  ///   - place: the place of the proxy in the one around it, when the message came as to one of its targets.
  ///   - executor: where the walk runs in a task of its own.
  ///   - pending: who waits elsewhere for what the walk does not wait for.
  @inline(never)
  init(
    _ message: OutgoingMessage, to root: RouteNode, into sink: WalkSink, waiting: Waiting, at place: StepContext? = nil,
    on executor: MailboxExecutor? = nil, for pending: PendingAnswers? = nil
  ) {
    (self.message, self.root, self.sink, self.waiting) = (message, root, sink, waiting)
    (self.place, self.executor) = (place, executor)
    if message.trace == nil { self.message.trace = root.route.route.around?.trace }
    isElsewhere = pending != nil
    if case .nobody = waiting { self.pending = pending } else { self.pending = PendingAnswers() }
  }

  var selector: MessageSelector { message.selector }
  /// The route of the proxy that the message was sent to.
  var route: MessageRoute { root.route }
  /// How many proxies the message is in.
  var depth: Int { frames.count }

  var frame: Frame {
    _read { yield frames[frames.count - 1] }
    _modify { yield &frames[frames.count - 1] }
  }

  /// The segment of the next step.
  var segment: StepSegment {
    let node = frame.node
    guard let segments = node.plan?.segments else {
      return StepSegment(end: node.route.count, type: node.route.route.loopType)
    }
    if segments[frame.segment].end <= frame.index { frame.segment += 1 }
    return segments[frame.segment]
  }

  // MARK: Steps

  /// Runs targets and hooks until the frames above `base` are done, or something is to be waited for, which is given then.
  ///
  /// - Parameter awaits: whether the caller can wait.
  /// - Throws: the error of hooks around the proxy that the message was sent to.
  // Apart from what suspends: each continuation there would have the loop once more.
  @inline(never) @discardableResult
  func serve(to base: Int, awaits: Bool = false) throws -> Suspension? {
    while true {
      if let (node, place) = surrounded {
        surrounded = nil
        if awaits, node.hasTurn { return .hooks(node, place) }
        try HookedTurn(self, node, at: place).run()
      } else if frames.count <= base {
        return nil
      } else if frame.index >= frame.node.route.count || isSpent {
        takeLeftOut(before: frame.index)
        leave(to: base)
      } else if let suspension = serveNext(awaits: awaits) {
        return suspension
      }
    }
  }

  /// Serves the next step of the frame, or the segment that begins there.
  private func serveNext(awaits: Bool) -> Suspension? {
    takeLeftOut(before: frame.index)
    let (node, index) = (frame.node, frame.index)
    if node.proxies.outer != nil { frame.stop = stopNow }
    let mayStop = pending != nil && node.route.core.stopsAtFirst
    if mayStop, frame.stop == nil, pending?.hasFailed(in: node.proxies) ?? false { frame.stop = .stopped }
    if isEnough || frame.stop != nil {
      stop(index)
      return nil
    }
    let segment = segment
    if let type = segment.type, index >= frame.loopsFrom, !mayStop, message.trace == nil, message.trail?.budget == nil {
      loop(type)
      return nil
    }
    return turn(index, awaits: awaits)
  }

  /// Takes one step.
  private func turn(_ index: Int, awaits: Bool) -> Suspension? {
    let node = frame.node
    let step = node.route.steps[index]
    frame.index += 1
    if step.queued != nil, takePosted(step, index) { return nil }
    guard pay(step.isActive ? .target : .passed, at: { $0.context(step, nil) }) else { return nil }
    if let reason = step.obstacle {
      let isListed = !node.isListedElsewhere(step)
      if case .node(let child)? = node.nested[index], !child.isAway, isListed && sink.listsEveryTarget || child.hasLeft
      {
        // What was posted behind it is on its way, and would be missing in the report.
        push(child, context(step, step.target), stop: reason)
      } else if isListed {
        take(.skipped(reason), at: passedContext(step))
      }
      return nil
    }
    guard let target = step.target else {
      frame.dead += 1
      if node.list(step) { take(.skipped(.dead), at: context(step, nil)) }
      return nil
    }
    if node.route.route.hasRepeats, step.queued == nil, !node.served.enter(step) { return nil }
    switch node.nested[index] {
    case .node(let child)?:
      if child.isAway {
        child.forgetPosted()
        return enter(child, context(step, target), awaits: awaits)
      }
      enter(child, context(step, target))
    case .refused(let error)?: take(.failed(error), at: context(step, target))
    case nil:
      guard let queued = step.queued else { return perform(step, on: target, awaits: awaits) }
      if queued.beginTurn() {
        taken = queued
        return perform(step, on: target, awaits: awaits)
      }
      // Another thread runs it at the moment.
      if let (group, place) = node.location(of: index) {
        _ = take(post(group, place, node, mayRunNow: false), of: step)
      }
    }
    return nil
  }

  /// Why nobody further in the frame gets the message at this moment.
  var stopNow: DeliveryReport.SkipReason? {
    guard frame.node.proxies.outer != nil, let obstacle = frame.node.proxies.obstacle else { return frame.stop }
    return .first(frame.stop, obstacle)
  }

  /// Passes by a step whose turn does not come any more.
  private func stop(_ index: Int) {
    let node = frame.node
    let lists = sink.listsEveryTarget || frame.stop == .removed || frame.stop == .muted
    guard lists || node.hasLeft else { return frame.index = node.route.count }
    let step = node.route.steps[index]
    frame.index += 1
    // What was posted left before anybody was served.
    if step.queued != nil, node.posted != nil, takePosted(step, index) { return }
    let isListed = step.obstacle == .removed ? !node.isListedElsewhere(step) : node.list(step)
    if case .node(let child)? = node.nested[index], isListed && lists || child.hasLeft {
      push(child, context(step, step.target), stop: .first(step.obstacle, frame.stop ?? .stopped))
    } else if isListed, lists {
      take(.skipped(reasonToStop(step)), at: passedContext(step))
    }
  }

  private func reasonToStop(_ step: RouteStep) -> DeliveryReport.SkipReason {
    let reason = DeliveryReport.SkipReason.first(step.obstacle, frame.stop ?? .stopped)
    guard let target = step.target else { return .first(.dead, reason) }
    // Whoever is out of reach is not asked.
    guard reason == .withheld || reason == .stopped, step.method == nil else { return reason }
    return Forwardcast.answers(target, selector) ? reason : .doesNotRespond
  }

  /// Takes the outcome of a step on another context, which is posted now unless all were posted before. `false` when it runs in
  /// the sender's turn.
  private func takePosted(_ step: RouteStep, _ index: Int) -> Bool {
    let node = frame.node
    let posted: RouteNode.Posted?
    if let all = node.posted {
      posted = all[index]
    } else {
      posted = node.location(of: index).map { post($0.group, $0.place, node) }
    }
    return take(posted ?? .outcome(.queued(slot: -1)), of: step)
  }

  private func take(_ posted: RouteNode.Posted, of step: RouteStep) -> Bool {
    switch posted {
    case .inTurn: return false
    case .repeated: break
    case .away(let outcomes):
      for found in outcomes {
        note(found.outcome)
        put(found)
      }
    case .outcome(var outcome):
      // What is open is listed by its slot, and keeps no target alive; who has died meanwhile will not run.
      let target = sink.listsEveryTarget && !outcome.isOpen ? step.target : nil
      if sink.listsEveryTarget, target == nil, case .queued(slot: -1) = outcome { outcome = .skipped(.dead) }
      take(outcome, at: StepContext(step, of: selector, in: frame.node.proxies, target, isQueued: true))
    }
    return true
  }

  /// Charges for the steps and registrations that are looked through, however few targets are served.
  func lookThrough() {
    let route = frame.node.route
    if message.trail?.budget != nil {
      let leavesOut = sink.listsEveryTarget && route.route.leavesOut
      let leftOut = leavesOut ? max(0, route.core.registrationCount - route.count) : 0
      guard pay(.step, leavesOut || route.route.needsWalk ? route.count : 0, at: { $0.proxyContext }),
        pay(.passed, leftOut, at: { $0.proxyContext })
      else { return }
    }
  }

  /// Takes the registrations that the message passes by and that stand before the step at `index`.
  func takeLeftOut(before index: Int) {
    let all = frame.node.leftOut
    while frame.nextLeftOut < all.count, all[frame.nextLeftOut].before <= index {
      let outcomes = frame.node.outcomes(of: all[frame.nextLeftOut], stopNow)
      frame.nextLeftOut += 1
      for found in outcomes {
        frame.isListed = true
        put(found)
      }
    }
  }

  // MARK: Places

  /// The context of a target whose turn is the sender's.
  func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    StepContext(step, of: selector, in: frame.node.proxies, target, isQueued: place != nil)
  }

  /// The context of a target that is passed by.
  func passedContext(_ step: RouteStep) -> StepContext {
    context(step, sink.listsEveryTarget ? step.target : nil)
  }

  /// The context of the proxy itself: of its place in the proxy around it, where there is one.
  var proxyContext: StepContext {
    frame.place ?? StepContext(selector: selector, proxies: frame.node.proxies)
  }

  // MARK: Turns

  /// Gives the message to the target of a step.
  private func perform(_ step: RouteStep, on target: AnyObject, awaits: Bool) -> Suspension? {
    if let trace = message.trace, !(target is any MulticastSending) {
      tracedStep = MessageTrace.nextStep()
      trace.note(.began, message.invocation, at: context(step, target), step: tracedStep)
    }
    // Only who sees the message itself can send it on: a trail is laid for the first of those.
    let earlier = message.trail
    func trail() -> ProxyTrail {
      let trail = frame.trail ?? frame.node.proxies.trail(after: earlier)
      frame.trail = trail
      return trail
    }
    // The route keeps the method.
    let attempt = message.perform(step.method?.takeUnretainedValue(), on: target, trail: trail())
    if case .multicast(let multicast) = attempt {
      endTurn()
      return node(multicast, target, step).flatMap { enter($0, context(step, target), awaits: awaits) }
    }
    if awaits, mayAwaitTurns, !attempt.isOver { return .turn(attempt, step, target) }
    if let outcome = attempt.ended(&message) { take(crossed(outcome, step, target), at: context(step, target)) }
    endTurn()
    return nil
  }

  /// Gives a target back that an automatic delivery has taken: when its turn ends, suspends or becomes that of others.
  @inline(never) func endTurn() {
    guard let taken else { return }
    self.taken = nil
    taken.endTurn()
  }

  var proxies: ProxyChain { frame.node.proxies }
}
