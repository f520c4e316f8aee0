// Responds+Isolation.swift: rows that suspend, or that run on the main actor or on their own.
// Layer: Sending. See DESIGN.md, "Delivery".

extension Responds {
  /// A row that runs on the main actor.
  ///
  ///     Responds(to: .title, onMainActor: { window, text in window.title = text })
  ///
  /// A sender that is on the main actor, and a delivery of `.mainActor` or `.queue()`, run it in their turn. A delivery
  /// on another context and the forms that wait go over to the main actor for it. Any other synchronous send throws
  /// ``MessageError`` `isolationMismatch`.
  public init<R, each A>(
    to message: Message<(repeat each A) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(isolated: .mainActor, message.selector) {
      (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has found that it is on the main actor: nothing crosses.
      let (target, arguments) = (Vouched(target), Vouched(arguments))
      return try uncheckedOnMainActor { Vouched(try body(target.value, repeat each arguments.value.values)) }.value
    }
  }

  /// A row that may suspend. It runs where its own isolation says, and begins when the target's turn comes.
  ///
  /// The target gets its next message through the same registration when the method has ended: the methods of one
  /// target do not overlap. Only the forms that wait, and deliveries other than `.direct`, can reach it; a
  /// synchronous send throws ``MessageError`` `isolationMismatch`.
  public init<R, each A>(
    to message: Message<(repeat each A) -> R>,
    async body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row that may suspend, whose answer may cross to a sender that waits by boxes.
  public init<R: Sendable, each A>(
    to message: Message<(repeat each A) -> R>,
    async body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  private init<R, each A>(
    suspending selector: MessageSelector, resultCrosses: Bool,
    _ body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(
      method: AsyncMethod<R, repeat each A>(selector, resultCrosses: resultCrosses) {
        (target: AnyObject, arguments: repeat each A) async throws -> R in
        try await body(unchecked(target, as: Target.self), repeat each arguments)
      })
  }

  init<R, each A>(
    isolated isolation: MethodIsolation, _ selector: MessageSelector,
    _ body: @escaping @Sendable (Target, Arguments<repeat each A>) throws -> R
  ) {
    self.init(
      method: TypedMethod<R, repeat each A>(selector, signature: nil, isolation: isolation) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        let reachable =
          switch isolation {
          case .mainActor: HeldContext.isMain
          case .actor(let actor): HeldContext.isOn(actor)
          default: (target as? any Actor).map { HeldContext.isOn($0) } ?? false
          }
        guard reachable else {
          throw MessageError(
            .isolationMismatch, receiver: typeName(of: target), selector: selector.name, evidence: isolation.evidence)
        }
        return try body(unchecked(target, as: Target.self), arguments)
      })
  }
}

extension Responds where Target: Actor {
  /// A row that runs on the actor that it is sent to.
  ///
  /// A delivery on that actor runs it in its turn, any other and the forms that wait go over to it. A synchronous send
  /// reaches it only from a delivery of the same actor, or on an executor that can tell it is there; otherwise it throws
  /// ``MessageError`` `isolationMismatch`.
  public init<R, each A>(
    to message: Message<(repeat each A) -> R>,
    isolated body: @escaping @Sendable (isolated Target, repeat each A) throws -> R
  ) {
    self.init(isolated: .target, message.selector) {
      (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has found that it is on the actor: nothing crosses.
      let arguments = Vouched(arguments)
      return try uncheckedOnActor(target) { Vouched(try body($0, repeat each arguments.value.values)) }.value
    }
  }
}

/// Runs `body`, whose caller has found out that it is on the main actor.
private func uncheckedOnMainActor<R>(_ body: @MainActor () throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> R).self)() }
}

/// Runs `body`, whose caller has found out that it is on `actor`.
private func uncheckedOnActor<T: Actor, R>(_ actor: T, _ body: (isolated T) throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: ((T) throws -> R).self)(actor) }
}
