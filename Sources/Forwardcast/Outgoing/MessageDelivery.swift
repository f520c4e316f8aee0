// MessageDelivery.swift: delivers one message to a proxy's targets, nested ones included.

/// Delivers one message to the targets of a proxy and of its nested proxies. Owned by the sender.
///
/// A *step* is a target's registration with its method. A *queued* step has its own context. A
/// target without a method is *queried* for each message. A *visit* is the progress in one proxy.
/// ``run(to:awaits:)`` performs the innermost visit's actions in turn: a loop over consecutive
/// steps, a single step, a nested proxy, hooks, or a skipped step.
///
///     request    the sender's request                         immutable
///     tree       the message's proxies                        can grow, see ProxyTree
///     visits     the progress in each proxy                   a stack, innermost last
///     message    the message as hooks have changed it         restored by ``HookedDelivery``
///     scope      other state that hooks change                also restored by ``HookedDelivery``
///     outcomes   the outcomes that are not yet in the result  in delivery order
///     observer   trace and budget                             `nil` without both
@usableFromInline
final class MessageDelivery {
  /// What the delivery waits for before it continues.
  // Indirect, so a step that does not suspend returns one word.
  indirect enum Suspension {
    case hooks(ProxyNode, target: AnyObject?)
    /// Capacity in a queued step's buffer. The step is posted afterward.
    case room(ProxyNode, step: Int)
    /// The end of a method that suspends or runs in another isolation.
    case target(OutgoingMessage.Attempt, RouteStep, AnyObject)
  }

  /// The state, other than the message, that a hook call replaces while the call runs.
  struct Scope {
    /// The pending outcomes of other contexts; `nil` if the sender does not wait.
    var pending: PendingAnswers?
    /// The index of the innermost hook call's first buffered outcome.
    var start = 0
    /// True if the sender waits but a synchronous hook is running. Then steps to be awaited fail.
    var mayNotWait = false
  }

  struct Visit {
    let node: ProxyNode
    /// The proxy as a target, retained by the visit; `nil` for the outermost proxy.
    let target: AnyObject?
    var progress: ProxyVisit
    /// True if the proxy has hooks that have not run.
    var hasHooksAhead: Bool
    /// The path of proxies, created for the first target that may forward the message.
    var trail: ProxyTrail?
  }

  // MARK: - Configuration (immutable; `outcomes` is a queue with state of its own)

  let selector: MessageSelector
  let request: DeliveryRequest
  let outcomes: OutcomeQueue

  // MARK: - State (owned by the sender, used by one thread or task at a time)
  // `@exclusivity(unchecked)` avoids a check for each step or outcome: see the cases `around:typed`
  // and `around:collect` of `.ci/run cost`.

  @exclusivity(unchecked) private(set) var tree: ProxyTree
  /// The message as hooks have changed it. While a method runs, this property is being accessed. No
  /// second access overlaps that one: a hook that then calls an outer `proceed` only gets an error.
  @exclusivity(unchecked) var message: OutgoingMessage
  @exclusivity(unchecked) var scope: Scope
  @exclusivity(unchecked) var visits: [Visit] = []
  /// Proxies whose queued steps must be posted before the next action. `group` is the next group to
  /// post to.
  @exclusivity(unchecked) var unposted: [(node: ProxyNode, group: Int)] = []
  /// The results of steps that were posted before direct targets ran, indexed by proxy number.
  @exclusivity(unchecked) var posted: [PostedSteps?] = []
  /// The number of posted steps whose outcome is not yet recorded.
  var postedCount = 0
  /// Proxies with registrations that have no step for this message. A report ends with these
  /// registrations. If the message did not enter the proxy, `stop` is the reason.
  @exclusivity(unchecked) var visited: [(node: ProxyNode, stop: DeliveryReport.SkipReason?)] = []
  /// The index after the last step that the running loop serves.
  @exclusivity(unchecked) var loopEnd = 0
  /// The number of outcomes that the running loop has reported itself.
  @exclusivity(unchecked) var reportedInLoop = 0
  /// `nil` without trace and budget. Created later if the first trace is that of a nested proxy.
  @exclusivity(unchecked) private(set) var observer: DeliveryObserver?
  /// The entry in the wait-for graph, if the sender itself runs in a target or blocks a context.
  var wait: SenderWait?

