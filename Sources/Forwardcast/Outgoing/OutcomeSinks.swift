// OutcomeSinks.swift: turns the outcomes of one message into a result.

/// Consumes the outcomes of one message in delivery order and makes the result.
protocol OutcomeSink {
  associatedtype Output

  /// True if the result lists every registration, including skipped ones.
  var listsEveryTarget: Bool { get }

  /// Consumes one outcome. Returns false if no further target is needed.
  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool

  /// True if answers are consumed without their sites.
  static var needsNoContexts: Bool { get }

  /// Consumes an answer of a direct target, see ``needsNoContexts``.
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject)

  mutating func expect(_ count: Int)

  var taker: TypedTaker? { get }

  associatedtype Queue: ResultQueue<Self> = ResultQueue<Self>

  /// The result of the ended message; `failure` is the error that ended the whole message.
  consuming func end(_ delivery: MessageDelivery, by failure: (any Error)?) -> Output
}

extension OutcomeSink {
  var listsEveryTarget: Bool { false }
  static var needsNoContexts: Bool { false }
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {}
  mutating func expect(_ count: Int) {}
  var taker: TypedTaker? { nil }
}

/// The outcome queue of one message, with the sink that makes its result.
class ResultQueue<Sink: OutcomeSink>: OutcomeQueue {
  @exclusivity(unchecked) final var sink: Sink

  required init(_ sink: Sink, _ request: DeliveryRequest, _ tree: ProxyTree) {
    self.sink = sink
    super.init(sink.taker, takesPlain: Sink.needsNoContexts, request, hasHooks: tree.hasHooks)
  }

  override func accept(_ outcome: StepOutcome, at context: StepContext) -> Bool { sink.take(outcome, at: context) }
  override func accept(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {
    sink.take(answer, of: target)
  }
}

/// The queue of a report. Its overrides are specialized for the sink, unlike generic methods.
final class ReportQueue: ResultQueue<DeliveryReport> {
  override func accept(_ outcome: StepOutcome, at context: StepContext) -> Bool { sink.take(outcome, at: context) }
  override func accept(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {
    sink.take(answer, of: target)
  }
}

/// Reports the errors of a broadcast, whose result is the queue's counts.
struct SummarySink: OutcomeSink {
  /// Unused. The thread sanitizer crashes when it checks an `inout` access to an empty type.
  private let padding: UInt8 = 0

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    if case .failed(let error) = outcome { context.report(error) }
    return true
  }

  /// The counts. An error of the hooks counts as one failure. Applies the `noResponder` option.
  consuming func end(_ delivery: MessageDelivery, by failure: (any Error)?) -> BroadcastSummary {
    let counts = delivery.outcomes.counts
    var summary = counts.summary
    summary.dropped = delivery.outcomes.dropped
    if let failure {
      summary.failed += 1
      delivery.report(failure)
    } else if counts.reached == 0 {
      do { try delivery.answerSilence() } catch { delivery.report(error) }
    }
    return summary
  }
}

extension DeliveryReport: OutcomeSink {
  typealias Queue = ReportQueue

  var listsEveryTarget: Bool { true }

  static var needsNoContexts: Bool { true }

  @inline(__always)
  mutating func take(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {
    // For one element, a literal is cheaper than reserving capacity.
    if answers.capacity == 0 {
      answers = [.init(target: target, result: consume answer)]
    } else {
      answers.append(.init(target: target, result: consume answer))
    }
    endsQueued = false
  }

  mutating func expect(_ count: Int) { if count > 1 { answers.reserveCapacity(count) } }

  /// The report. If an error ended the whole message, earlier failures go to the handlers.
  consuming func end(_ delivery: MessageDelivery, by failure: (any Error)?) -> Result<DeliveryReport, any Error> {
    do {
      if let failure { throw failure }
      if delivery.outcomes.counts.reached == 0 { try delivery.answerSilence() }
    } catch {
      delivery.route.core.report(failures[...], of: delivery.selector)
      return .failure(error)
    }
    dropped = delivery.outcomes.dropped
    return .success(self)
  }

  @inline(never)
  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    // A deallocated target is identified by its registration.
    var target: AnyObject? { context.target ?? context.registration?.currentTarget }
    var known: AnyObject { target ?? context.registration ?? context.proxies.core }
    switch outcome {
    case .answered(let result):
      var answer = Answer(target: known, result: result, wasQueued: context.isQueued)
      answer.isOwn = context.isOwn
      answers.append(answer)
      endsQueued = false
    case .answeredAll(let all):
      let list =
        (all as? ListedAnswers)?.list
        ?? all.boxes.map { Answer(target: known, result: $0, wasQueued: context.isQueued) }
      if answers.isEmpty { answers = list } else { answers += list }
      endsQueued = false
    case .queued:
      queued.append(known)
      endsQueued = true
    case .failed(let error):
      var failure = Failure(target: known, error: error)
      failure.tell = { context.report(error) }
      failures.append(failure)
      endsQueued = false
    case .skipped(let reason): skipped.append(.init(target: target, reason: reason))
    }
    return true
  }
}

/// Combines the answers of one `collect` by its return policy.
struct PolicySink<R, Output>: OutcomeSink {
  private let collector: AnswerCollector<R, Output>
  private let ofType: AnswerTaker<R>?
  private let policy: ReturnPolicy<R, Output>
  private let stopsAtFirst: Bool
  private let convert: (ArgumentBox?, StepContext) throws -> R?
  private var errors: [(error: any Error, context: StepContext)] = []
  private var hasAnswer = false

