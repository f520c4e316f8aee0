// MulticastProxy+Answers.swift: answers for callers that handle errors themselves.

// The methods here are like `collect` and `collectAndWait`, except that the caller handles errors.
// A target that fails adds nothing to the result. If no target answers, the result is the policy's
// empty value.

extension MulticastSending {
  /// Like `collect`, but returns an error instead of throwing or reporting it.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> CollectResult<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false)
  }

  /// Like `answer` with `.last`, but adds less code to each caller.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> CollectResult<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: false)
  }
}

extension MulticastSending where Interface: Sendable {
  /// Like `collect` with `Sendable` arguments, but returns an error instead of throwing it. Answers
  /// of queued targets are not awaited.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> CollectResult<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true)
  }

  /// Sends a message with `Sendable` arguments and returns the last answer.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> CollectResult<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: true)
  }
}

extension MulticastSending {
  /// Sends a message to one target after another, awaiting each, and combines the answers.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> CollectResult<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: false)
    return await collectWaiting(route, typed, policy)
  }
}

extension MulticastProxy {
  /// The error if no target answers: `nobodyResponds`, or `notAwaited` if targets are queued.
  public func nobodyResponds(to selector: MessageSelector) -> MessageError {
    let count = core.count(for: selector, onlyQueued: true)
    guard count > 0 else {
      let adviser = registrations.lazy.compactMap { $0.target as? any NotTakenAdvising }.first
      return MessageError(
        .nobodyResponds, receiver: core.name, selector: selector.name, evidence: adviser?.advice(for: selector) ?? "")
    }
    return .notAwaited(selector, by: core, count: count)
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every target, awaits all answers, and combines them by `policy`.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> CollectResult<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return await collectWaiting(route, typed, policy)
  }
}
