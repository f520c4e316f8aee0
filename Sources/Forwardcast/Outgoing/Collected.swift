// Collected.swift: the result of a question, beside the error that its sender is thrown.

/// What a policy made of the answers that came, and why there are no more of them.
///
/// One of the members takes the result, and with it says where the error goes. An error that is not taken is lost.
public struct Collected<Output> {
  @usableFromInline let output: Output
  @usableFromInline let failure: CollectFailure?

  @inlinable
  init(_ output: Output, _ failure: CollectFailure?) { (self.output, self.failure) = (output, failure) }

  /// The result, for senders who take errors: throws the first.
  @export(implementation)
  public func get() throws -> Output {
    if let failure { throw failure.error }
    return output
  }

  /// The result of the answers that came, for senders who cannot be thrown an error: it goes to ``MulticastHolding/onError``,
  /// cancellation too.
  @export(implementation)
  public func answered() -> Output {
    failure?.report()
    return output
  }

  /// The result of the answers that came, for senders who can be thrown an `E` only: any other error goes to
  /// ``MulticastHolding/onError``.
  @export(implementation)
  public func answered<E: Error>(throwing type: E.Type) throws(E) -> Output {
    if let failure {
      if let error = failure.error as? E { throw error }
      failure.report()
    }
    return output
  }
}

/// The error of a question, and the way to the handlers for it.
@usableFromInline
struct CollectFailure {
  @usableFromInline let error: any Error
  @usableFromInline let report: () -> Void

  init(error: any Error, report: @escaping () -> Void) { (self.error, self.report) = (error, report) }
}
