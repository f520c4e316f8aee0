// Walk+Outcomes.swift: outcomes on their way from targets to the sink.

extension Walk {
  func take(_ outcome: StepOutcome, at context: StepContext) {
    if let trace = message.trace, context.registration != nil {
      trace.note(outcome, message.arguments, at: context, step: tracedStep)
      tracedStep = 0
    }
    note(outcome)
    put(outcome, context)
  }

  /// Notes an outcome in the frame, if there is one: hooks around the proxy that the message was sent to have none.
  func note(_ outcome: StepOutcome) {
    guard depth > 0 else { return }
    node.frame.isListed = true
    switch outcome {
    case .answered, .answeredAll, .queued, .skipped(.bufferFull): node.frame.reached = true
    case .failed: noteFailure()
    case .skipped: node.frame.skipped += 1
    }
  }

  /// Notes that somebody got the message in a proxy whose outcomes are not kept.
  func noteReached() {
    (node.frame.reached, node.frame.isListed) = (true, true)
  }

  func noteFailure() {
    (node.frame.reached, node.frame.failed) = (true, true)
    if node.route.core.stopsAtFirst { node.frame.stop = node.frame.stop ?? .stopped }
  }

  /// Passes an outcome to the sink, or keeps it while an earlier one is open or a hook may change it.
  func put(_ outcome: StepOutcome, _ context: StepContext) {
    toldCount += 1
    if hooksThatAsk == 0, log.isEmpty, isElsewhere || pending == nil || !outcome.isOpen {
      return give(outcome, context)
    }
    var kept = context
    // A kept answer does not retain its target, unless that is listed.
    if case .answered = outcome, context.registration != nil, !listsEveryTarget { kept.target = nil }
    log.append(Outcome(outcome, kept))
    if hooksThatAsk == 0 { return flush() }
    if outcome.isOpen { hasOpen = true }
    // Answers count in their order: those behind an open one cannot be enough.
    if !hasOpen, let probe, outcome.boxes.contains(where: probe) { isEnough = true }
  }

