// CollectResult.swift: the result of a `collect`, with its error if there is one.

/// The result of a `collect`, with its error if there is one.
///
/// Call one member to get the result. ``get()`` throws the error; the other members can report it
/// to ``MulticastHolding/onError``.
public struct CollectResult<Output> {
  @usableFromInline let output: Output
  @usableFromInline let failure: CollectFailure?

  @inlinable
  init(_ output: Output, _ failure: CollectFailure?) { (self.output, self.failure) = (output, failure) }

  /// The result. Throws the first error.
  @export(implementation)
  public func get() throws -> Output {
    if let failure { throw failure.error }
    return output
  }

  /// The result of the available answers. Reports the error, including cancellation, to
  /// ``MulticastHolding/onError``.
  @export(implementation)
  public func answered() -> Output {
    failure?.report()
    return output
  }

  /// The result of the available answers. Throws an `E`, and reports any other error to
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

extension ReturnPolicy {
  /// The result of a message. `lacksAnswers` is true if answers are missing without an error.
  @export(implementation) @inline(__always)
  func result(_ output: Output, _ failure: CollectFailure?, lacksAnswers: Bool = false) -> CollectResult<Output> {
    if failure != nil || lacksAnswers, let ifIncomplete { return CollectResult(ifIncomplete(output), failure) }
    return CollectResult(output, failure)
  }
}

/// The former name of ``CollectResult``.
@available(*, deprecated, renamed: "CollectResult")
public typealias Collected<Output> = CollectResult<Output>

@usableFromInline
struct CollectFailure {
  @usableFromInline let error: any Error
  @usableFromInline let report: () -> Void

  init(error: any Error, report: @escaping () -> Void) { (self.error, self.report) = (error, report) }

  /// Reports an error that came after the sender's wait, unless the end of the wait caused it.
  func reportLate() {
    if !(error is CancellationError), (error as? MessageError)?.code != .cancelled { report() }
  }
}
