// Responds+ClassSelectors.swift: rows by selector, for targets of a class.
// Layer: Sending. See DESIGN.md, "Two doors".

// As the forms by key: one for each number of arguments, with a cast that borrows.
extension Responds where Target: AnyObject {
  /// A row of no arguments whose types are those of its closure.
  ///
  /// - Parameters:
  ///   - selector: the message.
  ///   - signature: an encoding that the closure's types are checked against when the row enters a table; `nil` takes the
  ///     closure's own.
  ///   - body: the method.
  @inlinable @inline(__always)
  public init<R>(
    to selector: MessageSelector, signature: MethodSignature? = nil, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(
      method: TypedMethod<R>(selector, signature: signature) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self))
      })
  }

  /// A row of no arguments whose types are those of its closure, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable>(
    to selector: MessageSelector, signature: MethodSignature? = nil, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(
      method: TypedMethod<R>(selector, signature: signature, resultCrosses: true) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self))
      })
  }

  /// A row of one argument whose types are those of its closure.
  @inlinable @inline(__always)
  public init<R, A>(
    to selector: MessageSelector, signature: MethodSignature? = nil, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A>(selector, signature: signature, opener: BoxOpener1<R, A>.open) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values)
      })
  }

  /// A row of one argument whose types are those of its closure, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A>(
    to selector: MessageSelector, signature: MethodSignature? = nil, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A>(selector, signature: signature, resultCrosses: true, opener: BoxOpener1<R, A>.open) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values)
      })
  }

  /// A row of two arguments whose types are those of its closure.
  @inlinable @inline(__always)
  public init<R, A, B>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B>(selector, signature: signature, opener: BoxOpener2<R, A, B>.open) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1)
      })
  }

  /// A row of two arguments whose types are those of its closure, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A, B>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B>(
        selector, signature: signature, resultCrosses: true, opener: BoxOpener2<R, A, B>.open
      ) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1)
      })
  }

  /// A row of three arguments whose types are those of its closure.
  @inlinable @inline(__always)
  public init<R, A, B, C>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B, C>(selector, signature: signature, opener: BoxOpener3<R, A, B, C>.open) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1, arguments.values.2)
      })
  }

  /// A row of three arguments whose types are those of its closure, and whose answer may cross in a box.
  @inlinable @inline(__always)
  public init<R: Sendable, A, B, C>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, A, B, C>(
        selector, signature: signature, resultCrosses: true, opener: BoxOpener3<R, A, B, C>.open
      ) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try body(unsafeDowncast(target, to: Target.self), arguments.values.0, arguments.values.1, arguments.values.2)
      })
  }

  /// A row of four arguments or more whose types are those of its closure.
  @inline(never)
  public init<R, A, B, C, D, each E>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(classPack: selector, signature, resultCrosses: false, body)
  }

  /// A row of four arguments or more whose types are those of its closure, and whose answer may cross in a box.
  @inline(never)
  public init<R: Sendable, A, B, C, D, each E>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(classPack: selector, signature, resultCrosses: true, body)
  }
}
