// MulticastSending+Waiting.swift: messages whose sender waits.

extension MulticastSending {
  /// Sends a message to the targets one after another, awaits their answers, and combines the
  /// answers by `policy` in delivery order.
  ///
  /// Use it for targets that are not `Sendable`. They run in the caller's isolation.
  ///
  /// - Throws: the first error of a target, after the other targets have answered;
  ///   `CancellationError` if the task is canceled before sending; `nobodyResponds` if
  ///   ``MulticastOptions/noResponder`` is `throw` and no target responds.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: false)
    return try await collectWaiting(route, typed, policy).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every live, unmuted target that responds, awaits all answers, and combines
  /// them by `policy`.
  ///
  ///     let seen = try await members.collectAndWait(.unread, returning: .sum)
  ///
  /// Answers are combined in delivery order. Direct targets run in the caller's isolation, one
  /// after another, even if they suspend. Removed or deallocated targets are not awaited. At a full
  /// buffer with `suspendSender`, the sender waits for capacity before it continues.
  ///
  /// - Throws: the first error of a target, after the other targets have answered;
  ///   `isolationMismatch` for an answer that comes from another context and is not known to be
  ///   `Sendable`;
  ///   `CancellationError` if the task is canceled (messages already sent are still delivered);
  ///   `nobodyResponds` if ``MulticastOptions/noResponder`` is `throw` and no target responds;
  ///   `wouldDeadlock` if the call would wait for the method that makes the call.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await collectWaiting(route, typed, policy).get()
  }

  /// Like `collectAndWait(_:_:returning:)`, with a timeout. `clock` measures the timeout, for
  /// example a `TestClock`; `nil` is the continuous clock.
  ///
  /// At the timeout, the call ends immediately. Asynchronous methods of direct targets are
  /// canceled, and the other targets still get the message. Later errors go to `onError`.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration, clock: (any Clock<Duration>)? = nil
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await route.core.timed(
      timeout, clock, route.selector, isolation: #isolation, late: { $0.failure?.reportLate() }
    ) { await collectWaiting(route, typed, policy) }.get()
  }

  /// Like `collectAndWait(_:_:returning:)`, but blocks the calling thread, at most for `timeout`.
  ///
  /// Direct targets whose method suspends fail with `isolationMismatch`.
  ///
  /// - Throws: also `wouldDeadlock`, before anything is sent, if the caller is on a context that
  ///   the call would wait for, or if such a context is waiting for the caller's context;
  ///   `timedOut`, naming the targets that did not answer. Their messages are still delivered.
  @available(*, noasync, message: "it blocks the thread; use collectAndWait(_:returning:timeout:)")
  public func collectBlocking<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try OutgoingMessage(asking: policy, typed, along: route)
      .send(along: route, into: PolicySink(policy, route), waiting: .blocking(Patience(timeout))).get()
  }

  /// Sends a boxed message, awaits all targets, and reports the outcome of each.
  ///
  /// In the report, `answers` includes the answers of queued targets, and `queued` is empty. A
  /// queued target's answer that is not `Sendable` is a failure, see ``ArgumentBox/isSendable``.
  ///
  /// - Throws: as ``MulticastProxy/forward(_:)``; also the errors that end the wait, as
  ///   `collectAndWait(_:_:returning:)`. Errors of targets are in the report.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self as AnyObject)
  }

  /// Like ``forwardAndWait(_:)``, with a timeout. `clock` measures the timeout; `nil` is the
  /// continuous clock.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func forwardAndWait(
    _ invocation: Invocation, timeout: Duration, clock: (any Clock<Duration>)? = nil
  ) async throws -> DeliveryReport {
    let route = beginMessage(invocation.selector)
    return try await route.core.timed(
      timeout, clock, route.selector, isolation: #isolation,
      late: { route.core.report($0.failures[...], of: route.selector) }
    ) { try await forwardBoxedAndWait(route, invocation, by: self as AnyObject) }
  }

  /// Like ``forwardAndWait(_:)``, but blocks the caller, for at most `timeout`.
  ///
  /// - Throws: also `wouldDeadlock` and `timedOut`, as ``collectBlocking(_:_:returning:timeout:)``.
  @available(*, noasync, message: "it blocks the thread; use forwardAndWait(_:timeout:)")
  public func forwardBlocking(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    let route = beginMessage(invocation.selector)
    var report = try OutgoingMessage(invocation, asks: true, along: route)
      .send(along: route, into: DeliveryReport(), waiting: .blocking(Patience(timeout))).get()
    report.nameProxy(self as AnyObject, of: route)
    return report
  }

  /// Sends a boxed message, blocks the caller for at most `timeout`, and combines all answers.
  ///
  /// A `Void` method answers a box of `()`. If the policy can end the message early, targets run
  /// in strict delivery order. After a timeout, queued messages are still delivered.
  ///
  /// - Throws: as ``collect(_:returning:)``; also `wouldDeadlock` (before anything is sent),
  ///   `timedOut`, and `isolationMismatch` for a queued target's answer that is not `Sendable`.
  @available(*, noasync, message: "it blocks the thread; use collectAndWait(_:returning:timeout:)")
  public func collectBlocking<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output {
    let route = beginMessage(invocation.selector)
    return try OutgoingMessage(invocation, asking: policy, along: route)
      .send(along: route, into: PolicySink(boxes: policy, route.core), waiting: .blocking(Patience(timeout))).get()
  }

  /// Sends a boxed message, awaits all targets, and combines the answers by `policy`.
  ///
  /// - Throws: as ``collect(_:returning:)``; also the errors that end the wait, as
  ///   `collectAndWait(_:_:returning:)`.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>
  ) async throws -> Output {
    let route = beginMessage(invocation.selector)
    return try await OutgoingMessage(invocation, asking: policy, along: route)
      .sendAndWait(along: route, into: PolicySink(boxes: policy, route.core)).get()
  }

  /// Like `collectAndWait(_:returning:)`, with a timeout. `clock` measures the timeout; `nil` is
  /// the continuous clock.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration,
    clock: (any Clock<Duration>)? = nil
  ) async throws -> Output {
    let route = beginMessage(invocation.selector)
    return try await route.core.timed(
      timeout, clock, route.selector, isolation: #isolation, late: { $0.failure?.reportLate() }
    ) {
      try await OutgoingMessage(invocation, asking: policy, along: route)
        .sendAndWait(along: route, into: PolicySink(boxes: policy, route.core))
    }.get()
  }

  /// Broadcasts a message, and waits for capacity at each full buffer with `suspendSender`. Waiting
  /// senders continue in the order of their calls. While a sender waits, it holds no slots of other
  /// buffers. The call does not wait for the targets to run.
  ///
  /// - Throws: `CancellationError` if the task is canceled before any target has the message;
  ///   `cancelled`, with the number of targets that have the message, if the task is canceled
  ///   later.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await OutgoingMessage(route.selector, typed, DeliveryRequest()).broadcastWhenReady(along: route)
  }

  /// Like `broadcastWhenReady(_:_:)`, with a timeout for the whole call. `clock` measures the
  /// timeout; `nil` is the continuous clock.
  ///
  /// - Throws: also `timedOut`. Targets that already have the message still run it.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, timeout: Duration,
    clock: (any Clock<Duration>)? = nil
  ) async throws -> BroadcastSummary {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await route.core.timed(timeout, clock, route.selector, isolation: #isolation) {
      try await OutgoingMessage(route.selector, typed, DeliveryRequest()).broadcastWhenReady(along: route)
    }
  }
}

