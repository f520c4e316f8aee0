// MulticastSending+Waiting.swift: messages whose sender waits, suspended or blocked.
// Layer: Proxy. See DESIGN.md, "Waiting".

extension MulticastSending {
  /// Sends a message to every target, one after another in the caller's isolation, and makes one result of the answers.
  ///
  /// For targets that are not `Sendable`, which are all direct. Answers are taken in the order of delivery.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: the first error of a target, after the others have answered; `CancellationError` when the task is
  ///   cancelled before anything was sent; `nobodyResponds` where silence is an error.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = TypedArguments(Arguments(values: (repeat each arguments)), returning: R.self, crosses: false)
    return try await collectWaiting(route, typed, policy).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every live, unmuted target that responds, waits for all, and makes one result of the answers.
  ///
  ///     let seen = try await members.collectAndWait(.unread, returning: .sum)
  ///
  /// Answers are taken in the order of delivery. Direct targets run in the caller's turn, one after another, methods
  /// that
  /// suspend included. A target that is removed or dies meanwhile is not waited for. Buffers that suspend their senders
  /// are waited for before anything is sent.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: the first error of a target, after the others have answered; `isolationMismatch` for an answer of
  ///   another
  ///   context whose row did not promise that it is `Sendable`; `CancellationError` when the task is cancelled, which
  /// takes
  ///   back nothing that was sent; `nobodyResponds` where silence is an error; `wouldDeadlock` in a method of a
  /// target that
  ///   would be waited for.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = TypedArguments(Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
    return try await collectWaiting(route, typed, policy).get()
  }

  /// Sends a message as ``MulticastSending/collectAndWait(_:_:returning:)-10zfp`` does, and blocks the caller until
  /// all have answered.
  ///
  /// A method that suspends cannot be waited for when its delivery is direct: it fails with `isolationMismatch`.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  ///   - timeout: how long to wait at most.
  /// - Throws: also `wouldDeadlock`, before anything is sent, when the caller is on a context that it would wait for;
  ///   and
  ///   `timedOut`, naming who did not answer. Their messages stay sent.
  public func collect<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    let route = beginMessage(message.selector)
    let typed = TypedArguments(Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
    return try collectBlocking(route, typed, policy, timeout).get()
  }

  /// Sends a message as a value, waits for all, and says what became of it at each target.
  ///
  /// `answers` has those of queued targets as well, in the order of delivery; nothing is left in `queued`. An answer
  /// of a
  /// queued target that is not known to be `Sendable` counts as a failure: see ``ArgumentBox/isSendable``.
  ///
  /// - Parameter invocation: the message.
  /// - Throws: as ``MulticastProxy/forward(_:)``, and as ``MulticastSending/collectAndWait(_:_:returning:)-10zfp``
  ///   for waiting. Errors of targets
  ///   are in the report.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardScheduled(beginMessage(invocation.selector), invocation)
  }

  /// Sends a message as ``forwardAndWait(_:)`` does, and blocks the caller until all have answered.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - timeout: how long to wait at most.
  /// - Throws: also `wouldDeadlock` and `timedOut`, as ``collect(_:_:returning:timeout:)``.
  public func forward(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    let route = beginMessage(invocation.selector)
    guard let (around, inside) = route.surrounded else { return try forwardBlocking(route, invocation, timeout) }
    try route.refuseCycle(invocation)
    return try around.report(inside, invocation) { try forwardBlocking(inside, $0, timeout) }
  }

  /// Sends a message as a value, blocks the caller until all have answered, and makes one result of the answers.
  ///
  /// A target that answers nothing, since its method returns `void`, adds nothing. A policy that may know its result
  /// early
  /// has the targets asked in the order of delivery, and takes nothing back that was queued.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - policy: what becomes of the answers.
  ///   - timeout: how long to wait at most.
  /// - Throws: as ``collect(_:returning:)``; also `wouldDeadlock`, before anything is sent, and `timedOut`; and
  ///   `isolationMismatch` for an answer of a queued target that is not known to be `Sendable`.
  public func collect<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output {
    let route = beginMessage(invocation.selector)
    guard let (around, inside) = route.surrounded else {
      return try collectBlocking(route, boxes: invocation, policy, timeout).get()
    }
    try route.refuseCycle(invocation)
    return try around.collect(inside, BoxedArguments(invocation), policy) {
      collectBlocking(inside, boxes: $0.invocation(inside.selector), $1, timeout)
    }.get()
  }

  /// Sends a message as a value, waits for all, and makes one result of the answers.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - policy: what becomes of the answers.
  /// - Throws: as ``collect(_:returning:)``, and as ``MulticastSending/collectAndWait(_:_:returning:)-10zfp`` for
  ///   waiting.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>
  ) async throws -> Output {
    let route = beginMessage(invocation.selector)
    guard let (around, inside) = route.surrounded else {
      return try await collectWaiting(route, boxes: invocation, policy).get()
    }
    try route.refuseCycle(invocation)
    return try await around.collectAndWait(inside, BoxedArguments(invocation), policy) {
      await collectWaiting(inside, boxes: $0.invocation(inside.selector), $1)
    }.get()
  }

  /// Broadcasts a message when every buffer that suspends its senders has room for it.
  ///
  /// Does not wait for the targets to run. Places are given out first come first served.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Throws: `CancellationError` when the task is cancelled before there is room; nothing is sent then.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    let route = beginMessage(message.selector)
    let typed = TypedArguments(Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
    return try await broadcastReady(route, typed)
  }
}

