// Responds+Async.swift: rows that may suspend.
// Layer: Sending. See DESIGN.md, "Delivery".

// A row that may suspend runs where its own isolation says, and begins when the target's turn comes. The target gets its next
// message through the same registration when the method has ended: the methods of one target do not overlap. Only the forms
// that wait, and deliveries other than `.direct`, can reach it; a synchronous send throws `isolationMismatch`.
// There is a form for each number of arguments up to three, as in Responds+Keys.swift, which says why.
extension Responds {
  /// A row of no arguments that may suspend.
  public init<R>(
    to message: Message<() -> R>,
    async body: @escaping @Sendable (Target) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row of no arguments that may suspend, and whose answer may cross in a box.
  public init<R: Sendable>(
    to message: Message<() -> R>,
    async body: @escaping @Sendable (Target) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  /// A row of one argument that may suspend.
  public init<R, A>(
    to message: Message<(A) -> R>,
    async body: @escaping @Sendable (Target, A) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row of one argument that may suspend, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to message: Message<(A) -> R>,
    async body: @escaping @Sendable (Target, A) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  /// A row of two arguments that may suspend.
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    async body: @escaping @Sendable (Target, A, B) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row of two arguments that may suspend, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to message: Message<(A, B) -> R>,
    async body: @escaping @Sendable (Target, A, B) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  /// A row of three arguments that may suspend.
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    async body: @escaping @Sendable (Target, A, B, C) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row of three arguments that may suspend, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    async body: @escaping @Sendable (Target, A, B, C) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that may suspend.
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    async body: @escaping @Sendable (Target, A, B, C, D, repeat each E) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that may suspend, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    async body: @escaping @Sendable (Target, A, B, C, D, repeat each E) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: true, body)
  }

  /// A row of no arguments that may suspend, with the types of its closure.
  public init<R>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: false, body)
  }

  /// A row of no arguments that may suspend, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: true, body)
  }

  /// A row of one argument that may suspend, with the types of its closure.
  public init<R, A>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: false, body)
  }

  /// A row of one argument that may suspend, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: true, body)
  }

  /// A row of two arguments that may suspend, with the types of its closure.
  public init<R, A, B>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: false, body)
  }

  /// A row of two arguments that may suspend, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: true, body)
  }

  /// A row of three arguments that may suspend, with the types of its closure.
  public init<R, A, B, C>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B, C) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: false, body)
  }

  /// A row of three arguments that may suspend, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B, C) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that may suspend, with the types of its closure.
  public init<R, A, B, C, D, each E>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B, C, D, repeat each E) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that may suspend, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to selector: MessageSelector,
    async body: @escaping @Sendable (Target, A, B, C, D, repeat each E) async throws -> R
  ) {
    self.init(suspending: selector, resultCrosses: true, body)
  }
}
