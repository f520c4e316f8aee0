// Walk.swift: one message on its way along the steps of a route: whose turn it is, and what came of it.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

/// One message on its way to every target of a route, and to those of multicasts among them.
///
/// ``next()`` says what is to happen now and ``take(_:at:)`` what came of it; outcomes come out of `next()` again, in the
/// order of delivery and as soon as they are known. So the walk decides everything, and whoever drives it only runs targets
/// and hooks: see ``serve(_:)``. Proxies in one another are frames of a stack of its own: depth costs no thread stack.
struct Walk: ~Copyable {
  /// What became of the message at one target.
  typealias Outcome = (outcome: StepOutcome, context: StepContext)

  /// What is to happen next.
  enum Event {
    /// The target of a step gets the message.
    case turn(RouteStep, AnyObject)
    /// A proxy with hooks gets it, at its place in the proxy around it.
    case hooks(RouteNode, StepContext)
    /// Something is known for the sender.
    case outcome(Outcome)
  }

  /// How the sender gets the outcomes of other contexts.
  enum Waiting {
    /// Not at all.
    case nobody
    /// Its task suspends until all are there.
    case suspended
    /// It blocks until then.
    case blocked(Patience)
    /// The walk runs on a context of its own, for a sender elsewhere that may wait.
    case elsewhere(PendingAnswers?)
  }

  var message: OutgoingMessage
  /// The route of the proxy that the message was sent to.
  let route: MessageRoute
  let waiting: Waiting
  /// Whether targets that do not get the message are told of as well.
  let listsEveryTarget: Bool
  /// The nodes of the message, the outermost first; empty for a route of direct targets only.
  let nodes: [RouteNode]
  /// How many messages full buffers gave up for this one.
  var dropped = 0
  /// Turns that cannot end here and are to be taken up afterwards; `nil` where nobody can.
  var deferred: [LateTurn]?
  /// Whether the sender needs nothing more: further targets are passed by, and of outcomes only errors are told.
  var isKnown = false
  /// How many failures the handlers have been told of within hooks.
  private(set) var told = 0
  /// Why the message ended as a whole: the error of hooks around the proxy that it was sent to.
  var failure: (any Error)?
  /// Why every target is passed by that is not reached.
  private let reasonToStop: DeliveryReport.SkipReason

  private var frame: Frame
  private var outer: [Frame] = []
  /// The proxy with hooks that comes next.
  private var surrounded: (node: RouteNode, place: StepContext)?
  private var hasBegun = false
  private var isOver = false
  /// Whether whoever drives it has begun, and has waited for what was not known.
  var (isDriven, isAwaited) = (false, false)
  /// The wait of a method that the sender is in.
  var wait: SuspendedWait?
  /// Whether the budget has ended the message.
  private(set) var isSpent = false
  private var outcomes: OutcomeOrder
  /// The target of an automatic delivery whose turn it is.
  private var taken: QueuedState?
  /// The number of the turn that a trace was told of; 0 when it was told of none.
  private var tracedStep = 0

  /// The way along the route of one proxy.
  private struct Frame {
    let route: MessageRoute
    let proxies: ProxyChain
    let node: RouteNode?
    /// The registrations that are no steps, for a sink that lists every target.
    var leftOut: [(before: Int, registration: Registration)] = []
    /// Whether the proxy, or one around it, keeps to the order of delivery.
    let isInOrder: Bool
    /// Whose turn a nested proxy is; `nil` for the proxy that the message was sent to.
    let place: StepContext?
    var nextLeftOut = 0
    var index = 0
    /// Whether somebody got the message.
    var reached = false
    /// Whether some target failed.
    var failed = false
    /// Whether an earlier target ended the message for this proxy.
    var isStopped = false
    var dead = 0
    var skipped = 0
    var trail: ProxyTrail?
    /// Targets that got the message, where one may be registered more than once.
    var served = RepeatedTargets()
  }

  /// - Parameters:
  ///   - outer: the proxies around the one that the message is sent to, when it came as one of their targets.
  ///   - place: its place in the nearest of those.
  ///   - withheld: why nobody is to get the message: then targets are only listed.
  @inline(never)
  init(
    _ message: OutgoingMessage, along route: MessageRoute, in outer: ProxyChain? = nil, at place: StepContext? = nil,
    waiting: Waiting = .nobody, listsEveryTarget: Bool = false, withheld: DeliveryReport.SkipReason? = nil
  ) {
    (self.message, self.route, self.waiting, self.listsEveryTarget) = (message, route, waiting, listsEveryTarget)
    outcomes = OutcomeOrder(waiting)
    if message.trace == nil { self.message.trace = route.route.around?.trace }
    reasonToStop = withheld ?? .stopped
    nodes =
      route.needsWalk
      ? RouteNode.tree(route, in: outer, message.trail, passed: message.passed) : []
    frame = Frame(
      route: route, proxies: nodes.first?.proxies ?? ProxyChain(route.core, in: outer), node: nodes.first,
      isInOrder: message.isInOrder || route.core.stopsAtFirst, place: place)
    frame.isStopped = withheld != nil
    lookThrough()
  }

