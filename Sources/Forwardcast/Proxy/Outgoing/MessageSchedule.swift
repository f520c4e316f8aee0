// MessageSchedule.swift: serves the targets of one message, in order, into a sink.
// Layer: Proxy. See DESIGN.md, "One way for a message to leave".

/// One message being served to every target of a route, and to those of multicasts among them.
///
/// ``next()`` says whose turn it is and ``take(_:at:)`` what came of it, so the form that suspends and the form that does
/// not share everything else. Proxies in one another are frames of a stack of its own: depth costs no thread stack.
struct MessageSchedule<Sink: OutcomeSink> {
  var message: OutgoingMessage
  var sink: Sink
  /// Where outcomes of other contexts go, for a sender that waits.
  let pending: PendingAnswers?
  /// How many messages full buffers gave up for this one.
  var dropped = 0
  /// Whether the message is served on a context of its own, and not in its sender's turn.
  let isElsewhere: Bool
  /// Steps for which the sender has a place in the target's buffer.
  var reserved: Set<ReservedStep> = []
  /// Turns that cannot end here and are to be taken up afterwards; `nil` where nobody can.
  var deferred: [DeferredTurn]?
  /// The number of the turn that a trace was told of; 0 when it was told of none.
  private var tracedStep = 0
  /// The target of an automatic delivery whose turn it is.
  private var taken: QueuedState?
  /// Whether anybody got the message, in any proxy.
  private(set) var reachedAny = false

  // The frames belong to the schedule, which is used in one turn at a time.
  private var frame: Frame
  /// The route of the proxy that the message was sent to.
  let route: MessageRoute
  private var outer: [Frame] = []
  /// The nodes of the message, the outermost first; empty for a route of direct targets only.
  let nodes: [RouteNode]
  private var isKnown = false

  /// The walk along the route of one proxy.
  private struct Frame {
    let route: MessageRoute
    let proxies: ProxyChain
    let node: RouteNode?
    /// The registrations that are no steps, for a sink that lists every target.
    let leftOut: [(before: Int, registration: Registration)]
    /// Whether the proxy, or one around it, keeps to the order of delivery.
    let isInOrder: Bool
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
    var served: Set<RepeatedTarget> = []
    /// Whose turn a nested proxy is; `nil` for the proxy that the message was sent to.
    var place: StepContext?
  }

  /// - Parameter outer: the proxies around the one that the message is sent to, when it came as one of their targets.
  init(
    _ message: OutgoingMessage, along route: MessageRoute, in outer: ProxyChain? = nil, into sink: Sink,
    pending: PendingAnswers? = nil, isElsewhere: Bool = false
  ) {
    self.isElsewhere = isElsewhere
    (self.message, self.route, self.sink, self.pending) = (message, route, sink, pending)
    if message.trace == nil { self.message.trace = route.route.around?.trace }
    nodes = route.needsSchedule ? RouteNode.tree(route, in: outer, trail: message.trail, passed: message.passed) : []
    let proxies = nodes.first?.proxies ?? ProxyChain(route.core, in: outer)
    frame = Frame(
      route: route, proxies: proxies, node: nodes.first, leftOut: sink.listsEveryTarget ? route.leftOut : [],
      isInOrder: message.isInOrder || route.core.stopsAtFirst)
  }

  // MARK: Running

  /// Serves every target in the caller's turn.
  mutating func run() {
    begin()
    while true {
      guard let (step, target) = next() else { return }
      let turn = perform(step, target)
      if case .multicast(let multicast) = turn {
        if let turn = enter(multicast, target, step) { take(turn.run(), of: turn) }
      } else if deferred != nil, turn.suspends {
        put(off: turn, target, step)
      } else if let outcome = turn.ended(&message) {
        take(outcome, at: context(step, target))
      }
      endTurn()
    }
  }

  /// Gives a target back that an automatic delivery had taken. One that suspends, or whose targets get the message in its
  /// place, is given back before.
  private mutating func endTurn() {
    guard let taken else { return }
    self.taken = nil
    taken.endTurn()
  }

  /// Serves every target, one after another, and waits for the methods of direct ones that suspend or run elsewhere.
  nonisolated(nonsending) mutating func runAndWait() async {
    begin()
    while let (step, target) = next() {
      let turn = perform(step, target)
      if case .multicast(let multicast) = turn {
        endTurn()
        if let turn = enter(multicast, target, step) { take(await turn.runAndWait(), of: turn) }
      } else {
        if turn.suspends { endTurn() }
        let registration = step.registration.takeUnretainedValue()
        let outcome = await turn.endedAndWaited(&message) { registration.isActive }
        take(outcome ?? .skipped(step.reasonToSkip), at: context(step, target))
        endTurn()
      }
    }
  }

  private mutating func begin() {
    if let refusal = frame.route.route.prelude?.refusal {
      frame.index = frame.route.count
      take(.failed(refusal), at: proxyContext)
    } else if let node = frame.node, !frame.isInOrder {
      postQueued(node)
    }
  }