  @inline(never)
  init(_ message: consuming OutgoingMessage, to tree: ProxyTree, into outcomes: OutcomeQueue) {
    (request, selector) = (message.request, message.selector)
    (self.tree, self.outcomes) = (tree, outcomes)
    let (trace, budget) = (message.trace ?? tree.root.route.route.around?.trace, message.trail?.budget)
    if trace != nil || budget != nil { observer = DeliveryObserver(trace, budget) }
    scope = Scope(pending: request.waitsForAnswers ? PendingAnswers() : nil)
    self.message = message
  }

  var root: ProxyNode { tree.root }
  var route: MessageRoute { tree.root.route }
  var depth: Int { visits.count }
  var node: ProxyNode { visits[visits.count - 1].node }

  // MARK: - Running

  /// Runs targets and hooks until the visits above `base` have ended, or the delivery must wait.
  ///
  /// - Parameter awaits: true if the caller awaits the suspension. If false, the result is `nil`.
  /// - Throws: the error of the outermost proxy's hooks.
  // Not inlined into the function that suspends: each continuation would contain a copy.
  @inline(never)
  func run(to base: Int, awaits: Bool = false) throws -> Suspension? {
    while true {
      if !unposted.isEmpty, let suspension = postAhead(awaits: awaits) { return suspension }
      guard depth > base else { return nil }
      let last = visits.count - 1
      let node = visits[last].node
      if visits[last].hasHooksAhead {
        let target = visits.removeLast().target
        if awaits, node.hasHooks { return .hooks(node, target: target) }
        try HookedDelivery(self, node, target).run()
        continue
      }
      if isSpent {
        leave(to: base)
        continue
      }
      if let reason = obstacle(node) { visits[last].progress.stop(for: reason) }
      switch visits[last].progress.next(isEnough: outcomes.isEnough, mayLoop: mayLoop(node)) {
      case .loop(let type, let end): serve(upTo: end, type)
      case .step(let index): if let suspension = serve(index, node, awaits: awaits) { return suspension }
      case .skip(let index, let reason): skip(index, node, reason)
      case .finished: leave(to: base)
      }
    }
  }

  /// The reason to skip a proxy's remaining targets: a registration on its path was removed or
  /// muted, or, with `stopAtFirst`, a queued target has failed.
  func obstacle(_ node: ProxyNode) -> DeliveryReport.SkipReason? {
    if node.path.isNested, !node.path.isOpen, let reason = node.path.obstacle { return reason }
    guard node.route.core.stopsAtFirst, let pending = scope.pending, pending.hasFailed(in: node.path) else {
      return nil
    }
    return .stopped
  }

  private func mayLoop(_ node: ProxyNode) -> Bool {
    observer == nil && (scope.pending == nil || !node.route.core.stopsAtFirst)
  }

  /// Serves the steps up to `end` in a loop, or one at a time if no loop fits the arguments.
  private func serve(upTo end: Int, _ type: ObjectIdentifier) {
    loopEnd = end
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
    visits[visits.count - 1].progress.serveSingly(to: end)
  }

  private func serve(_ index: Int, _ node: ProxyNode, awaits: Bool) -> Suspension? {
    let step = node.route.steps[index]
    if let queued = step.queued {
      switch postedAhead(index, node) ?? post(index, node, awaits: awaits) {
      case .outcome(let outcome): takeQueued(outcome, step, node)
      case .nothing: visits[visits.count - 1].progress.noteOver()
      case .needsRoom: return .room(node, step: index)
      case .inTurn: return serveHere(index, step, queued, node, awaits: awaits)
      }
      return nil
    }
    guard pay(step.isActive ? .target : .passed, at: { $0.context(step, nil) }) else { return nil }
    let target = step.target
    if let reason = step.obstacle {
      let isOver = node.route.isOver(step)
      if case .proxy(let child)? = node.child(at: index), request.listsEveryTarget && !isOver || hasPosted(child) {
        list(child, target, as: reason)
      } else if isOver {
        visits[visits.count - 1].progress.noteOver()
      } else {
        take(.skipped(reason), at: skippedContext(step))
      }
      return nil
    }
    guard let target else {
      take(.skipped(.dead), at: context(step, nil))
      return nil
    }
    switch node.child(at: index) {
    case .proxy(let child)?: enter(child, target)
    case .refused(let error)?: take(.failed(error), at: context(step, target))
    case nil:
      if let method = step.method?.takeUnretainedValue(), !method.runsElsewhere(on: target) {
        observer?.noteBegan(step, on: target, in: self)
        take(message.outcome(of: method, on: target), at: context(step, target))
        return nil
      }
      let attempt = attempt(step, on: target)
      if attempt.runsElsewhere, awaits, request.waitsInTask { return .target(attempt, step, target) }
      end(attempt, step, target)
    }
    return nil
  }