  // MARK: Events

  /// What is to happen next; everything that is decided without anybody is taken on the way. `nil` when there is nothing
  /// more to do, and what is not out yet has to be waited for.
  @inline(never)
  mutating func next() -> Event? {
    while true {
      if let outcome = outcomes.next() { return .outcome(outcome) }
      if isOver { return nil }
      if !hasBegun {
        hasBegun = true
        begin()
      } else if let (node, place) = surrounded {
        surrounded = nil
        return .hooks(node, place)
      } else if frame.index < frame.route.count, !isSpent {
        if let event = nextStep() { return event }
      } else {
        takeLeftOut(before: frame.index)
        leave()
      }
    }
  }

  /// Begins with the targets of the frame's proxy.
  private mutating func begin() {
    guard pay(.proxy, at: { $0.proxyContext }), !frame.isStopped else { return }
    if let refusal = frame.route.route.prelude?.refusal {
      frame.index = frame.route.count
      take(.failed(refusal), at: proxyContext)
    } else if let node = frame.node {
      if node.route.isSurrounded {
        frame.index = frame.route.count
        surrounded = (node, proxyContext)
      } else if !frame.isInOrder {
        postQueued(node)
      }
    }
  }

  /// Takes the next step of the frame; gives it when its target is to run now.
  private mutating func nextStep() -> Event? {
    takeLeftOut(before: frame.index)
    let index = frame.index
    let step = frame.route.steps[index]
    frame.index += 1
    if isKnown || frame.isStopped {
      stop(step, index)
      return nil
    }
    if step.queued != nil, takePosted(step, index) { return nil }
    guard pay(step.isActive ? .target : .passed, at: { $0.passedContext(step) }) else { return nil }
    guard step.isActive else {
      take(.skipped(step.reasonToSkip), at: passedContext(step))
      return nil
    }
    guard let target = step.target else {
      frame.dead += 1
      take(.skipped(.dead), at: context(step, nil))
      return nil
    }
    if frame.route.route.hasRepeats, step.queued == nil, !frame.served.enter(step) { return nil }
    switch frame.node?.nested[index] {
    case .node(let node)?: enter(node, context(step, target))
    case .refused(let error)?: take(.failed(error), at: context(step, target))
    case nil:
      guard let queued = step.queued else { return .turn(step, target) }
      if queued.beginTurn() {
        taken = queued
        return .turn(step, target)
      }
      // Another thread runs it at the moment.
      if let node = frame.node, let (group, place) = node.location(of: index) {
        _ = take(post(group, place, node, mayRunNow: false), of: step)
      }
    }
    return nil
  }

  /// Passes a step by whose turn does not come any more.
  private mutating func stop(_ step: RouteStep, _ index: Int) {
    guard listsEveryTarget else {
      frame.index = frame.route.count
      return
    }
    // What was posted left before anybody was served.
    if step.queued != nil, frame.node?.posted != nil, takePosted(step, index) { return }
    if case .node(let node)? = frame.node?.nested[index], let target = step.target {
      push(node, context(step, target))
      frame.isStopped = true
    } else {
      take(.skipped(reasonToStop(step)), at: passedContext(step))
    }
  }

  private func reasonToStop(_ step: RouteStep) -> DeliveryReport.SkipReason {
    guard let target = step.target else { return .dead }
    guard step.isActive else { return step.reasonToSkip }
    return step.method == nil && !answers(target, message.selector) ? .doesNotRespond : reasonToStop
  }

  /// Takes what became of a step on another context, which is posted now unless all have been. `false` when it runs in the
  /// sender's turn.
  private mutating func takePosted(_ step: RouteStep, _ index: Int) -> Bool {
    guard let node = frame.node else { return false }
    let posted: RouteNode.Posted?
    if let all = node.posted {
      posted = all[index]
    } else {
      posted = node.location(of: index).map { post($0.group, $0.place, node) }
    }
    return take(posted ?? .outcome(.queued(slot: -1)), of: step)
  }

