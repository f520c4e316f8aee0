// Collected.swift: the result of a question, and the error beside it.

/// What a policy made of the answers, and why there are no more. Each member takes the result and decides where the error goes; an
/// error that is not taken is lost.
public struct Collected<Output> {
  @usableFromInline let output: Output
  @usableFromInline let failure: CollectFailure?

  @inlinable
  init(_ output: Output, _ failure: CollectFailure?) { (self.output, self.failure) = (output, failure) }

  /// The result; throws the first error.
  @export(implementation)
  public func get() throws -> Output {
    if let failure { throw failure.error }
    return output
  }

  /// The result of the answers that came; the error, also of cancellation, goes to ``MulticastHolding/onError``.
  @export(implementation)
  public func answered() -> Output {
    failure?.report()
    return output
  }

  /// The result of the answers that came; throws an `E`, and passes any other error to ``MulticastHolding/onError``.
  @export(implementation)
  public func answered<E: Error>(throwing type: E.Type) throws(E) -> Output {
    if let failure {
      if let error = failure.error as? E { throw error }
      failure.report()
    }
    return output
  }
}

/// The error of a question, and how to report it to the handlers.
@usableFromInline
struct CollectFailure {
  @usableFromInline let error: any Error
  @usableFromInline let report: () -> Void

  init(error: any Error, report: @escaping () -> Void) { (self.error, self.report) = (error, report) }
}