  private mutating func perform(_ step: RouteStep, _ target: AnyObject) -> OutgoingMessage.Turn {
    if let trace = message.trace, !(target is any MulticastSending) {
      tracedStep = MessageTrace.nextStep()
      trace.note(.began, &message, at: context(step, target), step: tracedStep)
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

  // MARK: Steps

  /// The next target whose turn is now; everything that is decided without it is taken on the way.
  private mutating func next() -> (RouteStep, AnyObject)? {
    while true {
      takeLeftOut(before: frame.index)
      guard frame.index < frame.route.count else {
        if leave() { continue }
        return nil
      }
      let index = frame.index
      let step = frame.route.steps[index]
      frame.index += 1
      if isKnown || frame.isStopped {
        stop(step, index)
        continue
      }
      if step.queued != nil, let posted = posted(step, index) {
        if case .outcome(let outcome) = posted { take(outcome, at: queuedContext(step)) }
        continue
      }
      guard step.isActive else {
        take(.skipped(step.reasonToSkip), at: passedContext(step))
        continue
      }
      guard let target = step.target else {
        frame.dead += 1
        take(.skipped(.dead), at: context(step, nil))
        continue
      }
      if frame.route.route.hasRepeats, step.queued == nil,
        !frame.served.insert(RepeatedTarget(step.registration.takeUnretainedValue())).inserted
      {
        continue
      }
      switch frame.node?.nested[index] {
      case .node(let node)? where !node.route.isSurrounded: enter(node, context(step, target))
      case .refused(let error)?: take(.failed(error), at: context(step, target))
      case .node?, nil:
        guard let queued = step.queued else { return (step, target) }
        if queued.beginTurn() {
          taken = queued
          return (step, target)
        }
        if let (group, place) = frame.node?.location(of: index), let node = frame.node,
          case .outcome(let outcome) = post(group, place, node, mayRunNow: false)
        {
          take(outcome, at: queuedContext(step))
        }
      }
    }
  }

  /// Passes a step by whose turn does not come any more.
  private mutating func stop(_ step: RouteStep, _ index: Int) {
    guard sink.listsEveryTarget else {
      frame.index = frame.route.count
      return
    }
    if step.queued != nil, frame.node?.posted != nil, let posted = posted(step, index) {
      // It left before anybody was served.
      if case .outcome(let outcome) = posted { take(outcome, at: queuedContext(step)) }
    } else if case .node(let node)? = frame.node?.nested[index], let target = step.target {
      push(node, context(step, target))
      frame.isStopped = true
    } else {
      let reason = reasonToStop(step)
      take(.skipped(reason), at: passedContext(step))
    }
  }

  private func reasonToStop(_ step: RouteStep) -> DeliveryReport.SkipReason {
    guard let target = step.target else { return .dead }
    guard step.isActive else { return step.reasonToSkip }
    return step.method == nil && !answers(target, message.selector) ? .doesNotRespond : .stopped
  }

  /// What became of a step on another context; `nil` when it runs in the sender's turn.
  private mutating func posted(_ step: RouteStep, _ index: Int) -> RouteNode.Posted? {
    guard let node = frame.node else { return nil }
    let posted: RouteNode.Posted?
    if let all = node.posted {
      posted = all[index]
    } else {
      posted = node.location(of: index).map { post($0.group, $0.place, node) }
    }
    if case .inTurn? = posted { return nil }
    return posted ?? .outcome(.queued(slot: -1))
  }

  /// The context of a target whose turn is the sender's.
  private func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    StepContext(
      selector: message.selector, proxies: frame.proxies, registration: step.registration.takeUnretainedValue(),
      target: target, isQueued: isElsewhere)
  }

  /// The context of a target that is passed by.
  private func passedContext(_ step: RouteStep) -> StepContext {
    context(step, sink.listsEveryTarget ? step.target : nil)
  }

  private func queuedContext(_ step: RouteStep) -> StepContext {
    StepContext(
      selector: message.selector, proxies: frame.proxies, registration: step.registration.takeUnretainedValue(),
      target: sink.listsEveryTarget ? step.target : nil, isQueued: true)
  }

  /// The context of the proxy itself: of its place in the proxy around it, where there is one.
  private var proxyContext: StepContext {
    frame.place
      ?? StepContext(
        selector: message.selector, proxies: frame.proxies, registration: nil, target: nil, isQueued: false)
  }

  /// Takes what became of a message at one target.
  mutating func take(_ outcome: StepOutcome, at context: StepContext) {
    if let trace = message.trace, context.registration != nil {
      trace.note(outcome, &message, at: context, step: tracedStep)
      tracedStep = 0
    }
    switch outcome {
    case .answered, .queued: frame.reached = true
    case .failed:
      frame.reached = true
      frame.failed = true
      if frame.route.core.stopsAtFirst { frame.isStopped = true }
    case .skipped(.bufferFull): frame.reached = true
    case .skipped: frame.skipped += 1
    }
    if !sink.take(outcome, at: context) { isKnown = true }
  }

  private mutating func put(off turn: OutgoingMessage.Turn, _ target: AnyObject, _ step: RouteStep) {
    let context = context(step, target)
    let slot = pending?.open(context) ?? -1
    deferred?.append(DeferredTurn(turn: turn, target: target, context: context, slot: slot))
    take(.queued(slot: slot), at: context)
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
      _ = sink.take(.skipped(reason), at: context)
    }
  }