// MARK: - Deprecated names

extension MulticastSending where Interface: Sendable {
  /// Renamed to ``collectBlocking(_:_:returning:timeout:)``.
  @available(*, deprecated, renamed: "collectBlocking")
  public func collect<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    try collectBlocking(message, repeat each arguments, returning: policy, timeout: timeout)
  }

  /// Renamed to ``collectBlocking(_:returning:timeout:)``.
  @available(*, deprecated, renamed: "collectBlocking")
  public func collect<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output { try collectBlocking(invocation, returning: policy, timeout: timeout) }

  /// Renamed to ``forwardBlocking(_:timeout:)``.
  @available(*, deprecated, renamed: "forwardBlocking")
  public func forward(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    try forwardBlocking(invocation, timeout: timeout)
  }
}

extension MulticastCore {
  /// Runs `body` for at most `timeout`, see ``TimedWait``. If it ends late, `late` gets its result.
  func timed<T>(
    _ timeout: Duration, _ clock: (any Clock<Duration>)?, _ selector: MessageSelector, isolation: isolated (any Actor)?,
    late: @escaping (T) -> Void = { _ in }, _ body: nonisolated(nonsending) @escaping () async throws -> T
  ) async throws -> T {
    try await TimedWait.run(
      timeout, clock, of: self, selector, isolation: isolation,
      late: { if case .success(let result) = $0 { late(result) } }, body)
  }
}
