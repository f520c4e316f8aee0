// Responds+Isolated.swift: rows that run on the actor that is their target.
// Layer: Sending. See DESIGN.md, "Delivery".

// A delivery on the target's own actor runs such a row in its turn, any other and the forms that wait go over to it. A
// synchronous send reaches it only from a delivery of the same actor, or on an executor that can tell it is there; otherwise
// it throws `isolationMismatch`.
// There is a form for each number of arguments up to three, as in Responds+Keys.swift, which says why.
extension Responds where Target: Actor {
  /// A row of no arguments that runs on the actor that it is sent to.
  public init<R>(
    to message: Message<() -> R>,
    isolated body: @escaping @Sendable (isolated Target) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: false, body)
  }

  /// A row of no arguments that runs on the actor that it is sent to, and whose answer may cross in a box.
  public init<R: Sendable>(
    to message: Message<() -> R>,
    isolated body: @escaping @Sendable (isolated Target) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: true, body)
  }

  /// A row of one argument that runs on the actor that it is sent to.
  public init<R, A>(
    to message: Message<(A) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: false, body)
  }

  /// A row of one argument that runs on the actor that it is sent to, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to message: Message<(A) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: true, body)
  }

  /// A row of two arguments that runs on the actor that it is sent to.
  public init<R, A, B>(
    to message: Message<(A, B) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: false, body)
  }

  /// A row of two arguments that runs on the actor that it is sent to, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to message: Message<(A, B) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: true, body)
  }

  /// A row of three arguments that runs on the actor that it is sent to.
  public init<R, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: false, body)
  }

  /// A row of three arguments that runs on the actor that it is sent to, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to message: Message<(A, B, C) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that runs on the actor that it is sent to.
  public init<R, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that runs on the actor that it is sent to, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to message: Message<(A, B, C, D, repeat each E) -> R>,
    isolated body: @escaping @Sendable (isolated Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onTarget: message.selector, resultCrosses: true, body)
  }

  /// A row of no arguments that runs on the actor that it is sent to, with the types of its closure.
  public init<R>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: false, body)
  }

  /// A row of no arguments that runs on the actor that it is sent to, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: true, body)
  }

  /// A row of one argument that runs on the actor that it is sent to, with the types of its closure.
  public init<R, A>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: false, body)
  }

  /// A row of one argument that runs on the actor that it is sent to, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: true, body)
  }

  /// A row of two arguments that runs on the actor that it is sent to, with the types of its closure.
  public init<R, A, B>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: false, body)
  }

  /// A row of two arguments that runs on the actor that it is sent to, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: true, body)
  }

  /// A row of three arguments that runs on the actor that it is sent to, with the types of its closure.
  public init<R, A, B, C>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B, C) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: false, body)
  }

  /// A row of three arguments that runs on the actor that it is sent to, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B, C) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: true, body)
  }

  /// A row of four arguments or more that runs on the actor that it is sent to, with the types of its closure.
  public init<R, A, B, C, D, each E>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: false, body)
  }

  /// A row of four arguments or more that runs on the actor that it is sent to, with the types of its closure, and whose answer may cross in a box.
  public init<R: Sendable, A, B, C, D, each E>(
    to selector: MessageSelector,
    isolated body: @escaping @Sendable (isolated Target, A, B, C, D, repeat each E) throws -> R
  ) {
    self.init(onTarget: selector, resultCrosses: true, body)
  }
}
