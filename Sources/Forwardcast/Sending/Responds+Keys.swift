// Responds+Keys.swift: rows by key, for targets of any type.
// Layer: Sending. See DESIGN.md, "Two doors".

// One form for each number of arguments up to three. A form for any number would take a closure with an `inout` parameter
// as one without: the compiler loses the difference in packs, and what such a closure writes would be lost without a word.
// Besides, a closure that takes a pack wants every argument on the heap retained and released once more for each delivery
// (5 ns for a string); one that takes a fixed number does not.
extension Responds {
  /// A row of no arguments whose types are those of its key. A sender with the same key reaches it without a box.
  @inlinable
  public init<R>(
    to message: Message<() -> R>, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R>(message.selector, signature: nil) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try cast(target) { try body($0) }
      })
  }

  /// A row of no arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable
  public init<R: Sendable>(
    to message: Message<() -> R>, _ body: @escaping @Sendable (Target) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R>(message.selector, signature: nil, resultCrosses: true) {
        (target: AnyObject, _: Arguments<>) throws -> R in
        try cast(target) { try body($0) }
      })
  }

  /// A row of one argument whose types are those of its key.
  @inlinable
  public init<R, A>(
    to message: Message<(A) -> R>, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A>(message.selector, signature: nil, opener: BoxOpener1<R, A>.open) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try cast(target) { try body($0, arguments.values) }
      })
  }

  /// A row of one argument whose types are those of its key, and whose answer may cross in a box.
  @inlinable
  public init<R: Sendable, A>(
    to message: Message<(A) -> R>, _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A>(message.selector, signature: nil, resultCrosses: true, opener: BoxOpener1<R, A>.open) {
        (target: AnyObject, arguments: Arguments<A>) throws -> R in
        try cast(target) { try body($0, arguments.values) }
      })
  }

  /// A row of two arguments whose types are those of its key.
  @inlinable
  public init<R, A, B>(
    to message: Message<(A, B) -> R>, _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A, B>(message.selector, signature: nil, opener: BoxOpener2<R, A, B>.open) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try cast(target) { try body($0, arguments.values.0, arguments.values.1) }
      })
  }

  /// A row of two arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable
  public init<R: Sendable, A, B>(
    to message: Message<(A, B) -> R>, _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A, B>(
        message.selector, signature: nil, resultCrosses: true, opener: BoxOpener2<R, A, B>.open
      ) {
        (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
        try cast(target) { try body($0, arguments.values.0, arguments.values.1) }
      })
  }

  /// A row of three arguments whose types are those of its key.
  @inlinable
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>, _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A, B, C>(message.selector, signature: nil, opener: BoxOpener3<R, A, B, C>.open) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try cast(target) { try body($0, arguments.values.0, arguments.values.1, arguments.values.2) }
      })
  }

  /// A row of three arguments whose types are those of its key, and whose answer may cross in a box.
  @inlinable
  public init<R: Sendable, A, B, C>(
    to message: Message<(A, B, C) -> R>, _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, A, B, C>(
        message.selector, signature: nil, resultCrosses: true, opener: BoxOpener3<R, A, B, C>.open
      ) {
        (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
        try cast(target) { try body($0, arguments.values.0, arguments.values.1, arguments.values.2) }
      })
  }

  /// A row of four arguments or more whose types are those of its key.
  @inline(never)
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(anyPack: message.selector, nil, resultCrosses: false, body)
  }

  /// A row of four arguments or more whose types are those of its key, and whose answer may cross in a box.
  @inline(never)
  public init<R: Sendable, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(anyPack: message.selector, nil, resultCrosses: true, body)
  }

  // Inlined into a form with a prefix before its pack, this crashes the compiler when it optimizes.
  @inline(never)
  init<R, each A>(
    anyPack selector: MessageSelector, _ signature: MethodSignature?, resultCrosses: Bool,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, repeat each A>(selector, signature: signature, resultCrosses: resultCrosses) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try cast(target) { try body($0, repeat each arguments.values) }
      })
  }
}