  /// Serves a target with automatic delivery synchronously, since the sender is on its context.
  private func serveHere(_ index: Int, _ step: RouteStep, _ queued: QueuedState, _ node: ProxyNode, awaits: Bool)
    -> Suspension?
  {
    var isCharged = false
    if let target = step.target, step.isActive, queued.beginTurn() {
      defer { queued.endTurn() }
      guard pay(.target, at: { $0.context(step, nil) }) else { return nil }
      let attempt = attempt(step, on: target)
      // A message for a suspending method is posted: the next message then waits for that method.
      guard attempt.suspends else {
        end(attempt, step, target)
        return nil
      }
      // On its context, a forwarding target is queried again: it may forward elsewhere by then.
      isCharged = true
    }
    // The method suspends, the target ended or was muted, or another thread is running the target.
    switch post(index, node, mayRunNow: false, awaits: awaits, isCharged: isCharged) {
    case .outcome(let outcome): takeQueued(outcome, step, node)
    case .needsRoom: return .room(node, step: index)
    case .nothing, .inTurn: break
    }
    return nil
  }

  /// Records the outcome of a queued step. A pending outcome does not retain the target.
  func takeQueued(_ outcome: StepOutcome, _ step: RouteStep, _ node: ProxyNode) {
    if case .queued = outcome { postedCount -= 1 }
    let target = request.listsEveryTarget && !outcome.isPending ? step.target : nil
    var outcome = outcome
    // The target was deallocated after the message was posted. It may have run before that.
    if request.listsEveryTarget, target == nil, case .queued(slot: -1) = outcome { outcome = .skipped(.dead) }
    take(outcome, at: StepContext(step, of: selector, in: node.path, target, isQueued: true))
  }

  private func attempt(_ step: RouteStep, on target: AnyObject) -> OutgoingMessage.Attempt {
    // Created on demand: only targets that get an `Invocation` can forward it.
    let earlier = message.trail
    func trail() -> ProxyTrail {
      let last = visits.count - 1
      let trail = visits[last].trail ?? node.path.trail(after: earlier)
      visits[last].trail = trail
      return trail
    }
    // The route retains the method.
    return message.attempt(step.method?.takeUnretainedValue(), on: target, trail: trail())
  }

  /// Ends an attempt synchronously. If the target is a multicast, its targets are next.
  private func end(_ attempt: OutgoingMessage.Attempt, _ step: RouteStep, _ target: AnyObject) {
    switch attempt {
    case .multicast(let multicast): return enter(multicast, target, step)
    case .over: break
    case .here, .elsewhere, .hook: observer?.noteBegan(step, on: target, in: self)
    }
    if let outcome = attempt.ended(&message) { take(outcome, at: context(step, target)) }
  }

  // MARK: - Nested proxies

  func begin() { enter(root, nil) }

