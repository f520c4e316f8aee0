// OutcomeSinks.swift: what is made of the outcomes of one message.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

/// Takes the outcomes of one message, in the order of delivery, and makes the result of a verb.
protocol OutcomeSink {
  associatedtype Output

  /// Whether targets that do not get the message are to be told of as well.
  var listsEveryTarget: Bool { get }

  /// Takes one outcome. `false` when no further target is needed.
  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool

  /// Takes an answer that nobody wants.
  mutating func countDelivered()

  /// Whether answers are taken without asking where they come from.
  static var needsNoContexts: Bool { get }

  /// Takes an answer that came in the sender's turn, where ``needsNoContexts``.
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject)

  /// Says how many outcomes there will be at most.
  mutating func expect(_ count: Int)

  /// The result, once the walk has ended.
  ///
  /// - Parameter failure: what ended the message as a whole.
  consuming func end(_ walk: borrowing Walk, by failure: (any Error)?) -> Output
}

extension OutcomeSink {
  var listsEveryTarget: Bool { false }
  mutating func countDelivered() {}
  static var needsNoContexts: Bool { false }
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject) { countDelivered() }
  mutating func expect(_ count: Int) {}
}

// A broadcast: counts, and gives errors to the handlers of the proxies.
extension BroadcastSummary: OutcomeSink {
  mutating func countDelivered() { delivered += 1 }

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    switch outcome {
    case .answered: delivered += 1
    case .queued: queued += 1
    case .failed(let error):
      failed += 1
      context.report(error)
    // A target that does not respond was never to be reached, and what a buffer gave up is counted as dropped.
    case .skipped(.doesNotRespond), .skipped(.outOfScope), .skipped(.bufferFull): break
    case .skipped: skipped += 1
    }
    return true
  }

  /// What came of the broadcast; silence is answered as the proxy says. An error of hooks counts as one failure of the
  /// proxy.
  consuming func end(_ walk: borrowing Walk, by failure: (any Error)?) -> BroadcastSummary {
    if let failure {
      failed += 1
      walk.route.core.report(failure, walk.route.selector, nil, receiver: walk.route.core.name)
    }
    dropped = walk.dropped
    failed += walk.told
    if walk.reachesOnlyDead(self) { (skipped, queued) = (skipped + queued, 0) }
    if nobodyResponded, walk.isSilenceOpen { reportSilence(walk.route) }
    return self
  }
}

/// The same for a sender who waits for room in buffers, and can be thrown why there is none.
struct ReadySink: OutcomeSink {
  private var counts = BroadcastSummary()

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool { counts.take(outcome, at: context) }

  consuming func end(_ walk: borrowing Walk, by failure: (any Error)?) -> Result<BroadcastSummary, any Error> {
    if let failure, walk.failure == nil || failure is CancellationError { return .failure(failure) }
    return .success(counts.end(walk, by: failure))
  }
}

// A message that is forwarded: lists what became of it at each target.
extension DeliveryReport: OutcomeSink {
  var listsEveryTarget: Bool { true }

  static var needsNoContexts: Bool { true }

  @inline(__always)
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {
    answers.append(.init(target: target, result: consume answer))
    endsQueued = false
  }

  mutating func expect(_ count: Int) { answers.reserveCapacity(count) }

  /// The report; where the message ended as a whole, the handlers get what failed before.
  consuming func end(_ walk: borrowing Walk, by failure: (any Error)?) -> Result<DeliveryReport, any Error> {
    do {
      if let failure { throw failure }
      try walk.answerSilence()
    } catch {
      walk.route.core.report(failures[...], of: walk.route.selector)
      return .failure(error)
    }
    dropped = walk.dropped
    return .success(self)
  }

  @inline(never)
  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    // A target that died meanwhile is listed by its registration.
    var target: AnyObject? { context.target ?? context.registration?.currentTarget }
    var known: AnyObject { target ?? context.registration ?? context.proxies.core }
    switch outcome {
    case .answered(let result):
      answers.append(.init(target: known, result: result, wasQueued: context.isQueued))
      endsQueued = false
    case .queued:
      queued.append(known)
      endsQueued = true
    case .failed(let error):
      failures.append(.init(target: known, error: error))
      endsQueued = false
    case .skipped(let reason): skipped.append(.init(target: target, reason: reason))
    }
    return true
  }
}

/// Makes one result of the answers by a return policy.
struct PolicySink<R, Output>: OutcomeSink {
  private let collector: AnswerCollector<R, Output>
  private let policy: ReturnPolicy<R, Output>
  private let stopsAtFirst: Bool
  private let convert: (ArgumentBox?, StepContext) throws -> R?
  /// Errors in the order of delivery.
  private var errors: [(error: any Error, context: StepContext)] = []
  private var hasAnswer = false

  /// - Parameters:
  ///   - stopsAtFirst: whether the first error ends the message.
  ///   - convert: an answer as the policy takes it; `nil` adds nothing.
  init(
    _ policy: ReturnPolicy<R, Output>, stopsAtFirst: Bool,
    _ convert: @escaping (ArgumentBox?, StepContext) throws -> R?
  ) {
    (self.policy, self.stopsAtFirst, self.convert) = (policy, stopsAtFirst, convert)
    collector = policy.makeCollector()
  }

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    switch outcome {
    case .queued, .skipped: return true
    case .failed(let error):
      // Whether the message ends with it is for the walk to say: an error of another context comes too late.
      errors.append((error, context))
      return true
    case .answered(let box):
      do {
        guard let answer = try convert(box, context) else { return true }
        hasAnswer = true
        return try collector.take(answer)
      } catch {
        errors.append((error, context))
        return !stopsAtFirst
      }
    }
  }

  consuming func end(_ walk: borrowing Walk, by failure: (any Error)?) -> Collected<Output> {
    do {
      if let failure { throw failure }
      try walk.answerSilence()
      return collected()
    } catch {
      return collected(CollectFailure(error, walk.route))
    }
  }

  /// The result, and the first error unless the policy is content with an answer. Every other goes to the handlers.
  ///
  /// - Parameter whole: what ended the message as a whole.
  func collected(_ whole: CollectFailure? = nil) -> Collected<Output> {
    let isTold = whole != nil || policy.ignoresErrors && hasAnswer
    for (error, context) in errors.dropFirst(isTold ? 0 : 1) { context.report(error) }
    guard !isTold, let (error, context) = errors.first else { return Collected(collector.finish(), whole) }
    return Collected(collector.finish(), CollectFailure(error: error) { context.report(error) })
  }
}

extension PolicySink {
  /// A sink for typed answers.
  init(_ policy: ReturnPolicy<R, Output>, _ route: MessageRoute) {
    self.init(policy, stopsAtFirst: route.core.stopsAtFirst) { box, context in
      var answered = Invocation(context.selector)
      answered.result = box
      return try typedResult(of: answered, from: context.target ?? context.proxies.core) as R
    }
  }
}

extension PolicySink where R == ArgumentBox {
  /// A sink for answers in boxes; a target that answers nothing adds nothing.
  init(boxes policy: ReturnPolicy<R, Output>, _ route: MessageRoute) {
    self.init(policy, stopsAtFirst: route.core.stopsAtFirst) { box, _ in box }
  }
}
