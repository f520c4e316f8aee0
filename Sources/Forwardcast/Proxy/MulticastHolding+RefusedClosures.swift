// MulticastHolding+RefusedClosures.swift: diagnoses closures that cannot be registered.

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

  /// Refuses a closure with more parameters than the message has arguments.
  @discardableResult
  @available(*, unavailable, message: "the closure has more parameters than the message has arguments")
  public func on<R, Result, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: (repeat each A, Any) throws -> Result
  ) -> Registration { fatalError() }

  /// Refuses a closure whose parameter has another type than the message's argument.
  @discardableResult
  @available(*, unavailable, message: "the closure's parameter must have the type of the message's argument")
  public func on<R, Result, First, Other>(
    _ message: Message<(First) -> R>, priority: Int = 0, _ body: (Other) throws -> Result
  ) -> Registration { fatalError() }

  /// Refuses a closure that suspends.
  @discardableResult
  @available(*, unavailable, message: "a closure cannot suspend; add an object with an async method instead")
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, once: Bool = false,
    _ body: (repeat each A) async throws -> R
  ) -> Registration { fatalError() }

  /// Refuses a closure that suspends.
  @discardableResult
  @available(*, unavailable, message: "a closure cannot suspend; add an object with an async method instead")
  public func on<Owner: AnyObject, R, each A>(
    _ message: Message<(repeat each A) -> R>, owner: Owner, priority: Int = 0, once: Bool = false,
    _ body: (Owner, repeat each A) async throws -> R
  ) -> Registration { fatalError() }
}
