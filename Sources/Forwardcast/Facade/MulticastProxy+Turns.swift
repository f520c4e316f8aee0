// MulticastProxy+Turns.swift: messages that suspend, to targets that stay in one isolation.
// Layer: Facade. See DESIGN.md, "The attributes".

extension MulticastProxy {
  /// Sends a message to every target, one after another in the caller's isolation, and makes one result of the answers
  /// that came; errors go to ``onError``.
  nonisolated(nonsending) public func answerAndWait<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async -> Output {
    let kept = policy.keeping()
    do { return try await collectAndWait(message, repeat each arguments, returning: kept.policy) } catch {
      report(error, message.selector)
      return kept.result()
    }
  }

  /// Sends a message to every target, one after another in the caller's isolation, and makes one result of the answers;
  /// throws the first error if it is an `E`, any other goes to ``onError``.
  nonisolated(nonsending) public func answerAndWait<R, Output, E: Error, each A>(
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
