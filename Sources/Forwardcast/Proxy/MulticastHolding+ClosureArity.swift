// MulticastHolding+ClosureArity.swift: diagnoses closures with too few parameters.

extension MulticastHolding {
  /// Refuses a closure without parameters for a message with arguments.
  @discardableResult
  @available(
    *, unavailable, message: "the closure needs a parameter for each argument of the message; write '_' if unused"
  )
  public func on<R, Result, First, each A>(
    _ message: Message<(First, repeat each A) -> R>, priority: Int = 0, _ body: () throws -> Result
  ) -> Registration { fatalError() }

  /// Refuses a closure with one parameter for a message with several arguments.
  @discardableResult
  @available(
    *, unavailable, message: "the closure needs a parameter for each argument of the message; write '_' if unused"
  )
  public func on<R, Result, First, Second, each A>(
    _ message: Message<(First, Second, repeat each A) -> R>, priority: Int = 0, _ body: (First) throws -> Result
  ) -> Registration { fatalError() }
}
