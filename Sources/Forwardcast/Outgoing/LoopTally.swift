// LoopTally.swift: counts and reports what typed loops did not serve.

/// Counts the targets that a typed loop did not serve. Only outlined calls change the counts, which
/// keeps them out of the loop's registers.
@usableFromInline
struct LoopTally: ~Copyable {
  @usableFromInline let visit: MessageVisit
  /// True if the arguments are `Sendable`, so other contexts may read them.
  @usableFromInline let crosses: Bool
  // 32-bit counts are cheap to set to zero for each message.
  private var dead: Int32 = 0
  private var failed: Int32 = 0
  /// The number of unserved steps: the target was dead, queued or skipped, or its method failed.
  @usableFromInline var unserved: Int32 = 0
  /// For automatic steps whose targets another thread was running: the numbers of queued messages,
  /// of messages that a full buffer refused, and of messages that the buffers dropped.
  private var (queued, refused, dropped): (Int32, Int32, Int32) = (0, 0, 0)
  /// The number of steps whose registration ended before the message began.
  private var over: Int32 = 0

  @export(implementation) @inline(__always)
  init(_ visit: consuming MessageVisit, crosses: Bool) {
    self.visit = visit
    self.crosses = crosses
  }

  @usableFromInline @inline(never)
  mutating func miss(_ end: UnsafeMutablePointer<RouteStep>) {
    let step = (end - 1).pointee
    unserved += 1
    if step.registration._withUnsafeGuaranteedRef({ $0.ended(before: visit.begun) }) {
      over += 1
    } else if step.isActive, step.target == nil {
      dead += 1
    }
  }

  /// Calls the target of the automatic step before `end`. Returns `nil` if the target did not run.
  @export(implementation) @inline(never)
  mutating func callHere<R, each A>(
    _ end: UnsafeMutablePointer<RouteStep>, _ arguments: Arguments<repeat each A>, returning: R.Type
  ) throws -> R? {
    let step = (end - 1).pointee
    guard step.isActive else { return nil }
    guard step.beginTurn() else {
      return try deliverAlone(step, arguments.packed(returning: R.self, crosses: crosses)) as R?
    }
    defer { step.endTurn() }
    return try step.call(arguments, returning: R.self)
  }

  /// Sends the message to one target. Queues the message if another thread is running the target.
  @usableFromInline @inline(never)
  mutating func deliverAlone<R>(_ step: RouteStep, _ arguments: MessageArguments) throws -> R? {
    let route = visit.kept.route.only(step.registration.takeUnretainedValue())
    let request = DeliveryRequest(result: .answers, keepsAnswers: R.self != Void.self)
    let sink = OutgoingMessage(route.selector, arguments, request)
      .send(along: MessageRoute(route, count: route.count), into: SingleOutcome())
    dropped += Int32(clamping: sink.dropped)
    switch sink.outcome {
    case .answered(let box): return box?.uncheckedExactly(R.self) ?? () as? R
    case .failed(let error): throw error
    case .queued: queued += 1
    case .skipped(.bufferFull): refused += 1
    default: break
    }
    return nil
  }

  /// Counts a target's error. Returns false if the message ends.
  @usableFromInline @inline(never)
  mutating func fail() -> Bool {
    unserved += 1
    failed += 1
    return !visit.core.stopsAtFirst
  }

  @usableFromInline @inline(never)
  mutating func fail(_ error: any Error, _ end: UnsafeMutablePointer<RouteStep>) -> Bool {
    let core = visit.core
    core.report(error, visit.kept.selector, (end - 1).pointee)
    return fail()
  }

  /// The summary of a broadcast with unserved steps. `end` follows the last step of the loop.
  @usableFromInline @inline(never)
  func unusualSummary(_ end: UnsafeMutablePointer<RouteStep>) -> BroadcastSummary {
    let (route, count) = (cleanUp(), end - visit.steps)
    var summary = BroadcastSummary(delivered: count - Int(unserved), queued: Int(queued), failed: Int(failed))
    (summary.skipped, summary.dropped) = (Int(missed - over), Int(dropped))
    if summary.nobodyResponded { reportSilence(route) }
    return summary
  }

  private var missed: Int32 { unserved - failed - queued - refused }

  private func cleanUp() -> MessageRoute {
    let route = visit.kept
    if missed > 0 { route.core.end(route, dead: Int(dead), skipped: Int(missed - dead)) }
    return route
  }

  /// The first error of a `collect`; `nil` if the policy ignores errors and a target answered.
  ///
  /// A message that ran on no target fails for one of two reasons. If it was queued, or refused by
  /// a full buffer, the error is `notAwaited`, unless the method returns nothing (`isAnswered` is
  /// false). If not, the error is `nobodyResponds`, if ``MulticastOptions/noResponder`` is `throw`.
  @export(implementation) @inline(__always)
  func failure(_ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool, isAnswered: Bool) -> CollectFailure? {
    unserved == 0
      ? nil : unusualFailure(errors, reachedAny: reachedAny, ignoresErrors: ignoresErrors, isAnswered: isAnswered)
  }

  @usableFromInline @inline(never)
  func unusualFailure(_ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool, isAnswered: Bool)
    -> CollectFailure?
  {
    let route = cleanUp()
    if let errors { return errors.failure(route, isContent: ignoresErrors && reachedAny) }
    let unasked = Int(queued) + Int(refused)
    if !reachedAny, unasked > 0 {
      guard isAnswered else { return nil }
      return CollectFailure(MessageError.notAwaited(route.selector, by: route.core, count: unasked), route)
    }
    return reachedAny ? nil : .silence(route)
  }
}

/// Applies the proxy's `noResponder` option to a broadcast.
@usableFromInline
func reportSilence(_ route: MessageRoute) {
  do { try route.core.answerSilence(route.selector) } catch {
    route.core.report(error, route.selector, nil, receiver: route.core.name)
  }
}

extension CollectFailure {
  @usableFromInline
  init(_ error: any Error, _ route: MessageRoute) {
    self.init(error: error) { route.core.report(error, route.selector, nil, receiver: route.core.name) }
  }

  /// Applies the `noResponder` option. Returns `nobodyResponds` if the option is `throw`.
  @inline(never) static func silence(_ route: MessageRoute) -> CollectFailure? {
    do {
      try route.core.answerSilence(route.selector)
      return nil
    } catch {
      return CollectFailure(error, route)
    }
  }
}

@usableFromInline
struct StepErrors {
  private var list: [(error: any Error, step: RouteStep)] = []

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func add(_ error: any Error, _ step: RouteStep) { list.append((error, step)) }

  func failure(_ route: MessageRoute, isContent: Bool) -> CollectFailure? {
    for (error, step) in list.dropFirst(isContent ? 0 : 1) { route.core.report(error, route.selector, step) }
    guard !isContent, let first = list.first else { return nil }
    return CollectFailure(error: first.error) { route.core.report(first.error, route.selector, first.step) }
  }
}

private struct SingleOutcome: OutcomeSink {
  private(set) var outcome: StepOutcome?
  private(set) var dropped = 0

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    self.outcome = outcome
    return true
  }

  consuming func end(_ delivery: MessageDelivery, by failure: (any Error)?) -> SingleOutcome {
    dropped = delivery.outcomes.dropped
    return self
  }
}
