// Responds+Arities.swift: the initializers of rows for each number of arguments.

// Generated: change RowTemplate.swift in the tests and run RowTemplateTests with FORWARDCAST_WRITE=1.
//
// Not one form with a pack: the compiler loses there that a parameter is `inout`, and what such a closure writes would be lost
// silently. Besides, a closure that takes a pack retains and releases each argument on the heap once more for each delivery
// (5 ns for a string).
extension Responds {
  /// A row of no arguments whose types are those of its key. A sender with the same key calls it without boxes.
  ///
  /// `signature` is an encoding that the closure's types are checked against when the row enters a table; by default their own.
  @export(implementation) @inline(__always)
  public init<R>(
    to message: Message<() -> R>, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target) throws -> R
  ) {
    if Target.self is AnyObject.Type {
      self.init(
        method: TypedMethod<R>(message, signature: signature) {
          (target: AnyObject, _: Arguments<>) throws -> R in
          try TargetCast.ofClass(target) { try body($0) }
        })
    } else {
      let cast = TargetCast<Target>()
      self.init(
        method: TypedMethod<R>(message, signature: signature) {
          (target: AnyObject, _: Arguments<>) throws -> R in
          try cast(target) { try body($0) }
        })
    }
  }

  /// A row of no arguments whose types are those of its closure.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(to: Message<() -> R>(selector), signature: signature, body)
  }

  /// As above, where the answer is `Sendable`, so that it may cross in a box.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R: Sendable>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target) throws -> R
  ) {
    self.init(to: Message<() -> R>(selector), signature: signature, body)
  }

  /// A row of one argument whose types are those of its key: see the form for no arguments.
  @export(implementation) @inline(__always)
  public init<R, A>(
    to message: Message<(A) -> R>, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    if Target.self is AnyObject.Type {
      self.init(
        method: TypedMethod<R, A>(message, signature: signature, opener: BoxOpener1<R, A>.open) {
          (target: AnyObject, arguments: Arguments<A>) throws -> R in
          try TargetCast.ofClass(target) { try body($0, arguments.values) }
        })
    } else {
      let cast = TargetCast<Target>()
      self.init(
        method: TypedMethod<R, A>(message, signature: signature, opener: BoxOpener1<R, A>.open) {
          (target: AnyObject, arguments: Arguments<A>) throws -> R in
          try cast(target) { try body($0, arguments.values) }
        })
    }
  }

  /// A row of one argument whose types are those of its closure.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R, A>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(to: Message<(A) -> R>(selector), signature: signature, body)
  }

  /// As above, where the answer is `Sendable`, so that it may cross in a box.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R: Sendable, A>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A) throws -> R
  ) {
    self.init(to: Message<(A) -> R>(selector), signature: signature, body)
  }

  /// A row of two arguments whose types are those of its key: see the form for no arguments.
  @export(implementation) @inline(__always)
  public init<R, A, B>(
    to message: Message<(A, B) -> R>, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    if Target.self is AnyObject.Type {
      self.init(
        method: TypedMethod<R, A, B>(message, signature: signature, opener: BoxOpener2<R, A, B>.open) {
          (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
          try TargetCast.ofClass(target) { try body($0, arguments.values.0, arguments.values.1) }
        })
    } else {
      let cast = TargetCast<Target>()
      self.init(
        method: TypedMethod<R, A, B>(message, signature: signature, opener: BoxOpener2<R, A, B>.open) {
          (target: AnyObject, arguments: Arguments<A, B>) throws -> R in
          try cast(target) { try body($0, arguments.values.0, arguments.values.1) }
        })
    }
  }

  /// A row of two arguments whose types are those of its closure.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R, A, B>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(to: Message<(A, B) -> R>(selector), signature: signature, body)
  }

  /// As above, where the answer is `Sendable`, so that it may cross in a box.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R: Sendable, A, B>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B) throws -> R
  ) {
    self.init(to: Message<(A, B) -> R>(selector), signature: signature, body)
  }

  /// A row of three arguments whose types are those of its key: see the form for no arguments.
  @export(implementation) @inline(__always)
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    if Target.self is AnyObject.Type {
      self.init(
        method: TypedMethod<R, A, B, C>(message, signature: signature, opener: BoxOpener3<R, A, B, C>.open) {
          (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
          try TargetCast.ofClass(target) { try body($0, arguments.values.0, arguments.values.1, arguments.values.2) }
        })
    } else {
      let cast = TargetCast<Target>()
      self.init(
        method: TypedMethod<R, A, B, C>(message, signature: signature, opener: BoxOpener3<R, A, B, C>.open) {
          (target: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
          try cast(target) { try body($0, arguments.values.0, arguments.values.1, arguments.values.2) }
        })
    }
  }

  /// A row of three arguments whose types are those of its closure.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R, A, B, C>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(to: Message<(A, B, C) -> R>(selector), signature: signature, body)
  }

  /// As above, where the answer is `Sendable`, so that it may cross in a box.
  @export(implementation) @inline(__always) @_disfavoredOverload
  public init<R: Sendable, A, B, C>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(to: Message<(A, B, C) -> R>(selector), signature: signature, body)
  }

  /// A row of four arguments or more whose types are those of its key: see the form for no arguments.
  @inline(never)
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(pack: message, signature, body)
  }

  /// A row of four arguments or more whose types are those of its closure.
  @inline(never) @_disfavoredOverload
  public init<R, A, B, C, D, each E>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(to: Message<(A, B, C, D, repeat each E) -> R>(selector), signature: signature, body)
  }

  /// As above, where the answer is `Sendable`, so that it may cross in a box.
  @inline(never) @_disfavoredOverload
  public init<R: Sendable, A, B, C, D, each E>(
    to selector: MessageSelector, signature: MethodSignature? = nil,
    _ body: @escaping @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(to: Message<(A, B, C, D, repeat each E) -> R>(selector), signature: signature, body)
  }

  // Inlined into a form with a prefix before its pack, this crashes the compiler when it optimizes.
  @inline(never)
  init<R, each A>(
    pack message: Message<(repeat each A) -> R>, _ signature: MethodSignature?,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, repeat each A>(message, signature: signature) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        try cast(target) { try body($0, repeat each arguments.values) }
      })
  }
}

