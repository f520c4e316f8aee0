// Responds+MainActor.swift: rows that run on the main actor.
// Layer: Sending. See DESIGN.md, "Delivery".

// A row of the main actor, `Responds(to: .title, onMainActor: { window, text in window.title = text })`:
// a sender that is on the main actor, and a delivery of `.mainActor` or `.queue()`, run it in their turn. A delivery on another
// context and the forms that wait go over to the main actor for it. Any other synchronous send throws `isolationMismatch`.
// There is a form for each number of arguments up to three, as in Responds+Keys.swift, which says why.
extension Responds {
  /// A row of no arguments that runs on the main actor.
  public init<R>(
    to message: Message<() -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: false, body)
  }

  /// A row of no arguments that runs on the main actor, and whose answer may cross in a box.
  public init<R: Sendable>(
    to message: Message<() -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: true, body)
  }

  /// A row of one argument that runs on the main actor.
  public init<R, A>(
    to message: Message<(A) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: false, body)
  }

  /// A row of one argument that runs on the main actor, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to message: Message<(A) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: true, body)
  }

  /// A row of two arguments that runs on the main actor.
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: false, body)
  }

  /// A row of two arguments that runs on the main actor, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to message: Message<(A, B) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: true, body)
  }

  /// A row of three arguments that runs on the main actor.
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: false, body)
  }

  /// A row of three arguments that runs on the main actor, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that runs on the main actor.
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that runs on the main actor, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onMainActor: message.selector, resultCrosses: true, body)
  }

  /// A row of no arguments that runs on the main actor, with the types of its closure.
  public init<R>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: false, body)
  }

  /// A row of no arguments that runs on the main actor, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: true, body)
  }

  /// A row of one argument that runs on the main actor, with the types of its closure.
  public init<R, A>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: false, body)
  }

  /// A row of one argument that runs on the main actor, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: true, body)
  }

  /// A row of two arguments that runs on the main actor, with the types of its closure.
  public init<R, A, B>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: false, body)
  }

  /// A row of two arguments that runs on the main actor, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: true, body)
  }

  /// A row of three arguments that runs on the main actor, with the types of its closure.
  public init<R, A, B, C>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: false, body)
  }

  /// A row of three arguments that runs on the main actor, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that runs on the main actor, with the types of its closure.
  public init<R, A, B, C, D, each E>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that runs on the main actor, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to selector: MessageSelector,
    onMainActor body: @escaping @MainActor @Sendable (Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onMainActor: selector, resultCrosses: true, body)
  }
}