  /// - Parameter convert: converts an answer for the policy. `nil` omits the answer.
  init(
    _ policy: ReturnPolicy<R, Output>, _ collector: AnswerCollector<R, Output>? = nil, stopsAtFirst: Bool,
    isTyped: Bool,
    _ convert: @escaping (ArgumentBox?, StepContext) throws -> R?
  ) {
    (self.policy, self.stopsAtFirst, self.convert) = (policy, stopsAtFirst, convert)
    let collector = collector ?? policy.makeCollector()
    self.collector = collector
    ofType = isTyped ? AnswerTaker(collector.take) : nil
  }

  var taker: TypedTaker? { ofType }

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    switch outcome {
    case .queued, .skipped: return true
    case .failed(let error):
      // ``ProxyVisit`` decides whether an error ends the message. For errors from other contexts,
      // `MessageDelivery.obstacle` decides.
      errors.append((error, context))
      return true
    case .answered(let box): return take(box, at: context)
    case .answeredAll(let answers):
      guard let list = answers.list(of: R.self) else {
        return answers.boxes.allSatisfy { take($0, at: context) }
      }
      hasAnswer = hasAnswer || !list.isEmpty
      // Iterates by index, since an iterator requests metadata of an optional in each step.
      for index in list.indices {
        do { if try !collector.take(list[index]) { return false } } catch {
          errors.append((error, context))
          if stopsAtFirst { return false }
        }
      }
      return true
    }
  }

  private mutating func take(_ box: ArgumentBox?, at context: StepContext) -> Bool {
    taking(at: context) { sink in
      guard let answer = try sink.convert(box, context) else { return true }
      sink.hasAnswer = true
      return try sink.collector.take(answer)
    }
  }

  private mutating func taking(at context: StepContext, _ body: (inout Self) throws -> Bool) -> Bool {
    do { return try body(&self) } catch {
      errors.append((error, context))
      return !stopsAtFirst
    }
  }

  consuming func end(_ delivery: MessageDelivery, by failure: (any Error)?) -> CollectResult<Output> {
    let counts = delivery.outcomes.counts
    do {
      if let failure { throw failure }
      // A message whose methods all return `void` expects no answer.
      if counts.reached == 0, !delivery.outcomes.hasRun {
        try delivery.answerSilence()
      } else if counts.ran == 0, !delivery.outcomes.hasRun, R.self != Void.self,
        R.self != ArgumentBox.self || delivery.root.hasQueued({ $0.mayAnswer(delivery.selector) })
      {
        throw MessageError.notAwaited(
          delivery.selector, by: delivery.route.core, count: counts.unanswered,
          isRefused: delivery.request.waitsForAnswers)
      }
      // Full buffers have refused the message for some targets, whose answers are missing.
      return collected(lacksAnswers: delivery.request.waitsForAnswers && counts.refused > 0)
    } catch { return collected(CollectFailure(error: error) { delivery.report(error) }) }
  }

  /// The result, with the error that ended the message (`whole`) or otherwise the first error of a
  /// target. If the policy ignores errors and there is an answer, no target's error is used.
  /// All other errors go to the handlers.
  func collected(_ whole: CollectFailure? = nil, lacksAnswers: Bool = false) -> CollectResult<Output> {
    let hasAnswer = hasAnswer || ofType?.hasAnswer ?? false
    let isTold = whole != nil || policy.ignoresErrors && hasAnswer
    for (error, context) in errors.dropFirst(isTold ? 0 : 1) { context.report(error) }
    var failure = whole
    if !isTold, let (error, context) = errors.first {
      failure = CollectFailure(error: error) { context.report(error) }
    }
    return policy.result(collector.finish(), failure, lacksAnswers: lacksAnswers)
  }
}

extension PolicySink {
  /// A sink for typed answers. `collector` is the policy's collector; `nil` to create one here.
  init(_ policy: ReturnPolicy<R, Output>, _ route: MessageRoute, _ collector: AnswerCollector<R, Output>? = nil) {
    self.init(policy, collector, stopsAtFirst: route.core.stopsAtFirst, isTyped: true) { box, context in
      if let box, box.holds(R.self) { return box.uncheckedExactly(R.self) }
      var answered = Invocation(context.selector)
      answered.result = box
      return try typedResult(of: answered, from: context.answerer) as R
    }
  }
}

extension PolicySink where R == ArgumentBox {
  /// A sink for boxed answers. The answer of a `Void` method is a box of `()`.
  init(boxes policy: ReturnPolicy<R, Output>, _ core: MulticastCore) {
    self.init(policy, stopsAtFirst: core.stopsAtFirst, isTyped: false) { box, _ in box }
  }
}

extension RouteStep {
  /// True if the method returns a value, or its signature is unknown.
  fileprivate func mayAnswer(_ selector: MessageSelector) -> Bool {
    let signature =
      method?.takeUnretainedValue().signature ?? target.flatMap { Forwardcast.signature(of: $0, selector) }
    return signature?.returnType.kind != .void
  }
}

extension MessageError {
  /// The error of a `collect` that gets no answer, because all targets are queued and not awaited.
  /// With `isRefused`, the reason is that the targets' buffers are full.
  static func notAwaited(_ selector: MessageSelector, by core: MulticastCore, count: Int, isRefused: Bool = false)
    -> MessageError
  {
    return MessageError(
      .notAwaited, receiver: core.name, selector: selector.name,
      evidence: isRefused
        ? (count == 1 ? "the buffer of 1 target was full" : "the buffers of \(count) targets were full")
          + ", and no other target responded; send again later, or add the targets with a larger buffer"
        : (count == 1
          ? "1 target runs on its own queue or actor, so a synchronous call cannot wait for its answer"
          : "\(count) targets run on their own queues or actors, so a synchronous call cannot wait for their answers")
          + "; make the requirement async or call collectAndWait")
  }
}
