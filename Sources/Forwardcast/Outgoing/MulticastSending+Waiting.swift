// MulticastSending+Waiting.swift: messages whose sender waits, suspended or blocked.

extension MulticastSending {
  /// Asks every target in the caller's isolation, one after another, and makes one result of the answers.
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
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: false)
    return try await collectWaiting(route, typed, policy).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Waits for every live, unmuted target that responds, wherever it runs, and makes one result of the answers.
  ///
  ///     let seen = try await members.collectAndWait(.unread, returning: .sum)
  ///
  /// Answers are taken in the order of delivery. Direct targets run in the caller's turn, one after another, methods
  /// that suspend included. A target that is removed or dies meanwhile is not waited for. Buffers that suspend their
  /// senders are waited for before anything is sent.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: the first error of a target, after the others have answered; `isolationMismatch` for an answer of
  ///   another context whose row did not promise that it is `Sendable`; `CancellationError` when the task is cancelled,
  ///   which takes back nothing that was sent; `nobodyResponds` where silence is an error; `wouldDeadlock` in a method
  ///   of a target that would be waited for.
  nonisolated(nonsending) public func collectAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: true)
    return try await collectWaiting(route, typed, policy).get()
  }

  /// Sends a message as `collectAndWait(_:_:returning:)` does, and blocks the caller until all have answered.
  ///
  /// A method that suspends cannot be waited for when its delivery is direct: it fails with `isolationMismatch`.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  ///   - timeout: how long to wait at most.
  /// - Throws: also `wouldDeadlock`, before anything is sent, when the caller is on a context that it would wait for;
  ///   and `timedOut`, naming who did not answer. Their messages stay sent.
  public func collect<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: true)
    return try OutgoingMessage(asking: policy, typed, along: route)
      .send(along: route, into: PolicySink(policy, route), waiting: .blocked(Patience(timeout))).get()
  }

  /// Sends a message as a value, waits for all, and says what became of it at each target.
  ///
  /// `answers` has those of queued targets as well, in the order of delivery; nothing is left in `queued`. An answer of
  /// a queued target that is not known to be `Sendable` counts as a failure: see ``ArgumentBox/isSendable``.
  ///
  /// - Parameter invocation: the message.
  /// - Throws: as ``MulticastProxy/forward(_:)``, and as `collectAndWait(_:_:returning:)` for waiting. Errors of
  ///   targets are in the report.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self as AnyObject)
  }

  /// Sends a message as ``forwardAndWait(_:)`` does, and blocks the caller until all have answered.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - timeout: how long to wait at most.
  /// - Throws: also `wouldDeadlock` and `timedOut`, as ``collect(_:_:returning:timeout:)``.
  public func forward(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    let route = beginMessage(invocation.selector)
    var report = try OutgoingMessage(invocation, asks: true, along: route)
      .send(along: route, into: DeliveryReport(), waiting: .blocked(Patience(timeout))).get()
    report.nameProxy(self as AnyObject, of: route)
    return report
  }

  /// Sends a message as a value, blocks the caller until all have answered, and makes one result of the answers.
  ///
  /// A target that answers nothing, since its method returns `void`, adds nothing. A policy that may know its result
  /// early has the targets asked in the order of delivery, and takes nothing back that was queued.
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
    return try OutgoingMessage(invocation, asking: policy, along: route)
      .send(along: route, into: PolicySink(boxes: policy, route.core), waiting: .blocked(Patience(timeout))).get()
  }

  /// Sends a message as a value, waits for all, and makes one result of the answers.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - policy: what becomes of the answers.
  /// - Throws: as ``collect(_:returning:)``, and as `collectAndWait(_:_:returning:)` for waiting.
  nonisolated(nonsending) public func collectAndWait<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>
  ) async throws -> Output {
    let route = beginMessage(invocation.selector)
    return try await OutgoingMessage(invocation, asking: policy, along: route)
      .sendAndWait(along: route, into: PolicySink(boxes: policy, route.core)).get()
  }

  /// Broadcasts a message when every buffer that suspends its senders has room for it.
  ///
  /// Does not wait for the targets to run. Places are given out first come first served.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Throws: `CancellationError` when the task is cancelled before there is room; nothing is sent then, but what left before a
  ///   hook, a method or an object that is asked was waited for.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: true)
    return try await OutgoingMessage(route.selector, typed, MessageRequest(keepsAnswers: false, waitsForRoom: true))
      .broadcastWhenReady(along: route)
  }
}