  private mutating func take(_ posted: RouteNode.Posted, of step: RouteStep) -> Bool {
    switch posted {
    case .inTurn: return false
    case .repeated: break
    case .outcome(let outcome):
      let target = listsEveryTarget ? step.target : nil
      take(outcome, at: StepContext(step, of: message.selector, in: frame.proxies, target, isQueued: true))
    }
    return true
  }

  /// Finds the registrations that the message passes by, for a sink that lists every target. What is looked through on the
  /// way is charged first, however few targets are served.
  private mutating func lookThrough() {
    let route = frame.route
    if message.trail?.budget != nil {
      let leavesOut = listsEveryTarget && route.route.leavesOut
      let leftOut = leavesOut ? max(0, route.core.registrationCount - route.count) : 0
      guard pay(.step, leavesOut || route.needsWalk ? route.count : 0, at: { $0.proxyContext }),
        pay(.passed, leftOut, at: { $0.proxyContext })
      else { return }
    }
    if listsEveryTarget { frame.leftOut = route.leftOut }
  }

  /// Takes the registrations that the message passes by and that stand before the step at `index`.
  private mutating func takeLeftOut(before index: Int) {
    while frame.nextLeftOut < frame.leftOut.count, frame.leftOut[frame.nextLeftOut].before <= index {
      let registration = frame.leftOut[frame.nextLeftOut].registration
      frame.nextLeftOut += 1
      guard let target = registration.liveTarget else { continue }
      let reason: DeliveryReport.SkipReason =
        !registration.isFor(message.selector) ? .outOfScope : registration.isMuted ? .muted : .doesNotRespond
      let context = StepContext(
        selector: message.selector, proxies: frame.proxies, registration: registration, target: target,
        isQueued: registration.queued != nil)
      outcomes.keep((.skipped(reason), context))
    }
  }

  // MARK: Outcomes

  /// Takes what became of the message at one target.
  mutating func take(_ outcome: StepOutcome, at context: StepContext) {
    if let trace = message.trace, context.registration != nil {
      trace.note(outcome, message.invocation, at: context, step: tracedStep)
      tracedStep = 0
    }
    note((outcome, context))
  }

  /// Takes what the walk within hooks took before, and told the trace of.
  mutating func note(_ found: Outcome) {
    switch found.outcome {
    case .answered, .queued: frame.reached = true
    case .failed:
      frame.reached = true
      frame.failed = true
      if frame.route.core.stopsAtFirst { frame.isStopped = true }
    case .skipped(.bufferFull): frame.reached = true
    case .skipped: frame.skipped += 1
    }
    outcomes.keep(found)
  }

  /// Where outcomes of other contexts go; `nil` when nobody waits for them.
  var pending: PendingAnswers? { outcomes.pending }

  /// Whether anybody got the message, in any proxy, as far as is known.
  var reachedAny: Bool { outcomes.reachedAny }

  /// Charges the message's budget, and ends the message with what that throws.
  mutating func pay(_ item: MessageBudget.Item, _ count: Int = 1, at context: (borrowing Walk) -> StepContext) -> Bool {
    guard let budget = message.trail?.budget else { return true }
    do { try budget.charge(item, count) } catch {
      if !isSpent { take(.failed(error), at: context(self)) }
      isSpent = true
    }
    return !isSpent
  }

  // MARK: Places

