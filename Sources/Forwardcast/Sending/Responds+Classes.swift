// Responds+Classes.swift: rows for targets of a class, which are called without a copy.
// Layer: Sending. See DESIGN.md, "Two doors".

// The same rows as for targets of any type, but for the cast. A cast to a type that may be anything copies: each delivery
// would retain and release its target once more, 16 ns for one that weak references point to. This one borrows.
extension Responds where Target: AnyObject {
  /// A row whose types are those of its key. A sender with the same key reaches it without a box.
  @inlinable @inline(__always)
  public init<R, each A>(
    to message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(message.selector, signature: nil) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), repeat each arguments.values)
      })
  }

  /// A row whose types are those of its key, and whose answer may cross to another isolation in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, each A>(
    to message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), repeat each arguments.values)
      })
  }

  /// A row whose types are those of its closure.
  ///
  /// - Parameter signature: an encoding that the closure's types are checked against when the row enters a table;
  ///   `nil` takes the closure's own.
  @inlinable @inline(__always)
  public init<R, each A>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(selector, signature: signature) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), repeat each arguments.values)
      })
  }

  /// A row whose types are those of its closure, and whose answer may cross to another isolation in a box.
  ///
  /// - Parameter signature: an encoding that the closure's types are checked against when the row enters a table;
  ///   `nil` takes the closure's own.
  @inlinable @inline(__always)
  public init<R: Sendable, each A>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(selector, signature: signature, resultCrosses: true) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), repeat each arguments.values)
      })
  }
}