  // MARK: Proxies in one another

  /// Goes on with the targets of a multicast that was found when the message began.
  private mutating func enter(_ node: RouteNode, _ place: StepContext) {
    push(node, place)
    begin()
  }

  private mutating func push(_ node: RouteNode, _ place: StepContext) {
    let leftOut = sink.listsEveryTarget ? node.route.leftOut : []
    let isInOrder = frame.isInOrder || node.route.core.stopsAtFirst
    outer.append(frame)
    frame = Frame(
      route: node.route, proxies: node.proxies, node: node, leftOut: leftOut, isInOrder: isInOrder, place: place)
  }

  /// Goes on with the targets of a multicast that a target which was asked led to, or gives the turn of one that has
  /// hooks around its messages.
  private mutating func enter(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) -> HookedTurn?
  {
    let place = context(step, target)
    // Of the nodes that are known only those with hooks come here.
    if case .node(let node)? = frame.node?.nested[frame.index - 1] { return hookedTurn(node, place) }
    let route = multicast.beginMessage(message.selector)
    if let error = RouteNode.refusal(route, in: frame.proxies, message.trail, count: 0, target) {
      take(.failed(error), at: place)
      return nil
    }
    if route.isSurrounded { return hookedTurn(RouteNode(route, in: frame.proxies), place) }
    let node = RouteNode.tree(route, in: frame.proxies, trail: message.trail)[0]
    enter(node, place)
    return nil
  }

  private mutating func hookedTurn(_ node: RouteNode, _ place: StepContext) -> HookedTurn {
    let passed = message.passed ?? PassedProxies(nodes.count)
    message.passed = passed
    var inner = message
    inner.isInOrder = frame.isInOrder
    return HookedTurn(
      inner, node, place, pending: pending, isElsewhere: isElsewhere, defers: deferred != nil,
      listsEveryTarget: sink.listsEveryTarget)
  }

  /// Takes what came of the targets of a nested proxy with hooks.
  private mutating func take(_ outcomes: [(outcome: StepOutcome, context: StepContext)], of turn: HookedTurn) {
    dropped += turn.dropped
    deferred?.append(contentsOf: turn.deferred)
    for (outcome, context) in outcomes {
      if !isKnown {
        take(outcome, at: context)
      } else if case .failed(let error) = outcome {
        context.report(error)
      }
    }
  }

  /// Ends the walk along one route. `false` when it was that of the proxy the message was sent to.
  private mutating func leave() -> Bool {
    let route = frame.route
    for (target, error) in route.route.prelude?.failures ?? [] {
      let context = StepContext(
        selector: message.selector, proxies: frame.proxies, registration: nil, target: target, isQueued: false)
      take(.failed(error), at: context)
    }
    frame.trail?.end()
    if frame.dead + frame.skipped > 0 { route.core.end(route, dead: frame.dead, skipped: frame.skipped) }
    if frame.reached { reachedAny = true }
    guard let place = frame.place else { return false }
    let (reached, failed, wasStopped, proxies) = (frame.reached, frame.failed, frame.isStopped, frame.proxies)
    guard let around = outer.popLast() else { return false }
    frame = around
    if reached {
      frame.reached = true
      if failed {
        frame.failed = true
        if frame.route.core.stopsAtFirst { frame.isStopped = true }
      }
    } else if !isKnown, !wasStopped {
      do {
        try route.core.answerSilence(message.selector)
        take(.skipped(.doesNotRespond), at: place)
      } catch {
        // It happened in the inner proxy, whose handler comes first.
        take(.failed(error), at: place.within(proxies))
      }
    }
    return true
  }
}

/// A turn that runs in an isolation which the schedule's context is not, or suspends.
struct DeferredTurn {
  let turn: OutgoingMessage.Turn
  let target: AnyObject
  let context: StepContext
  let slot: Int
}

/// A target that is registered more than once with one delivery, for other selectors each time: a message that several of
/// its registrations are for arrives once.
struct RepeatedTarget: Hashable {
  let target: ObjectIdentifier
  let delivery: Delivery

  init(_ registration: Registration) { (target, delivery) = (registration.key, registration.delivery) }
}

/// A step of one of the proxies that a message passes.
struct ReservedStep: Hashable {
  let node: ObjectIdentifier
  let index: Int
}
