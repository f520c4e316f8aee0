// MulticastProxy+Answers.swift: answers for callers who cannot take every error.

// As `collect` and `collectAndWait`, but that the caller says what becomes of an error: a target that fails adds nothing to the
// result, and where nobody answers it is the policy's empty value.

extension MulticastSending {
  /// Sends a message and makes one result of the answers.
  /// - Parameters:
  ///   - message: the key.
  ///   - arguments: the message's, in order.
  ///   - policy: makes one result of the answers.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Collected<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false)
  }

  /// Sends a message and keeps the last answer. What it takes is compiled once for the types of a message, not for each member.
  /// - Parameters:
  ///   - message: the key.
  ///   - arguments: the message's, in order.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> Collected<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: false)
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every target and makes one result of the direct targets' answers: see the form for one
  /// isolation.
  @export(implementation) @inline(__always)
  public func answer<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Collected<Output> {
    collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true)
  }

  /// Sends a message to every target and keeps the last answer: see the form for one isolation.
  @export(implementation) @inline(__always)
  public func lastAnswer<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> Collected<R?>
  {
    collectLast(visit(message.selector), Arguments(values: (repeat each arguments)), crosses: true)
  }
}

extension MulticastProxy {
  /// Sends a message to every target, one after another in the caller's isolation, and makes one result
  /// of the answers: see the form that does not wait.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Collected<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: false)
    return await collectWaiting(route, typed, policy)
  }

  /// The error for a message that must be answered and was not: `nobodyResponds`, or `notAwaited` where targets got it
  /// that answer on contexts of their own.
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
  /// Sends a message to every target, waits for all, and makes one result of the answers: see the form that does not
  /// wait.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Collected<Output> {
    let route = beginMessage(message.selector)
    let typed = Arguments(values: (repeat each arguments)).walked(returning: R.self, crosses: true)
    return await collectWaiting(route, typed, policy)
  }
}