// Functions without packs: one that suspends after a pack was allocated must not return early (a defect of the compiler).

nonisolated(nonsending) func collectWaiting<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) async -> Collected<Output> {
  if let (around, inside) = route.surrounded {
    return await around.collectAndWait(inside, arguments, policy) { await collectWaiting(inside, $0, $1) }
  }
  var message = OutgoingMessage(route.selector, arguments, keepsAnswers: R.self != Void.self)
  message.isInOrder = policy.mayStopEarly
  var waited = WaitedMessage(message, along: route, into: PolicySink(policy, route))
  do {
    return try await waited.wait { $0.collected() }
  } catch {
    return Collected(waited.final.result, CollectFailure(error, route))
  }
}

nonisolated(nonsending) private func collectWaiting<Output>(
  _ route: MessageRoute, boxes invocation: Invocation, _ policy: ReturnPolicy<ArgumentBox, Output>
) async -> Collected<Output> {
  do {
    var message = try OutgoingMessage(waiting: invocation, along: route)
    message.isInOrder = policy.mayStopEarly
    var waited = WaitedMessage(message, along: route, into: PolicySink(boxes: policy, route))
    return try await waited.wait { $0.collected() }
  } catch {
    return Collected(policy.empty, CollectFailure(error, route))
  }
}

private func collectBlocking<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>, _ timeout: Duration
) -> Collected<Output> {
  if let (around, inside) = route.surrounded {
    return around.collect(inside, arguments, policy) { collectBlocking(inside, $0, $1, timeout) }
  }
  var message = OutgoingMessage(route.selector, arguments, keepsAnswers: R.self != Void.self)
  message.isInOrder = policy.mayStopEarly
  return collectBlocking(message, along: route, PolicySink(policy, route), timeout)
}

private func collectBlocking<Output>(
  _ route: MessageRoute, boxes invocation: Invocation, _ policy: ReturnPolicy<ArgumentBox, Output>, _ timeout: Duration
) -> Collected<Output> {
  do {
    var message = try OutgoingMessage(waiting: invocation, along: route)
    message.isInOrder = policy.mayStopEarly
    return collectBlocking(message, along: route, PolicySink(boxes: policy, route), timeout)
  } catch {
    return Collected(policy.empty, CollectFailure(error, route))
  }
}

private func collectBlocking<R, Output>(
  _ message: OutgoingMessage, along route: MessageRoute, _ sink: PolicySink<R, Output>, _ timeout: Duration
) -> Collected<Output> {
  var waited = WaitedMessage(message, along: route, into: sink)
  do { return try waited.block(timeout) { $0.collected() } } catch {
    return Collected(waited.final.result, CollectFailure(error, route))
  }
}

private func forwardBlocking(_ route: MessageRoute, _ invocation: Invocation, _ timeout: Duration) throws
  -> DeliveryReport
{
  let message = try OutgoingMessage(waiting: invocation, along: route)
  var waited = WaitedMessage(message, along: route, into: ReportSink())
  var report = try waited.block(timeout) { $0.report }
  report.dropped = waited.dropped
  return report
}

nonisolated(nonsending) package func forwardScheduled(_ route: MessageRoute, _ invocation: Invocation) async throws
  -> DeliveryReport
{
  if let (around, inside) = route.surrounded {
    try route.refuseCycle(invocation)
    return try await around.reportAndWait(inside, invocation) { try await forwardScheduled(inside, $0) }
  }
  let message = try OutgoingMessage(waiting: invocation, along: route)
  var waited = WaitedMessage(message, along: route, into: ReportSink())
  var report = try await waited.wait { $0.report }
  report.dropped = waited.dropped
  return report
}

nonisolated(nonsending) private func broadcastReady(_ route: MessageRoute, _ arguments: MessageArguments) async throws
  -> BroadcastSummary
{
  if let (around, inside) = route.surrounded {
    return try await around.broadcastAndWait(inside, arguments) { try await broadcastReady(inside, $0) }
  }
  let message = OutgoingMessage(route.selector, arguments, keepsAnswers: false)
  var schedule = MessageSchedule(message, along: route, into: SummarySink())
  try await schedule.reserveRoom()
  schedule.run()
  schedule.giveBackRoom()
  return schedule.summary
}