// Senders and deliveries in the row's isolation (the main actor, or the actor that is the target) run it synchronously. Waiting
// forms and deliveries on other contexts hop to it; any other synchronous send throws `isolationMismatch`. A row that may
// suspend is reached by waiting forms and by deliveries other than `.direct`; until it has ended, its registration's next
// message waits.
extension Responds {
  /// A row of no arguments that runs on the main actor.
  public init<R>(
    to message: Message<() -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target) throws -> R
  ) {
    self.init(key: message, onGlobalActor: body)
  }

  /// A row of no arguments that may suspend.
  public init<R>(
    to message: Message<() -> R>,
    async body: @escaping @Sendable (Target) async throws -> R
  ) {
    self.init(suspending: message, body)
  }

  /// A row of one argument that runs on the main actor: see the form for no arguments.
  public init<R, A>(
    to message: Message<(A) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A) throws -> R
  ) {
    self.init(key: message, onGlobalActor: body)
  }

  /// A row of one argument that may suspend: see the form for no arguments.
  public init<R, A>(
    to message: Message<(A) -> R>,
    async body: @escaping @Sendable (Target, A) async throws -> R
  ) {
    self.init(suspending: message, body)
  }

  /// A row of two arguments that runs on the main actor: see the form for no arguments.
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B) throws -> R
  ) {
    self.init(key: message, onGlobalActor: body)
  }

  /// A row of two arguments that may suspend: see the form for no arguments.
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    async body: @escaping @Sendable (Target, A, B) async throws -> R
  ) {
    self.init(suspending: message, body)
  }

  /// A row of three arguments that runs on the main actor: see the form for no arguments.
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(key: message, onGlobalActor: body)
  }

  /// A row of three arguments that may suspend: see the form for no arguments.
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    async body: @escaping @Sendable (Target, A, B, C) async throws -> R
  ) {
    self.init(suspending: message, body)
  }

  /// A row of four arguments or more that runs on the main actor: see the form for no arguments.
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(key: message, onGlobalActor: body)
  }

  /// A row of four arguments or more that may suspend: see the form for no arguments.
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    async body: @escaping @Sendable (Target, A, B, C, D, repeat each E) async throws -> R
  ) {
    self.init(suspending: message, body)
  }
}

extension Responds where Target: Actor {
  /// A row of no arguments that runs on the target, an actor.
  @_disfavoredOverload
  public init<R>(
    to message: Message<() -> R>,
    isolated body: @escaping @Sendable (isolated Target) throws -> R
  ) {
    self.init(onTarget: message, body)
  }

  /// A row of one argument that runs on the target, an actor: see the form for no arguments.
  @_disfavoredOverload
  public init<R, A>(
    to message: Message<(A) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A) throws -> R
  ) {
    self.init(onTarget: message, body)
  }

  /// A row of two arguments that runs on the target, an actor: see the form for no arguments.
  @_disfavoredOverload
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B) throws -> R
  ) {
    self.init(onTarget: message, body)
  }

  /// A row of three arguments that runs on the target, an actor: see the form for no arguments.
  @_disfavoredOverload
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C) throws -> R
  ) {
    self.init(onTarget: message, body)
  }

  /// A row of four arguments or more that runs on the target, an actor: see the form for no arguments.
  @_disfavoredOverload
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onTarget: message, body)
  }
}

// Specialized for the types; `TypedMethod.open` works by their metadata, since the compiler does not unroll a pack.

@usableFromInline
enum BoxOpener1<R, A> {
  @export(implementation) @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void)
    -> Bool
  {
    guard boxes.count == 1,
      let a = try? boxes.opened(0, as: A.self)
    else { return false }
    Arguments<A>(values: (a)).withCalls(returning: R.self, body)
    return true
  }
}

@usableFromInline
enum BoxOpener2<R, A, B> {
  @export(implementation) @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void)
    -> Bool
  {
    guard boxes.count == 2,
      let a = try? boxes.opened(0, as: A.self),
      let b = try? boxes.opened(1, as: B.self)
    else { return false }
    Arguments<A, B>(values: (a, b)).withCalls(returning: R.self, body)
    return true
  }
}

@usableFromInline
enum BoxOpener3<R, A, B, C> {
  @export(implementation) @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void)
    -> Bool
  {
    guard boxes.count == 3,
      let a = try? boxes.opened(0, as: A.self),
      let b = try? boxes.opened(1, as: B.self),
      let c = try? boxes.opened(2, as: C.self)
    else { return false }
    Arguments<A, B, C>(values: (a, b, c)).withCalls(returning: R.self, body)
    return true
  }
}