  /// The context of a target whose turn is the sender's.
  func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    var isElsewhere: Bool { if case .elsewhere = waiting { true } else { false } }
    return StepContext(step, of: message.selector, in: frame.proxies, target, isQueued: isElsewhere)
  }

  /// The context of a target that is passed by.
  private func passedContext(_ step: RouteStep) -> StepContext {
    context(step, listsEveryTarget ? step.target : nil)
  }

  /// The context of the proxy itself: of its place in the proxy around it, where there is one.
  private var proxyContext: StepContext {
    frame.place ?? StepContext(selector: message.selector, proxies: frame.proxies)
  }

  // MARK: Turns

  /// Gives the message to the target of a step.
  mutating func perform(_ step: RouteStep, on target: AnyObject) -> OutgoingMessage.Attempt {
    if let trace = message.trace, !(target is any MulticastSending) {
      tracedStep = MessageTrace.nextStep()
      trace.note(.began, message.invocation, at: context(step, target), step: tracedStep)
    }
    // The route keeps the method. Only who sees the message itself can send it on: a trail is laid for the first of those.
    let (method, proxies, earlier) = (step.method?.takeUnretainedValue(), frame.proxies, message.trail)
    var trail = frame.trail
    defer { frame.trail = trail }
    func layTrail() -> ProxyTrail {
      if let trail { return trail }
      let laid = proxies.trail(after: earlier)
      trail = laid
      return laid
    }
    return message.perform(method, on: target, trail: layTrail())
  }

  /// Gives a target back that an automatic delivery has taken: when its turn ends, suspends or becomes that of others.
  mutating func endTurn() {
    guard let taken else { return }
    self.taken = nil
    taken.endTurn()
  }

  /// Keeps a turn that cannot end here. The trail goes with it, and ends with it.
  mutating func put(off attempt: OutgoingMessage.Attempt, _ target: AnyObject, _ step: RouteStep) {
    let context = context(step, target)
    let slot = pending?.open(context) ?? -1
    deferred?.append(LateTurn(attempt: attempt, target: target, context: context, slot: slot, trail: frame.trail))
    frame.trail = nil
    take(.queued(slot: slot), at: context)
  }

  /// The message as the hooks of a proxy among the walk's get it.
  mutating func inside() -> OutgoingMessage {
    let passed = message.passed ?? PassedProxies(nodes.count)
    message.passed = passed
    var inside = message
    inside.isInOrder = frame.isInOrder
    return inside
  }

  /// Whether a proxy stands among the targets of another.
  func isNested(_ node: RouteNode) -> Bool { node !== nodes.first || frame.place != nil }

  /// Takes what came of the hooks around the message as a whole.
  mutating func end(told: Int, by failure: (any Error)?) {
    (self.told, self.failure) = (told, failure)
    // What is to become of silence has been decided within the hooks.
    outcomes.reachedAny = true
  }

  // MARK: Proxies in one another

  /// Goes on with the targets of a multicast that a target which was asked led to.
  mutating func enter(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) {
    let place = context(step, target)
    let route = multicast.beginMessage(message.selector)
    if let error = RouteNode.refusal(route, in: frame.proxies, message.trail, count: 0, target) {
      take(.failed(error), at: place)
    } else {
      enter(RouteNode.tree(route, in: frame.proxies, message.trail, passed: nil)[0], place)
    }
  }

  /// Goes on with the targets of a multicast that was found when the message began, or with its hooks.
  private mutating func enter(_ node: RouteNode, _ place: StepContext) {
    if node.route.isSurrounded {
      surrounded = (node, place)
    } else {
      push(node, place)
      begin()
    }
  }

  private mutating func push(_ node: RouteNode, _ place: StepContext) {
    let isInOrder = frame.isInOrder || node.route.core.stopsAtFirst
    outer.append(frame)
    frame = Frame(
      route: node.route, proxies: node.proxies, node: node, isInOrder: isInOrder, place: place)
    lookThrough()
  }

  /// Ends the way along one route.
  private mutating func leave() {
    let route = frame.route
    for (target, error) in route.route.prelude?.failures ?? [] {
      take(.failed(error), at: StepContext(selector: message.selector, proxies: frame.proxies, target: target))
    }
    frame.trail?.end()
    if frame.dead + frame.skipped > 0 { route.core.end(route, dead: frame.dead, skipped: frame.skipped) }
    let left = frame
    if let around = outer.popLast() { frame = around } else { isOver = true }
    if left.reached {
      frame.reached = true
      if left.failed {
        frame.failed = true
        if frame.route.core.stopsAtFirst { frame.isStopped = true }
      }
    } else if let place = left.place, !isKnown, !isSpent, !left.isStopped {
      do {
        try route.core.answerSilence(message.selector)
        take(.skipped(.doesNotRespond), at: place)
      } catch {
        // It happened in the inner proxy, whose handler comes first.
        take(.failed(error), at: place.within(left.proxies))
      }
    }
  }
}

/// How long a sender blocks at most, with all that its hooks do.
///
/// An object, since a clock's instant has a size that only the running system knows: so would all that holds one, and each copy
/// of a walk would go by metadata.
final class Patience: Sendable {
  let timeout: Duration
  let deadline: Deadline

  init(_ timeout: Duration) { (self.timeout, deadline) = (timeout, Deadline(after: timeout)) }
}

/// A target's turn that runs in an isolation which the walk's context is not, or suspends.
struct LateTurn {
  let attempt: OutgoingMessage.Attempt
  let target: AnyObject
  let context: StepContext
  let slot: Int
  /// The trail that its message has.
  let trail: ProxyTrail?
}
