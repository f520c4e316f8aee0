// MulticastProxy+Answers.swift: answers for callers that cannot throw every error.

// As `collect` and `collectAndWait`, except that the caller handles errors: a failing target adds nothing to the result, and when
// nobody answers it is the policy's empty value.

extension MulticastSending {
  /// Sends a message and combines the answers by `policy`.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Collected<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false)
  }

  /// Sends a message and keeps the last answer. Its code is compiled once for the types of a message, not for each member.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> Collected<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: false)
  }
}

extension MulticastSending where Interface: Sendable {
  /// As for one isolation, with arguments that may cross; queued targets' answers are not waited for.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Collected<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true)
  }

  /// As for one isolation, with arguments that may cross.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> Collected<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: true)
  }
}

extension MulticastProxy {
  /// Sends a message to the targets one after another in the caller's isolation, waits, and combines the answers by `policy`.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Collected<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: false)
    return await collectWaiting(route, typed, policy)
  }

  /// The error for an unanswered message that needs an answer: `nobodyResponds`, or `notAwaited` if queued targets got it.
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

extension MulticastProxy where Interface: Sendable {
  /// Sends a message to every target, waits for all, and combines the answers by `policy`.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Collected<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).packed(returning: R.self, crosses: true)
    return await collectWaiting(route, typed, policy)
  }
}
