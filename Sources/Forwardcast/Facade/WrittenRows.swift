// WrittenRows.swift: rows of generated tables, for targets that are objects.

// A row is a table's entry for one message. Only the call is compiled for each row; all other code
// is compiled once per function type. That code passes the target to the row as the two words of
// the protocol's existential.

/// The two words of a protocol's existential: an object and its witness table.
@frozen @usableFromInline
struct TargetWords {
  @usableFromInline let object: UInt
  @usableFromInline let table: UInt

  @export(implementation) @inline(__always)
  init(object: UInt, table: UInt) { (self.object, self.table) = (object, table) }
}

/// Finds an object's words for a row's protocol, see ``TargetCast``.
@usableFromInline
struct RowTargets: @unchecked Sendable {  // what `head` points to is exchanged atomically
  @usableFromInline let head: WitnessTables.Head
  /// Finds the witness table of a class that is not in the cache. The closure retains the memory of
  /// `head`.
  @usableFromInline let search: @Sendable (AnyObject) -> UInt

  @usableFromInline @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  init<Target>(_ type: Target.Type) {
    let cast = TargetCast<Target>()
    guard let head = cast.head, MemoryLayout<Target>.size == MemoryLayout<TargetWords>.size else {
      preconditionFailure("\(type) is not a class-bound protocol; inherit 'AnyObject'")
    }
    self.head = head
    search = { object in
      withUnsafeBytes(of: cast.search(object)) {
        let words = $0.load(as: TargetWords.self)
        guard words.object == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else {
          preconditionFailure("the class of \(object) does not conform to \(type), only a value that it wraps does")
        }
        return words.table
      }
    }
  }

  @export(implementation) @inline(__always)
  func words(of object: AnyObject) -> TargetWords {
    TargetWords(
      object: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()),
      table: WitnessTables.table(of: object, from: head) ?? search(object))
  }
}

extension Responds {
  /// A row for a requirement without arguments, in the generated table of a class-bound protocol.
  @export(implementation) @inline(__always)
  public init<R>(row message: Message<() -> R>, _ body: @escaping @Sendable (inout Target) throws -> R) {
    // An `inout` argument is an address, regardless of its type.
    typealias Body = @Sendable (inout TargetWords) throws -> R
    self.init(method: .written(message, RowTargets(Target.self), unsafeBitCast(body, to: Body.self)))
  }

  /// A row with one argument.
  @export(implementation) @inline(__always)
  public init<R, A>(row message: Message<(A) -> R>, _ body: @escaping @Sendable (inout Target, A) throws -> R) {
    typealias Body = @Sendable (inout TargetWords, A) throws -> R
    self.init(method: .written(message, RowTargets(Target.self), unsafeBitCast(body, to: Body.self)))
  }

  /// A row with two arguments.
  @export(implementation) @inline(__always)
  public init<R, A, B>(row message: Message<(A, B) -> R>, _ body: @escaping @Sendable (inout Target, A, B) throws -> R)
  {
    typealias Body = @Sendable (inout TargetWords, A, B) throws -> R
    self.init(method: .written(message, RowTargets(Target.self), unsafeBitCast(body, to: Body.self)))
  }

  /// A row with three arguments.
  @export(implementation) @inline(__always)
  public init<R, A, B, C>(
    row message: Message<(A, B, C) -> R>, _ body: @escaping @Sendable (inout Target, A, B, C) throws -> R
  ) {
    typealias Body = @Sendable (inout TargetWords, A, B, C) throws -> R
    self.init(method: .written(message, RowTargets(Target.self), unsafeBitCast(body, to: Body.self)))
  }
}

extension Method {
  @export(implementation) @inline(never)
  static func written<R>(
    _ message: Message<() -> R>, _ targets: RowTargets, _ body: @escaping @Sendable (inout TargetWords) throws -> R
  ) -> Method {
    TypedMethod<R>(message) { (object: AnyObject, _: Arguments<>) throws -> R in
      var target = targets.words(of: object)
      return try body(&target)
    }
  }

  @export(implementation) @inline(never)
  static func written<R, A>(
    _ message: Message<(A) -> R>, _ targets: RowTargets, _ body: @escaping @Sendable (inout TargetWords, A) throws -> R
  ) -> Method {
    TypedMethod<R, A>(message, opener: BoxOpener1<R, A>.open) {
      (object: AnyObject, arguments: Arguments<A>) throws -> R in
      var target = targets.words(of: object)
      return try body(&target, arguments.values)
    }
  }

  @export(implementation) @inline(never)
  static func written<R, A, B>(
    _ message: Message<(A, B) -> R>, _ targets: RowTargets,
    _ body: @escaping @Sendable (inout TargetWords, A, B) throws -> R
  ) -> Method {
    TypedMethod<R, A, B>(message, opener: BoxOpener2<R, A, B>.open) {
      (object: AnyObject, arguments: Arguments<A, B>) throws -> R in
      var target = targets.words(of: object)
      return try body(&target, arguments.values.0, arguments.values.1)
    }
  }

  @export(implementation) @inline(never)
  static func written<R, A, B, C>(
    _ message: Message<(A, B, C) -> R>, _ targets: RowTargets,
    _ body: @escaping @Sendable (inout TargetWords, A, B, C) throws -> R
  ) -> Method {
    TypedMethod<R, A, B, C>(message, opener: BoxOpener3<R, A, B, C>.open) {
      (object: AnyObject, arguments: Arguments<A, B, C>) throws -> R in
      var target = targets.words(of: object)
      return try body(&target, arguments.values.0, arguments.values.1, arguments.values.2)
    }
  }
}