  /// Passes known outcomes to the sink, in order.
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
    if case .answeredAll(let answers) = outcome, answers.count > 0 {
      reached += answers.count
    } else if outcome.isReached {
      reached += 1
    }
    if isKnown {
      if case .failed(let error) = outcome { context.report(error) }
      return
    }
    if message.request.makeProbe != nil, hasHooks { given += outcome.boxes }
    if !accept(outcome, at: context) { (isKnown, isEnough) = (true, true) }
  }

  /// Recomputes whether the sender needs no further answer: hooks may have changed answers.
  func renewProbe() {
    guard let make = message.request.makeProbe, hooksThatAsk > 0 else { return (probe, isEnough) = (nil, isKnown) }
    settle()
    hasOpen = log.contains { $0.outcome.isOpen }
    let probe = make()
    isEnough = feed(probe, upTo: log.count) || isKnown
    self.probe = probe
  }

  /// Puts known outcomes of other contexts into the log, at the places kept for them.
  func settle() {
    guard let pending else { return }
    log.replaceSubrange(
      logStart...,
      with: log[logStart...].flatMap { found in
        if case .queued(let slot) = found.outcome, slot >= 0 { pending.settled(slot) ?? [found] } else { [found] }
      })
  }

  /// Gives a probe the answers up to a place of the log. `true` when they are enough.
  func feed(_ probe: (ArgumentBox) -> Bool, upTo end: Int) -> Bool {
    for answer in given where probe(answer) { return true }
    for found in log[..<end] {
      if found.outcome.isOpen { return false }
      if found.outcome.boxes.contains(where: probe) { return true }
    }
    return false
  }

  /// Charges the message's budget, and ends the message if that throws.
  @inline(never) func pay(_ item: MessageBudget.Item, _ count: Int = 1, at context: (Walk) -> StepContext) -> Bool {
    guard let budget = message.trail?.budget else { return true }
    do { try budget.charge(item, count) } catch {
      if !isSpent { take(.failed(error), at: context(self)) }
      isSpent = true
    }
    return !isSpent
  }

  // MARK: What a loop asks and tells

  /// What a loop does with answers of `type`; `nil` where they come in boxes.
  func answers(of type: Any.Type?) -> WalkLoop.Answers {
    if !message.request.asks { return .none }
    if takesPlain, !isQueued, message.request.keepsAnswers { return .plain }
    guard let type, taker?.type == type, givesAtOnce || !isQueued else { return .boxed }
    return message.request.makeProbe != nil && (hasHooks || !givesAtOnce) ? .boxed : .typed
  }

  /// Whether the sink gets an answer when it comes.
  private var givesAtOnce: Bool { hooksThatAsk == 0 && log.isEmpty }

  @usableFromInline
  var loopSteps: (first: UnsafeMutablePointer<RouteStep>, count: Int) {
    (node.route.steps + node.frame.index, node.frame.segmentEnd - node.frame.index)
  }

  /// Keeps plain answers; `nil` where the sink gets them at once.
  var lister: AnswerLister? {
    if givesAtOnce { return nil }
    let lister = AnswerLister()
    keeper = lister
    return lister
  }

  /// Notes how far a loop has come: the targets that it has not reported have run.
  ///
  /// - Parameter end: the place behind the last step that had its turn.
  @usableFromInline @inline(never)
  func endLoop(_ end: UnsafeMutablePointer<RouteStep>) {
    let (node, first) = (node, loopSteps.first)
    let ran = end - first - toldInLoop
    toldInLoop = 0
    node.frame.index += end - first
    guard ran > 0 else { return keeper = nil }
    (node.frame.reached, node.frame.isListed) = (true, true)
    if let keeper {
      self.keeper = nil
      let crosses = first.pointee.method?.takeUnretainedValue().resultCrosses ?? false
      return put(.answeredAll(keeper.kept(crosses: crosses)), proxyContext)
    }
    reached += ran
    countDelivered(ran)
  }

  @usableFromInline @inline(never)
  func noteKnown() { (isKnown, isEnough) = (true, true) }

  /// Takes typed answers for the sink, or keeps them.
  @usableFromInline
  func taker<R>(of type: R.Type) -> AnswerTaker<R> {
    if givesAtOnce, let taker { return unsafeDowncast(taker, to: AnswerTaker<R>.self) }
    let keeper = AnswerTaker<R>(nil)
    self.keeper = keeper
    return keeper
  }

  /// Skips the step before `end`, which is not to be served or whose target is dead. `false` when the loop is to end.
  @usableFromInline @inline(never)
  func miss(_ end: UnsafeMutablePointer<RouteStep>) -> Bool {
    let step = (end - 1).pointee
    toldInLoop += 1
    if listsEveryTarget { takeLeftOut(before: end - 1 - node.route.steps) }
    let own = step.obstacle ?? (step.target == nil ? .dead : nil)
    let reason = DeliveryReport.SkipReason.first(own, proxies.obstacle ?? own ?? .dead)
    if reason == .dead { node.frame.dead += 1 }
    if reason != .removed || !node.isListedElsewhere(step) {
      take(.skipped(reason), at: reason == .dead ? context(step, nil) : passedContext(step))
    }
    node.frame.stop = stopNow
    return node.frame.stop == nil
  }

  /// Takes the error of the step before `end`, and its target if that might die meanwhile. `false` when the loop is to end.
  @usableFromInline @inline(never)
  func fail(_ error: any Error, _ end: UnsafeMutablePointer<RouteStep>, _ target: AnyObject? = nil) -> Bool {
    let step = (end - 1).pointee
    toldInLoop += 1
    take(.failed(error), at: context(step, target ?? step.target))
    return node.frame.stop == nil && !isEnough
  }

  /// Takes an answer in a box. `false` when the loop is to end.
  @usableFromInline @inline(never)
  func take(_ answer: ArgumentBox, of target: AnyObject, _ step: RouteStep) -> Bool {
    let outcome = crossed(.answered(message.request.keepsAnswers ? answer : nil), step, target)
    toldInLoop += 1
    note(outcome)
    put(outcome, context(step, target))
    return node.frame.stop == nil && !isEnough
  }

  /// The outcome for a sender on another context: its answer must be known to be `Sendable`.
  func crossed(_ outcome: StepOutcome, _ step: RouteStep, _ target: AnyObject) -> StepOutcome {
    guard isQueued, case .answered(let answer) = outcome,
      !(step.method?.takeUnretainedValue().answers(to: nil) ?? false)
    else { return outcome }
    return OutgoingMessage.Attempt.crossing(answer, from: target, selector, wanted: message.request.keepsAnswers)
  }
}
