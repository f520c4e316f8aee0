// Responds+Counts.swift: rows of one to three arguments, which are passed without a copy.
// Layer: Sending. See DESIGN.md, "Two doors".

// The same rows by key as those of any number of arguments. A closure that takes a pack wants every argument on the heap
// retained and released once more for each delivery (5 ns for a string); one that takes a fixed number does not.
extension Responds where Target: AnyObject {
  /// A row of one argument whose types are those of its key.
  @inlinable @inline(__always)
  public init<R, A>(
    to message: Message<(A) -> R>, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A>(message.selector, signature: nil) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values)
      })
  }

  /// A row of one argument whose types are those of its key, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A>(
    to message: Message<(A) -> R>, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values)
      })
  }

  /// A row of two arguments whose types are those of its key.
  @inlinable @inline(__always)
  public init<R, A, B>(
    to message: Message<(A, B) -> R>, _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B>(message.selector, signature: nil) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1)
      })
  }

  /// A row of two arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A, B>(
    to message: Message<(A, B) -> R>, _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1)
      })
  }

  /// A row of three arguments whose types are those of its key.
  @inlinable @inline(__always)
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>, _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B, C>(message.selector, signature: nil) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1, arguments.values.2)
      })
  }

  /// A row of three arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A, B, C>(
    to message: Message<(A, B, C) -> R>, _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B, C>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1, arguments.values.2)
      })
  }
}
