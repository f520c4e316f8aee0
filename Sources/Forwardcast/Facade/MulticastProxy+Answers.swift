// MulticastProxy+Answers.swift: answers for callers who cannot take every error.
// Layer: Facade. See DESIGN.md, "The attributes".

extension MulticastProxy {
  /// Sends a message and makes one result of the answers that came; errors go to ``onError``.
  ///
  /// As `collect`, for a caller that does not throw: a target that fails adds nothing. Where nobody answers, the result
  /// is the policy's empty value.
  public func answer<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Output {
    let kept = policy.keeping()
    do { return try collect(message, repeat each arguments, returning: kept.policy) } catch {
      report(error, message.selector)
      return kept.result()
    }
  }

  /// Sends a message and makes one result of the answers; throws the first error if it is an `E`.
  ///
  /// Any other error goes to ``onError``, and the result is made of the answers that came.
  public func answer<R, Output, E: Error, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    throwing type: E.Type
  ) throws(E) -> Output {
    let kept = policy.keeping()
    do { return try collect(message, repeat each arguments, returning: kept.policy) } catch {
      if let error = error as? E { throw error }
      report(error, message.selector)
      return kept.result()
    }
  }

  /// The error for a message that must be answered and was not.
  public func nobodyResponds(to selector: MessageSelector) -> MessageError {
    MessageError(.nobodyResponds, receiver: core.name, selector: selector.name)
  }

  func report(_ error: any Error, _ selector: MessageSelector) {
    core.report(error, selector, nil, receiver: typeName(of: self))
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Sends a message to every target and makes one result of the direct targets' answers; errors go to ``onError``.
  public func answer<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) -> Output {
    let kept = policy.keeping()
    do { return try collect(message, repeat each arguments, returning: kept.policy) } catch {
      report(error, message.selector)
      return kept.result()
    }
  }

  /// Sends a message to every target and makes one result of the direct targets' answers; throws the first error if it
  /// is an `E`.
  public func answer<R, Output, E: Error, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    throwing type: E.Type
  ) throws(E) -> Output {
    let kept = policy.keeping()
    do { return try collect(message, repeat each arguments, returning: kept.policy) } catch {
      if let error = error as? E { throw error }
      report(error, message.selector)
      return kept.result()
    }
  }

  /// Sends a message to every target, waits for all, and makes one result of the answers that came; errors go to
  /// ``onError``, cancellation too.
  nonisolated(nonsending) public func answerAndWait<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Output {
    let kept = policy.keeping()
    do { return try await collectAndWait(message, repeat each arguments, returning: kept.policy) } catch {
      report(error, message.selector)
      return kept.result()
    }
  }

  /// Sends a message to every target, waits for all, and makes one result of the answers; throws the first error if it
  /// is an `E`, any other goes to ``onError``.
  nonisolated(nonsending) public func answerAndWait<R: Sendable, Output, E: Error, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    throwing type: E.Type
  ) async throws(E) -> Output {
    let kept = policy.keeping()
    do { return try await collectAndWait(message, repeat each arguments, returning: kept.policy) } catch {
      if let error = error as? E { throw error }
      report(error, message.selector)
      return kept.result()
    }
  }
}

/// What a policy has taken so far, for a question that ends with an error.
private final class KeptAnswers<Output> {
  var result: () -> Output
  init(_ result: @escaping () -> Output) { self.result = result }
}

extension ReturnPolicy {
  /// This policy, and a way to its result when the question that uses it has thrown.
  func keeping() -> (policy: ReturnPolicy<R, Output>, result: () -> Output) {
    // One question uses the policy, and its caller asks for the result when it has ended.
    nonisolated(unsafe) let kept = KeptAnswers(makeCollector().finish)
    let policy = ReturnPolicy(
      way: .gathering {
        let collector = makeCollector()
        kept.result = collector.finish
        return collector
      }, mayStopEarly: mayStopEarly, ignoresErrors: ignoresErrors)
    return (policy, { kept.result() })
  }
}