  /// Pushes a visit of a proxy. The proxy's hooks run next, unless `runsHooks` is false. Without
  /// hooks, the proxy's queued steps are posted next, unless strict delivery order is required.
  func enter(_ node: ProxyNode, _ target: AnyObject?, runsHooks: Bool = true) {
    let hasHooksAhead = runsHooks && node.route.isSurrounded
    if !hasHooksAhead, let make = node.route.route.prelude?.makeObservers {
      let made = tree.add(make(), node.path, in: node, for: request, message.trail)
      do { try wait?.add(made.queuedTargets) } catch {
        push(made, target, hasHooksAhead: false, stop: nil)
        visits[visits.count - 1].progress.skipRest()
        return take(.failed(error), at: proxyContext)
      }
      return enter(made, target, runsHooks: false)
    }
    push(node, target, hasHooksAhead: hasHooksAhead, stop: nil)
    if hasHooksAhead { return }
    if let observer, !observer.payForProxy(node, in: self) { return }
    if let refusal = node.route.route.prelude?.refusal {
      visits[visits.count - 1].progress.skipRest()
      take(.failed(refusal), at: proxyContext)
    } else if !node.keepsOrder, tree.hasQueued, !wasPosted(node), !node.path.isNested || node.path.obstacle == nil {
      unposted.append((node, 0))
    }
  }

  /// Enters a multicast that a target returned when it was queried.
  private func enter(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) {
    let (inner, outer) = (multicast.beginMessage(selector), node)
    if let error = outer.path.refusal(of: inner, message.trail, count: tree.count, target) {
      return take(.failed(error), at: context(step, target))
    }
    let path = ProxyChain(inner.core, in: outer.path, by: step.registration.takeUnretainedValue())
    let found = tree.add(inner, path, in: outer, for: request, message.trail)
    do { try wait?.add(found.queuedTargets) } catch {
      return take(.failed(error), at: context(step, target))
    }
    enter(found, target)
  }

  private func push(
    _ node: ProxyNode, _ target: AnyObject?, hasHooksAhead: Bool, stop: DeliveryReport.SkipReason?
  ) {
    visits.append(
      Visit(
        node: node, target: target,
        progress: ProxyVisit(
          count: node.route.count, segments: node.plan?.segments, wholeType: node.route.route.loopType,
          stopsAtFirst: node.route.core.stopsAtFirst, stop: stop),
        hasHooksAhead: hasHooksAhead))
    if !hasHooksAhead, !node.unmatched.isEmpty { visited.append((node, stop)) }
  }

  /// Lists the targets of a proxy that the message does not enter.
  func list(_ node: ProxyNode, _ target: AnyObject?, as reason: DeliveryReport.SkipReason) {
    push(node, target, hasHooksAhead: false, stop: reason)
  }

  /// Skips a step and, if it is a proxy, its targets.
  private func skip(_ index: Int, _ node: ProxyNode, _ stop: DeliveryReport.SkipReason) {
    let step = node.route.steps[index]
    if step.queued != nil, case .outcome(let outcome)? = postedAhead(index, node) {
      return takeQueued(outcome, step, node)
    }
    let listsSteps = request.listsEveryTarget || stop.countsInside
    guard listsSteps || hasPosted(node) else { return visits[visits.count - 1].progress.skipRest() }
    let lists = listsSteps && !node.route.isOver(step)
    let target = step.target
    let own = step.obstacle ?? (target == nil ? .dead : nil)
    var reason = DeliveryReport.SkipReason.first(own, stop)
    if case .proxy(let child)? = node.child(at: index), lists && reason != .dead || hasPosted(child) {
      return list(child, target, as: reason)
    }
    guard lists else { return }
    // The message did not reach the target, so nothing has queried it yet.
    if reason == .withheld || reason == .stopped, step.method == nil, let target, !answers(target, selector) {
      reason = .doesNotRespond
    }
    take(.skipped(reason), at: reason == .dead ? context(step, nil) : skippedContext(step))
  }

  /// Removes the innermost visit, and records the outcome of a nested proxy in its outer proxy.
  private func leave(to base: Int) {
    let last = visits.count - 1
    if visits[last].node.route.route.prelude != nil { reportFailedObservers(visits[last].node) }
    let left = visits.removeLast()
    left.trail?.end()
    let notes = left.progress.notes
    if notes.dead + notes.skipped > 0 {
      left.node.route.core.end(left.node.route, dead: notes.dead, skipped: notes.skipped)
    }
    guard let place = place(of: left.node, left.target) else { return }
    if let stop = notes.stop {
      // If a report lists no target of the proxy, it lists the proxy itself.
      if notes.standing == .silent, request.listsEveryTarget, left.node.listsNothing {
        take(.skipped(.first(stop, .doesNotRespond)), at: place)
      }
    } else if notes.standing < .reached {
      takeSilence(left.node, isListed: notes.standing == .listed || !left.node.listsNothing, place)
    }
    if !visits.isEmpty, notes.standing > .silent { visits[visits.count - 1].progress.note(notes.standing) }
  }

