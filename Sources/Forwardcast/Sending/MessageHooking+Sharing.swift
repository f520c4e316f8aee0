// MessageHooking+Sharing.swift: hooks of objects shared between threads.

// These methods are like those in MessageHooking.swift, except that `body` runs on the sender's
// thread.
extension MessageHooking where Self: Sendable {
  /// Runs `body` before each message of a key, on the sender's thread.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.before(message, body))
  }

  /// Runs `body` after each successful message of a key, on the sender's thread.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.after(message, body))
  }

  /// Runs `body` instead of each message of a key, on the sender's thread.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>,
    _ body: @escaping @Sendable (MessageCall<R, repeat each A>) throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), nil)
  }

  /// Replaces each message of a key: runs `waiting` for waiting senders, and `body` for other
  /// senders.
  ///
  /// Swift 6.3 rejects capture lists in `waiting`; write `weak let me = self` before the closure.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>,
    _ body: (@Sendable (MessageCall<R, repeat each A>) throws -> [R])? = nil,
    waiting: nonisolated(nonsending) @escaping @Sendable (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), waiting)
  }

  /// Runs `body` on the sender's thread before each message of `selector` or, if `selector` is
  /// `nil`, before every message. `body` gets the message boxed.
  @discardableResult
  public func before(_ selector: MessageSelector? = nil, _ body: @escaping @Sendable (Invocation) throws -> Void)
    throws(MessageError) -> HookRegistration
  {
    try hookPlace.install(selector, Hook.Body.before(body))
  }

  /// Runs `body` on the sender's thread after each successful message of `selector` or, if
  /// `selector` is `nil`, after every successful message. `body` gets the message boxed.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.after(body))
  }

  /// Runs `body` on the sender's thread instead of each message of `selector` or, if `selector` is
  /// `nil`, instead of every message. `body` gets the message boxed.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable (InvocationCall) throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, nil))
  }

  /// Replaces each message of `selector`, or every message by default, see the form for a key. Both
  /// functions get the message boxed.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, _ body: (@Sendable (InvocationCall) throws -> [ArgumentBox])? = nil,
    waiting: nonisolated(nonsending) @escaping @Sendable (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, waiting))
  }
}

// MARK: - Refused function values

// These overloads are selected only by function values that are not `Sendable`, see
// ``closureMustBeSendable()``.
extension MessageHooking where Self: Sendable {
  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(message, Hook.Body.before(message, body)) }

  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(message, Hook.Body.after(message, body)) }

  /// Refuses a function value that is not `Sendable`.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping (MessageCall<R, repeat each A>) throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), nil)
  }

  /// Refuses a function value that is not `Sendable`.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: ((MessageCall<R, repeat each A>) throws -> [R])? = nil,
    waiting: nonisolated(nonsending) @escaping (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), waiting)
  }

  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func before(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping (Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(selector, Hook.Body.before(body)) }

  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(selector, Hook.Body.after(body)) }

  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping (InvocationCall) throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(selector, Hook.Body.around(body, nil)) }

  /// Refuses a function value that is not `Sendable`.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: ((InvocationCall) throws -> [ArgumentBox])? = nil,
    waiting: nonisolated(nonsending) @escaping (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration { try hookPlace.install(selector, Hook.Body.around(body, waiting)) }
}
