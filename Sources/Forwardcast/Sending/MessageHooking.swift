// MessageHooking.swift: installs hooks on proxies, facades and tables.

/// An object that runs hooks around its messages: a ``MulticastProxy``, a `@Forwarded` class, an
/// extension point, a ``ForwardingProxy``, or a ``SelectorTable``.
///
///     try service.before(.withdraw) { amount in
///       guard amount < limit else { throw Refusal.tooMuch }
///     }
///     try service.around(.quote) { call in
///       try call.proceed(with: call.arguments.uppercased())
///     }
///
/// **Hooks of a proxy** run once per message, around all targets of the proxy, on the sender's
/// context, even if no target responds. Hooks of a nested proxy surround only the nested proxy's
/// targets. Calls by closure, `broadcast { $0.f() }`, are not messages. **Hooks of a table** run
/// once per receiver, on the context of its method, see ``SelectorTable/before(_:of:_:)``. Their
/// asynchronous form runs only around `async` methods.
///
/// A later hook surrounds earlier hooks of any kind. Installing a hook queries no target. A send
/// throws the error of a hook. A broadcast, which does not throw, reports the error to `onError`.
public protocol MessageHooking {
  /// The owner of the hooks: this proxy or table, or the proxy that this object wraps.
  var hookPlace: HookPlace { get }
}

/// An owner of hooks. Only proxies and tables create owners. A wrapper returns the `HookPlace` of
/// its proxy.
public struct HookPlace: Sendable {
  let holder: any HookHolder

  func install<R, each A>(_ message: Message<(repeat each A) -> R>, _ body: Hook.Body) throws(MessageError)
    -> HookRegistration
  {
    try holder.check(message)
    return try install(message.selector, body)
  }

  @usableFromInline
  func install<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: (@Sendable (HookTurn) throws -> MessageAnswers)?,
    _ waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])?
  ) throws(MessageError) -> HookRegistration {
    try install(message, .around(body, waiting: Hook.Body.waitingBody(waiting, crosses: message.answerCrosses)))
  }

  // Not `@usableFromInline`, which crashes the compiler in optimized test builds (Swift 6.3).
  func install(_ selector: MessageSelector?, _ body: Hook.Body) throws(MessageError) -> HookRegistration {
    try holder.install(Hook(selector, body))
  }
}

protocol HookHolder: NamedReceiver, Sendable {
  /// The method that answers `selector`, if it is known without queries.
  func firstMethod(for selector: MessageSelector) -> Method?

  /// Checks a key's types against the method of its selector. This is a requirement: with only the
  /// extension, the compiler crashes in the cross-module pass of optimized test builds (Swift 6.3).
  func check<R, each A>(_ message: Message<(repeat each A) -> R>) throws(MessageError)

  /// Installs a hook around the existing hooks. Messages that begin later run the new hook.
  func install(_ hook: Hook) throws(MessageError) -> HookRegistration
}

// A proxy that is not `Sendable` remains in one isolation with its hooks. The unused parameter
// `isolation` gives these overloads the same rank as the refusing overloads in
// MessageHooking+Sharing.swift.
extension MessageHooking {
  /// Runs `body` before each message of a key. If `body` throws, no target gets the message.
  ///
  /// - Parameters:
  ///   - message: the key. Arguments of other types are converted.
  ///   - isolation: unused. Leave it out.
  ///   - body: called with the arguments.
  /// - Returns: a handle that cancels the hook. Releasing the handle does not cancel the hook.
  /// - Throws: `wrongArgumentCount` if the key's selector and function type disagree;
  ///   `typeMismatch` if the types cannot be converted to the method's types;
  ///   `unrecognizedSelector` if a table lacks the method.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.before(message, body))
  }

  /// Runs `body` after each successful message of a key, see `before`.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - isolation: unused. Leave it out.
  ///   - body: called with the answers in delivery order, and the arguments. `broadcast` requests
  ///     no answers; queued targets answer only waiting senders.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.after(message, body))
  }

  /// Runs `body` instead of each message of a key, see `before`.
  ///
  /// If a target is queued or suspends, a waiting sender gets `isolationMismatch`. Use `waiting` to
  /// avoid that.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - isolation: unused. Leave it out.
  ///   - body: gets the message and returns the answers, which the sender's policy combines. Each
  ///     `proceed` sends the message to the targets, but only the last outcome counts.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping (MessageCall<R, repeat each A>) throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), nil)
  }

  /// Replaces each message of a key. For waiting senders, such as `collectAndWait`, and for
  /// asynchronous methods, runs `waiting`. Other senders run `body`; without a `body`, they get
  /// `isolationMismatch`.
  ///
  ///     try service.around(.quote, waiting: { call in
  ///       let answers = try await call.proceed()
  ///       return await audited(answers)
  ///     })
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: ((MessageCall<R, repeat each A>) throws -> [R])? = nil,
    waiting: nonisolated(nonsending) @escaping (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), waiting)
  }

  /// Runs `body` before each message of `selector`, or before every message by default. `body` gets
  /// the message boxed.
  @discardableResult
  public func before(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil, _ body: @escaping (Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.before(body))
  }

  /// Runs `body` after each successful message of `selector`, or of any selector by default. `body`
  /// gets the boxed answers and the boxed message, whose ``Invocation/result`` is the last answer.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: @escaping ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.after(body))
  }

  /// Runs `body` instead of each message of `selector`, or instead of every message by default.
  /// `body` gets the message boxed.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: @escaping (InvocationCall) throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, nil))
  }

  /// Replaces each message of `selector`, or every message by default, see the form for a key. Both
  /// functions get the message boxed.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: ((InvocationCall) throws -> [ArgumentBox])? = nil,
    waiting: nonisolated(nonsending) @escaping (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, waiting))
  }
}