  /// Records the outcome of a nested proxy in which no target got the message.
  private func takeSilence(_ node: ProxyNode, isListed: Bool, _ place: StepContext) {
    guard !outcomes.isEnough, !isSpent else { return }
    do {
      try node.route.core.answerSilence(selector)
      if !isListed || !request.listsEveryTarget { take(.skipped(.doesNotRespond), at: place) }
    } catch {
      // The error is reported at the inner proxy, whose handler gets it first.
      var inner = place
      (inner.proxies, inner.isOwn) = (node.path, true)
      take(.failed(error), at: inner)
    }
  }

  private func reportFailedObservers(_ node: ProxyNode) {
    for (target, error) in node.route.route.prelude?.failures ?? [] {
      take(.failed(error), at: StepContext(selector: selector, proxies: node.path, target: target))
    }
  }

  func abandonVisits(to depth: Int) {
    unposted = []
    while visits.count > depth { visits.removeLast().trail?.end() }
  }

  // MARK: - Outcomes

  func take(_ outcome: StepOutcome, at context: StepContext) {
    observer?.note(outcome, at: context, in: self)
    note(outcome)
    outcomes.add(outcome, at: context, scope.pending)
  }

  /// Records an outcome in the innermost visit. No visit exists while the outermost proxy's hooks
  /// run.
  func note(_ outcome: StepOutcome) {
    if !visits.isEmpty { visits[visits.count - 1].progress.note(outcome) }
  }

  func noteReached() { if !visits.isEmpty { visits[visits.count - 1].progress.note(.reached) } }

  /// Restores the outer visit's notes from before a hook call and, given a count, ``visited``.
  func restore(_ notes: ProxyVisit.Notes?, visited count: Int?) {
    if let notes { visits[visits.count - 1].progress.notes = notes }
    if let count { visited.removeLast(visited.count - count) }
  }

  func report(_ error: any Error) {
    root.path.report(
      MulticastFailure(selector: selector, receiver: route.core.name, registration: nil, error: error))
  }

  // MARK: - Trace and budget

  var isSpent: Bool { observer?.isSpent ?? false }

  /// Charges the message's budget, see ``DeliveryObserver/pay(_:_:in:at:)``.
  func pay(_ item: MessageBudget.Item, at context: (MessageDelivery) -> StepContext) -> Bool {
    observer?.pay(item, in: self, at: context) ?? true
  }

  /// Reports later steps to `trace`, unless the message already has a trace. Returns the trace to
  /// restore.
  func follow(_ trace: MessageTrace?) -> MessageTrace? {
    let outer = observer?.trace
    guard let trace, outer == nil else { return outer }
    if let observer { observer.trace = trace } else { observer = DeliveryObserver(trace, nil) }
    return nil
  }

  func endFollowing(restoring trace: MessageTrace?) {
    observer?.trace = trace
    if trace == nil, message.trail?.budget == nil { observer = nil }
  }

  // MARK: - Sites

  func context(_ step: RouteStep, _ target: AnyObject?) -> StepContext {
    StepContext(step, of: selector, in: node.path, target, isQueued: false)
  }

  func skippedContext(_ step: RouteStep) -> StepContext {
    context(step, request.listsEveryTarget ? step.target : nil)
  }

  /// The site of a nested proxy in its outer proxy; `nil` for the outermost proxy.
  func place(of node: ProxyNode, _ target: AnyObject?) -> StepContext? {
    guard node !== root, let outer = node.path.outer else { return nil }
    return StepContext(selector: selector, proxies: outer, registration: node.path.registration, target: target)
  }

  var proxyContext: StepContext {
    place(of: node, visits[visits.count - 1].target) ?? StepContext(selector: selector, proxies: node.path)
  }
}
