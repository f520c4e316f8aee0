// Responds+ClassKeys.swift: rows by key, for targets of a class.
// Layer: Sending. See DESIGN.md, "Two doors".

// The same rows as for targets of any type, but for the cast. A cast to a type that may be anything copies: each delivery
// would retain and release its target once more, 16 ns for one that weak references point to. This one borrows.
extension Responds where Target: AnyObject {
  /// A row of no arguments whose types are those of its key. A sender with the same key reaches it without a box.
  @inlinable @inline(__always)
  public init<R>(
    to message: Message<() -> R>, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(
      method: TypedMethod<R>(message.selector, signature: nil) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self))
      })
  }

  /// A row of no arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable>(
    to message: Message<() -> R>, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(
      method: TypedMethod<R>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self))
      })
  }

  /// A row of one argument whose types are those of its key.
  @inlinable @inline(__always)
  public init<R, A>(
    to message: Message<(A) -> R>, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A>(message.selector, signature: nil, opener: BoxOpener1<R, A>.open) {
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
      method: TypedMethod<R, A>(message.selector, signature: nil, resultCrosses: true, opener: BoxOpener1<R, A>.open) {
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
      method: TypedMethod<R, A, B>(message.selector, signature: nil, opener: BoxOpener2<R, A, B>.open) {
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
      method: TypedMethod<R, A, B>(
        message.selector, signature: nil, resultCrosses: true, opener: BoxOpener2<R, A, B>.open
      ) {
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
      method: TypedMethod<R, A, B, C>(message.selector, signature: nil, opener: BoxOpener3<R, A, B, C>.open) {
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
      method: TypedMethod<R, A, B, C>(
        message.selector, signature: nil, resultCrosses: true, opener: BoxOpener3<R, A, B, C>.open
      ) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1, arguments.values.2)
      })
  }

  /// A row of four arguments or more whose types are those of its key.
  @inline(never)
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(classPack: message.selector, nil, resultCrosses: false, body)
  }

  /// A row of four arguments or more whose types are those of its key, and whose answer may cross in a box.
  @inline(never)
  public init<R: Sendable, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(classPack: message.selector, nil, resultCrosses: true, body)
  }

  // Inlined into a form with a prefix before its pack, this crashes the compiler when it optimizes.
  @inline(never)
  init<R, each A>(
    classPack selector: MessageSelector, _ signature: MethodSignature?, resultCrosses: Bool,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(selector, signature: signature, resultCrosses: resultCrosses) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), repeat each arguments.values)
      })
  }
}
