// MessageHooking.swift: installs hooks on a proxy, a written class or a table.

/// Something that takes hooks around its messages: a ``MulticastProxy``, a class that `@Forwarded` writes, an extension point, a
/// ``ForwardingProxy``, a ``SelectorTable``.
///
///     try service.before(.withdraw) { amount in
///       guard amount < limit else { throw Refusal.tooMuch }
///     }
///     try service.around(.quote) { call in
///       try call.proceed(with: call.arguments.uppercased())
///     }
///
/// **Hooks of a proxy** run once for a message, around all of its targets, in the sender's turn, also when nobody responds.
/// Those of a nested proxy surround its own targets only. Calls by closure, `broadcast { $0.f() }`, are no messages.
/// **Hooks of a table** run once for each receiver, where its method runs: see ``SelectorTable/before(_:of:_:)``.
///
/// A later hook surrounds those already there, whatever their kinds. Installing one only looks into tables. What a hook
/// throws is the send's error; a broadcast, which does not throw, passes it to `onError`.
public protocol MessageHooking {
  /// Where the hooks are kept: in the proxy or table itself, or in the one that this stands for.
  var hookPlace: HookPlace { get }
}

/// The keeper of hooks. Only proxies and tables make one; what stands for a proxy returns the proxy's.
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

  // Not `@usableFromInline`: an optimized build for tests would crash in the cross-module pass (Swift 6.3) where the form above
  // calls this.
  func install(_ selector: MessageSelector?, _ body: Hook.Body) throws(MessageError) -> HookRegistration {
    try holder.install(Hook(selector, body))
  }
}

/// Keeps hooks and runs them around its messages.
protocol HookHolder: NamedReceiver, Sendable {
  /// The method that answers `selector`, as far as is known without asking anybody.
  func firstMethod(for selector: MessageSelector) -> Method?

  /// Checks that a hook of a key fits messages of its selector. A requirement because an optimized build for tests crashes in the
  /// cross-module pass (Swift 6.3) with only the extension.
  func check<R, each A>(_ message: Message<(repeat each A) -> R>) throws(MessageError)

  /// Installs a hook outside of those already there; messages that begin from now on run it.
  func install(_ hook: Hook) throws(MessageError) -> HookRegistration
}

// A proxy that is not `Sendable` stays in one isolation, and its hooks with it. `isolation` only
// makes these forms rank like those in MessageHooking+Sharing.swift that refuse function values.
extension MessageHooking {
  /// Runs `body` before each message of a key. If it throws, nobody gets the message.
  ///
  /// - Parameters:
  ///   - message: the key. Arguments of other types are converted.
  ///   - isolation: where the hook is installed. Leave it out.
  ///   - body: gets the arguments.
  /// - Returns: a handle that cancels the hook; releasing it does not.
  /// - Throws: `wrongArgumentCount` when selector and key disagree; `typeMismatch` when the answering method has types that the
  ///   key's can never become; of a table `unrecognizedSelector` when it neither has nor inherits such a row.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.before(message, body))
  }

  /// Runs `body` after each message of a key that did not throw: see `before`.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - isolation: where the hook is installed. Leave it out.
  ///   - body: gets the answers in the order of delivery, and the arguments. `broadcast` asks for no answers; queued targets
  ///     answer only senders that wait.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.after(message, body))
  }

  /// Runs `body` in place of each message of a key: see `before`.
  ///
  ///     try service.around(.quote) { call in
  ///       try call.proceed(with: call.arguments.uppercased())
  ///     }
  ///
  /// A sender that waits then gets `isolationMismatch` only if the targets suspend: see the form
  /// with `waiting`.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - isolation: where the hook is installed. Leave it out.
  ///   - body: gets the message and returns the answers, to which the sender's policy is applied.
  ///     Each `proceed` sends the message to the targets; the outcome of the last one counts.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, isolation: (any Actor)? = nil,
    _ body: @escaping (MessageCall<R, repeat each A>) throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), nil)
  }

  /// Runs `waiting` in place of each message of a key for senders that wait, such as
  /// `collectAndWait`, and for methods that suspend. Other senders run `body`; without it they get
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

  /// Runs `body` with boxes before each message of `selector`, by default before every message.
  @discardableResult
  public func before(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil, _ body: @escaping (Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.before(body))
  }

  /// Runs `body` with boxes after each message of `selector`, by default of every message, that did not throw. It gets the answers
  /// and the message, whose ``Invocation/result`` is the last of them.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: @escaping ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.after(body))
  }

  /// Runs `body` with boxes in place of each message of `selector`, by default of every message.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: @escaping (InvocationCall) throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, nil))
  }

  /// Runs `waiting`, with boxes, in place of each message for senders that wait, and `body` for
  /// others.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, isolation: (any Actor)? = nil,
    _ body: ((InvocationCall) throws -> [ArgumentBox])? = nil,
    waiting: nonisolated(nonsending) @escaping (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, waiting))
  }
}
