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
  private let isElsewhere: Bool
  /// Whether the walk is inside of a hook that does not suspend: then no target is queued that would have to be waited for.
  @exclusivity(unchecked) var mayNotWait = false
  /// Outcomes that were not given to the sink yet, in the order of delivery.
  @exclusivity(unchecked) var log: [Outcome] = []
  /// How many calls of hooks that get answers are under way: then nothing is given to the sink.
  @exclusivity(unchecked) var hooksThatAsk = 0
  /// Says of each answer whether it is enough for the sender, where answers are kept back from the sink.
  @exclusivity(unchecked) var probe: ((ArgumentBox) -> Bool)?
  /// Whether an outcome in the log is open.
  @exclusivity(unchecked) private var hasOpen = false
  /// The answers that the sink has got, where a new probe has to count them.
  @exclusivity(unchecked) private var given: [ArgumentBox] = []
  /// Whether the sender needs nothing more, as far as its sink, or the probe, knows: further targets are passed by.
  @exclusivity(unchecked) var (isKnown, isEnough) = (false, false)
  /// How many targets got the message.
  @exclusivity(unchecked) var reached = 0
  /// How many outcomes there were.
  @exclusivity(unchecked) private(set) var toldCount = 0
  /// How many messages full buffers of this proxy, and of those in the same turn, gave up for this one.
  @exclusivity(unchecked) var dropped = 0
  /// The same with those of proxies on contexts of their own that were waited for.
  var allDropped: Int { dropped + (isElsewhere ? 0 : pending?.dropped ?? 0) }
  /// Whether the budget has ended the message.
  @exclusivity(unchecked) private(set) var isSpent = false
  /// Whether the message was ended by hooks around the proxy that it was sent to.
  @exclusivity(unchecked) var failedInHooks = false
  /// Keeps the answers of the loop under way, where hooks get them first or an earlier outcome is open.
  @exclusivity(unchecked) private var keeper: TypedTaker?
  /// Whether some target ran inside of hooks, whatever these made of that.
  @exclusivity(unchecked) var wasAsked = false
  /// Whether some target of the proxy with hooks that was left last has failed.
  @exclusivity(unchecked) private(set) var hasFailedInside = false
  /// The wait of a method that the sender is in.
  @exclusivity(unchecked) var wait: SuspendedWait?
  /// Whether the sender has kept places in buffers.
  @exclusivity(unchecked) var keepsRoom = false

  @exclusivity(unchecked) private var frames: [Frame] = []
  /// The proxy with hooks that comes next.
  @exclusivity(unchecked) private var surrounded: (node: RouteNode, place: StepContext?)?
  /// The target of an automatic delivery whose turn it is.
  @exclusivity(unchecked) private var taken: QueuedState?
  /// The number of the turn that a trace was told of; 0 when it was told of none.
  @exclusivity(unchecked) private var tracedStep = 0

  /// The way along the route of one proxy.
  private struct Frame {
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

    var route: MessageRoute { node.route }
    var proxies: ProxyChain { node.proxies }
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

  private var frame: Frame {
    _read { yield frames[frames.count - 1] }
    _modify { yield &frames[frames.count - 1] }
  }

  /// The segment of the next step.
  private var segment: StepSegment {
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
      } else if frame.index >= frame.route.count || isSpent {
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
  private var stopNow: DeliveryReport.SkipReason? {
    guard frame.proxies.outer != nil, let obstacle = frame.proxies.obstacle else { return frame.stop }
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
      take(outcome, at: StepContext(step, of: selector, in: frame.proxies, target, isQueued: true))
    }
    return true
  }

  /// Charges for the steps and registrations that are looked through, however few targets are served.
  private func lookThrough() {
    let route = frame.route
    if message.trail?.budget != nil {
      let leavesOut = sink.listsEveryTarget && route.route.leavesOut
      let leftOut = leavesOut ? max(0, route.core.registrationCount - route.count) : 0
      guard pay(.step, leavesOut || route.route.needsWalk ? route.count : 0, at: { $0.proxyContext }),
        pay(.passed, leftOut, at: { $0.proxyContext })
      else { return }
    }
  }

  /// Takes the registrations that the message passes by and that stand before the step at `index`.
  private func takeLeftOut(before index: Int) {
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

  // MARK: Outcomes

  /// Takes what became of the message at one target.
  func take(_ outcome: StepOutcome, at context: StepContext) {
    if let trace = message.trace, context.registration != nil {
      trace.note(outcome, message.invocation, at: context, step: tracedStep)
      tracedStep = 0
    }
    note(outcome)
    put(outcome, context)
  }

  /// Notes for the frame what became of the message at one target, if there is a frame: hooks around the proxy that the message
  /// was sent to have none.
  func note(_ outcome: StepOutcome) {
    guard !frames.isEmpty else { return }
    frame.isListed = true
    switch outcome {
    case .answered, .answeredAll, .queued, .skipped(.bufferFull): frame.reached = true
    case .failed: noteFailure()
    case .skipped: frame.skipped += 1
    }
  }

  /// Notes that somebody got the message in a proxy of which no outcomes are kept.
  func noteReached() {
    (frame.reached, frame.isListed) = (true, true)
  }

  func noteFailure() {
    (frame.reached, frame.failed) = (true, true)
    if frame.route.core.stopsAtFirst { frame.stop = frame.stop ?? .stopped }
  }

  /// Gives an outcome to the sink, or keeps it while one before it is open or a hook may change it.
  func put(_ outcome: StepOutcome, _ context: StepContext) {
    toldCount += 1
    if hooksThatAsk == 0, log.isEmpty, isElsewhere || pending == nil || !outcome.isOpen {
      return give(outcome, context)
    }
    var kept = context
    // An answer that waits here keeps no target alive, unless it is to be listed.
    if case .answered = outcome, context.registration != nil, !sink.listsEveryTarget { kept.target = nil }
    log.append(Outcome(outcome, kept))
    if hooksThatAsk == 0 { return flush() }
    if outcome.isOpen { hasOpen = true }
    // Answers count in their order: those behind one that is still open cannot be enough.
    if !hasOpen, let probe, outcome.boxes.contains(where: probe) { isEnough = true }
  }

  /// Gives what is known to the sink, in order.
  func flush() {
    guard hooksThatAsk == 0, !log.isEmpty else { return }
    var index = 0
    while index < log.count {
      let found = log[index]
      if !isElsewhere, let pending, case .queued(let slot) = found.outcome, slot >= 0 {
        guard let settled = pending.settled(slot) else { break }
        for found in settled { give(found.outcome, found.context) }
      } else {
        give(found.outcome, found.context)
      }
      index += 1
    }
    log.removeFirst(index)
  }

  private func give(_ outcome: StepOutcome, _ context: StepContext) {
    if case .answeredAll(let answers) = outcome { reached += answers.count } else if outcome.isReached { reached += 1 }
    if isKnown {
      if case .failed(let error) = outcome { context.report(error) }
      return
    }
    if message.request.makeProbe != nil, hasHooks { given += outcome.boxes }
    if !sink.take(outcome, at: context) { (isKnown, isEnough) = (true, true) }
  }

  /// Whether a proxy with hooks is among those that the message passes.
  private lazy var hasHooks = root.all().contains { $0.hasTurn }

  /// The same with one that was made elsewhere.
  private func put(_ found: Outcome) { put(found.outcome, found.context) }

  /// Finds out again whether the sender needs no further answer: hooks may have changed the answers.
  func renewProbe() {
    guard let make = message.request.makeProbe, hooksThatAsk > 0 else { return (probe, isEnough) = (nil, isKnown) }
    hasOpen = log.contains { $0.outcome.isOpen }
    let probe = make()
    isEnough = feed(probe, upTo: log.count) || isKnown
    self.probe = probe
  }

  /// Gives a probe the answers that there are, up to a place of the log. `true` when they are enough.
  func feed(_ probe: (ArgumentBox) -> Bool, upTo end: Int) -> Bool {
    for answer in given where probe(answer) { return true }
    for found in log[..<end] {
      if found.outcome.isOpen { return false }
      if found.outcome.boxes.contains(where: probe) { return true }
    }
    return false
  }

  /// Charges the message's budget, and ends the message with what that throws.
  @inline(never) func pay(_ item: MessageBudget.Item, _ count: Int = 1, at context: (Walk) -> StepContext) -> Bool {
    guard let budget = message.trail?.budget else { return true }
    do { try budget.charge(item, count) } catch {
      if !isSpent { take(.failed(error), at: context(self)) }
      isSpent = true
    }
    return !isSpent
  }

  // MARK: What a loop asks and tells

  /// What a loop makes of answers.
  ///
  /// - Parameter type: theirs; `nil` where they come in boxes.
  func answers(of type: Any.Type?) -> WalkLoop.Answers {
    if !message.request.asks { return .none }
    if givesAtOnce, sink.takesPlain, place == nil, message.request.keepsAnswers { return .plain }
    guard let type, sink.taker?.type == type, givesAtOnce || place == nil else { return .boxed }
    return message.request.makeProbe != nil && (hasHooks || !givesAtOnce) ? .boxed : .typed
  }

  /// Whether the sink gets an answer when it comes.
  private var givesAtOnce: Bool { hooksThatAsk == 0 && log.isEmpty }

  /// The steps that a loop is to serve.
  @usableFromInline
  var loopSteps: (first: UnsafeMutablePointer<RouteStep>, count: Int) {
    (frame.route.steps + frame.index, segment.end - frame.index)
  }

  /// Has the steps of the segment served one by one, since no loop can serve them.
  func refuseLoop() { frame.loopsFrom = segment.end }

  /// Notes how far a loop has come, and how many targets have run that it has not told of.
  @usableFromInline @inline(never)
  func endLoop(_ count: Int, ran: Int) {
    defer { keeper = nil }
    let crosses = frame.route.steps[frame.index].method?.takeUnretainedValue().resultCrosses ?? false
    frame.index += count
    guard ran > 0 else { return }
    (frame.reached, frame.isListed) = (true, true)
    if let keeper { return put(.answeredAll(keeper.kept(crosses: crosses)), proxyContext) }
    reached += ran
    sink.countDelivered(ran)
  }

  /// Notes that the sink needs no further answer.
  @usableFromInline @inline(never)
  func noteKnown() { (isKnown, isEnough) = (true, true) }

  /// Takes typed answers for the sink, or keeps them.
  @usableFromInline
  func taker<R>(of type: R.Type) -> AnswerTaker<R> {
    if givesAtOnce, let taker = sink.taker { return unsafeDowncast(taker, to: AnswerTaker<R>.self) }
    let keeper = AnswerTaker<R>(nil)
    self.keeper = keeper
    return keeper
  }

  /// Passes by a step that is not to be served, or whose target is dead. `false` when the loop is to end.
  @usableFromInline @inline(never)
  func miss(_ step: RouteStep, _ offset: Int) -> Bool {
    takeLeftOut(before: frame.index + offset)
    let own = step.obstacle ?? (step.target == nil ? .dead : nil)
    let reason = DeliveryReport.SkipReason.first(own, frame.proxies.obstacle ?? own ?? .dead)
    if reason == .dead { frame.dead += 1 }
    if reason != .removed || !frame.node.isListedElsewhere(step) {
      take(.skipped(reason), at: reason == .dead ? context(step, nil) : passedContext(step))
    }
    frame.stop = stopNow
    return frame.stop == nil
  }

  /// Takes a target's error. `false` when the loop is to end.
  ///
  /// - Parameter target: the target, where that might die meanwhile.
  @usableFromInline @inline(never)
  func fail(_ error: any Error, _ step: RouteStep, _ target: AnyObject? = nil) -> Bool {
    take(.failed(error), at: context(step, target ?? step.target))
    return frame.stop == nil && !isEnough
  }

  /// Takes an answer in a box. `false` when the loop is to end.
  @usableFromInline @inline(never)
  func take(_ answer: ArgumentBox, of target: AnyObject, _ step: RouteStep) -> Bool {
    let outcome = crossed(.answered(message.request.keepsAnswers ? answer : nil), step, target)
    note(outcome)
    put(outcome, context(step, target))
    return frame.stop == nil && !isEnough
  }

  /// What became of a target, for a sender on another context: its answer must be known to be `Sendable`.
  func crossed(_ outcome: StepOutcome, _ step: RouteStep, _ target: AnyObject) -> StepOutcome {
    guard place != nil, case .answered(let answer) = outcome,
      !(step.method?.takeUnretainedValue().answers(to: nil) ?? false)
    else { return outcome }
    return OutgoingMessage.Attempt.crossing(answer, from: target, selector, wanted: message.request.keepsAnswers)
  }

  /// Gives an answer to a sink that takes it without its place.
  @usableFromInline @inline(never)
  func take(_ answer: consuming ArgumentBox, of target: AnyObject) { sink.take(answer, of: target) }

  // MARK: Places

  /// The context of a target whose turn is the sender's.
  func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    StepContext(step, of: selector, in: frame.proxies, target, isQueued: place != nil)
  }

  /// The context of a target that is passed by.
  private func passedContext(_ step: RouteStep) -> StepContext {
    context(step, sink.listsEveryTarget ? step.target : nil)
  }

  /// The context of the proxy itself: of its place in the proxy around it, where there is one.
  private var proxyContext: StepContext {
    frame.place ?? StepContext(selector: selector, proxies: frame.proxies)
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
      let trail = frame.trail ?? frame.proxies.trail(after: earlier)
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

  /// The proxies of the frame.
  var proxies: ProxyChain { frame.proxies }

  // MARK: Proxies in one another

  /// The proxies behind a multicast that a target which was asked led to; `nil` where the message may not go there.
  func node(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) -> RouteNode? {
    let inner = multicast.beginMessage(selector)
    if let error = frame.proxies.refusal(of: inner, message.trail, count: root.count, target) {
      take(.failed(error), at: context(step, target))
      return nil
    }
    let proxies = ProxyChain(inner.core, in: frame.proxies, by: step.registration.takeUnretainedValue())
    return RouteNode.tree(
      inner, proxies, message.trail, listsEveryTarget: sink.listsEveryTarget, within: root)
  }

  /// Goes on with a multicast behind which room was not waited for, once that was done where the sender does.
  private func enter(_ node: RouteNode, _ place: StepContext, awaits: Bool) -> Suspension? {
    if awaits, mayAwaitRoom { return .node(node, place) }
    enter(node, place)
    return nil
  }

  /// Goes on with the targets of a multicast, or with its hooks.
  func enter(_ node: RouteNode, _ place: StepContext?) {
    if node.route.isSurrounded {
      surrounded = (node, place)
    } else {
      begin(node, place)
    }
  }

  /// Begins with the targets of a proxy; what is on other contexts leaves first, unless the order of delivery is kept to.
  ///
  /// - Parameter stop: why nobody is to get the message: then targets are only listed.
  func begin(_ node: RouteNode, _ place: StepContext?, stop: DeliveryReport.SkipReason? = nil) {
    push(node, place, stop: stop)
    guard pay(.proxy, at: { $0.proxyContext }), frame.stop == nil else { return }
    if let refusal = node.route.route.prelude?.refusal {
      frame.index = node.route.count
      take(.failed(refusal), at: proxyContext)
    } else if !frame.isInOrder, stopNow == nil {
      postQueued(node)
    }
  }

  private func push(_ node: RouteNode, _ place: StepContext?, stop: DeliveryReport.SkipReason? = nil) {
    let isInOrder = (frames.last?.isInOrder ?? message.request.isInOrder) || node.route.core.stopsAtFirst
    frames.append(Frame(node: node, isInOrder: isInOrder, place: place, stop: stop))
    lookThrough()
  }

  /// Gives back all places that were not used, and says which they were. A sender that waits for anything but room keeps no place
  /// that others may wait for, and takes them again afterwards.
  func giveBackRoom() -> [Place] {
    keepsRoom ? ([root] + frames.lazy.map(\.node).filter(\.isFirst)).flatMap { giveBackRoom(in: $0) } : []
  }

  /// Takes such places again, unless nobody further is to get the message.
  nonisolated(nonsending) func takeRoom(_ places: [Place]) async throws {
    if !isEnough, frames.first?.stop == nil { try await reserve(places) }
  }

  /// Leaves frames whose message has ended with an error.
  func leaveFrames(to depth: Int) {
    while frames.count > depth {
      frame.trail?.end()
      giveBackUnused()
      frames.removeLast()
    }
  }

  /// Gives back the places that were kept for targets of the frame's proxy, and of those inside, and were not needed.
  private func giveBackUnused() { if keepsRoom { giveBackRoom(in: frame.node) } }

  /// Ends the way along one route.
  private func leave(to base: Int) {
    let route = frame.route
    for (target, error) in route.route.prelude?.failures ?? [] {
      take(.failed(error), at: StepContext(selector: selector, proxies: frame.proxies, target: target))
    }
    frame.trail?.end()
    giveBackUnused()
    if frame.dead + frame.skipped > 0 { route.core.end(route, dead: frame.dead, skipped: frame.skipped) }
    if frames.count == 1, frame.place == nil { return frames.removeAll(keepingCapacity: true) }
    let left = frames.removeLast()
    if let place = left.place, left.stop != nil {
      // What keeps targets from the message keeps an empty proxy from it as well.
      if !left.isListed, sink.listsEveryTarget {
        take(.skipped(.first(left.stop, .doesNotRespond)), at: place)
      }
    } else if let place = left.place, !left.reached, !isEnough, !isSpent {
      do {
        try route.core.answerSilence(selector)
        // A proxy is listed itself where none of its targets is.
        if !left.isListed || !sink.listsEveryTarget { take(.skipped(.doesNotRespond), at: place) }
      } catch {
        // It happened in the inner proxy, whose handler comes first.
        take(.failed(error), at: place.within(left.proxies))
      }
    }
    // The outcome of a proxy with hooks is said by its hooks.
    guard frames.count > base else { return hasFailedInside = left.failed }
    frame.isListed = frame.isListed || left.isListed
    if left.failed { noteFailure() } else if left.reached { frame.reached = true }
  }
}
