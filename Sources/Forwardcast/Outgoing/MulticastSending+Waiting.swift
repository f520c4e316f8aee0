// MulticastSending+Waiting.swift: messages whose sender waits.

extension MulticastSending {
  /// Sends a message to the targets one after another in the caller's isolation, waits, and combines the answers by `policy`, in
  /// the order of delivery.
  ///
  /// For targets that are not `Sendable`, which are all direct.
  ///
  /// - Throws: the first error of a target, after the others have answered; `CancellationError` when the task is cancelled
  ///   before anything was sent; `nobodyResponds` where silence is an error.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: false)
    return try await collectWaiting(route, typed, policy).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every live, unmuted target that responds, waits for all, and combines the answers by `policy`.
  ///
  ///     let seen = try await members.collectAndWait(.unread, returning: .sum)
  ///
  /// Answers are taken in the order of delivery. Direct targets run in the caller's turn, one after another, including suspending
  /// methods. Targets that are removed or die meanwhile are not waited for. At a full buffer that
  /// suspends senders the message waits for room, after it was posted to the targets before.
  ///
  /// - Throws: the first error of a target, after the others have answered; `isolationMismatch` for an answer of another context
  ///   that its row does not promise to be `Sendable`; `CancellationError` when the task is cancelled, which takes back nothing
  ///   that was sent; `nobodyResponds` where silence is an error; `wouldDeadlock` in a method of a target that would be waited for.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await collectWaiting(route, typed, policy).get()
  }

  /// As `collectAndWait(_:_:returning:)`, and waits at most for `timeout`.
  ///
  /// When the time is up, the call ends at once: suspending methods of direct targets are
  /// cancelled, and the other targets still get the message. Their errors go to `onError`.
  ///
  /// `clock` measures the timeout, such as a `TestClock`; `nil` is the continuous clock.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration, clock: (any Clock<Duration>)? = nil
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await route.core.timed(timeout, clock, route.selector, isolation: #isolation) {
      try await collectWaiting(route, typed, policy).get()
    }
  }

  /// As `collectAndWait(_:_:returning:)`, but blocks the caller until all have answered, at most for `timeout`.
  ///
  /// A suspending method of a direct target cannot be waited for: it fails with `isolationMismatch`.
  ///
  /// - Throws: also `wouldDeadlock`, before anything is sent, when the caller is on a context that it
  ///   would wait for, or such a context waits for the caller's; `timedOut`, naming the targets that
  ///   did not answer. Their messages stay sent.
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

  /// Sends a boxed message, waits for all targets, and reports the outcome at each.
  ///
  /// `answers` includes those of queued targets, in the order of delivery; `queued` is empty. A queued target's answer that is not
  /// known to be `Sendable` is a failure: see ``ArgumentBox/isSendable``.
  ///
  /// - Throws: as ``MulticastProxy/forward(_:)``, and as `collectAndWait(_:_:returning:)` for waiting. Errors of targets are in
  ///   the report.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self as AnyObject)
  }

  /// As ``forwardAndWait(_:)``, and waits at most for `timeout`.
  ///
  /// `clock` measures the timeout; `nil` is the continuous clock.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func forwardAndWait(
    _ invocation: Invocation, timeout: Duration, clock: (any Clock<Duration>)? = nil
  ) async throws -> DeliveryReport {
    let route = beginMessage(invocation.selector)
    return try await route.core.timed(timeout, clock, route.selector, isolation: #isolation) {
      try await forwardBoxedAndWait(route, invocation, by: self as AnyObject)
    }
  }

  /// As ``forwardAndWait(_:)``, but blocks the caller until all have answered, at most for `timeout`.
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

  /// Sends a boxed message, blocks the caller until all have answered, at most for `timeout`, and combines the answers by `policy`.
  ///
  /// A method that returns `void` adds no answer. With a policy that may know its result early the targets are served in the order
  /// of delivery; what was queued is not taken back.
  ///
  /// - Throws: as ``collect(_:returning:)``; also `wouldDeadlock`, before anything is sent, `timedOut`, and `isolationMismatch`
  ///   for a queued target's answer that is not known to be `Sendable`.
  @available(*, noasync, message: "it blocks the thread; use collectAndWait(_:returning:timeout:)")
  public func collectBlocking<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output {
    let route = beginMessage(invocation.selector)
    return try OutgoingMessage(invocation, asking: policy, along: route)
      .send(along: route, into: PolicySink(boxes: policy, route.core), waiting: .blocking(Patience(timeout))).get()
  }

  /// Sends a boxed message, waits for all targets, and combines the answers by `policy`.
  ///
  /// - Throws: as ``collect(_:returning:)``, and as `collectAndWait(_:_:returning:)` for waiting.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>
  ) async throws -> Output {
    let route = beginMessage(invocation.selector)
    return try await OutgoingMessage(invocation, asking: policy, along: route)
      .sendAndWait(along: route, into: PolicySink(boxes: policy, route.core)).get()
  }

  /// Sends a boxed message, waits for all targets at most for `timeout`, and combines the answers
  /// by `policy`.
  ///
  /// `clock` measures the timeout; `nil` is the continuous clock.
  ///
  /// - Throws: also `timedOut`, naming the targets that did not answer.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration,
    clock: (any Clock<Duration>)? = nil
  ) async throws -> Output {
    try await core.timed(timeout, clock, invocation.selector, isolation: #isolation) {
      try await collectAndWait(invocation, returning: policy)
    }
  }

  /// Broadcasts a message, and waits for room at each full buffer that suspends its senders, first
  /// come first served. Does not wait for the targets to run.
  ///
  /// The sender waits when it posts to that target, and holds no other place meanwhile.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before any target has the message;
  ///   `cancelled`, with the number of targets that have it, if it is cancelled later.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return try await OutgoingMessage(route.selector, typed, DeliveryRequest()).broadcastWhenReady(along: route)
  }

  /// As `broadcastWhenReady(_:_:)`, and waits for room at most for `timeout`.
  ///
  /// `clock` measures the timeout; `nil` is the continuous clock.
  ///
  /// - Throws: also `timedOut`. Targets that had room before keep the message.
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
  /// Waits for `body` at most for `timeout`: see
  /// ``TimedWait/run(_:_:of:_:awaitsEnd:noting:isolation:_:)``.
  func timed<T>(
    _ timeout: Duration, _ clock: (any Clock<Duration>)?, _ selector: MessageSelector, isolation: isolated (any Actor)?,
    _ body: nonisolated(nonsending) @escaping () async throws -> T
  ) async throws -> T {
    try await TimedWait.run(
      timeout, clock, of: self, selector, noting: { [self] in fullTargets }, isolation: isolation, body)
  }

  /// The names of targets for whose buffers senders wait, here and in nested proxies.
  private var fullTargets: [String] {
    withNested.flatMap(\.registrations).filter { ($0.queued?.line?.waitingSenders ?? 0) > 0 }
      .compactMap(\.currentTarget).map { "\(typeName(of: $0)), whose buffer is full" }
  }
}
