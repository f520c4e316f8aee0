// MessageHooking.swift: hooks are installed, on a proxy, a written class or a table.

/// Something around whose messages hooks can stand: a ``MulticastProxy``, a class that `@Forwarded`
/// writes, an extension point, a ``ForwardingProxy`` before one object, a ``SelectorTable``.
///
///     try service.before(.withdraw) { amount in
///       guard amount < limit else { throw Refusal.tooMuch }
///     }
///     try service.around(.quote) { call in
///       try call.proceed(with: call.arguments.uppercased())
///     }
///
/// **Hooks of a proxy** run once for a message, around all of its targets, in the sender's turn; also when nobody responds.
/// Those of a proxy among the targets of another stand around its own targets only. Calls by closure, `broadcast { $0.f() }`,
/// are no messages. **Hooks of a table** run once for each receiver, in the place where its method runs: see
/// ``SelectorTable/before(_:of:_:)``.
///
/// A hook that is installed later stands outside of those that are there, whatever their kinds. Installing one asks no target
/// anything but for a method of its tables. What a hook throws is the send's error, and a broadcast, which throws nothing, gives it
/// to `onError`.
public protocol MessageHooking {
  /// Where the hooks stand: that of the proxy or the table behind it.
  var hookPlace: HookPlace { get }
}

/// Where hooks stand. Only proxies and tables make one; whoever stands for a proxy gives that of the proxy.
public struct HookPlace: Sendable {
  let holder: any HookHolder

  func install<R, each A>(_ message: Message<(repeat each A) -> R>, _ body: Hook.Body) throws(MessageError)
    -> HookRegistration
  {
    try holder.check(message)
    return try install(message.selector, body)
  }

  /// Installs an `around` hook.
  @usableFromInline
  func install<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: (@Sendable (HookTurn) throws -> MessageAnswers)?,
    _ waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])?
  ) throws(MessageError) -> HookRegistration {
    try install(message, .around(body, waiting: Hook.Body.waitingBody(waiting, crosses: message.answerCrosses)))
  }

  // Inlined: an optimized build for tests crashes in the cross-module pass (Swift 6.3) where the form above calls this.
  func install(_ selector: MessageSelector?, _ body: Hook.Body) throws(MessageError) -> HookRegistration {
    try holder.install(Hook(selector, body))
  }
}

/// Keeps hooks, and runs them around the messages that come to it.
protocol HookHolder: NamedReceiver, Sendable {
  /// The method that answers `selector`, as far as that is known without asking anybody.
  func firstMethod(for selector: MessageSelector) -> Method?

  /// Whether a hook of a key can be one for the messages of its selector. Asked for here, since an optimized build for tests
  /// crashes in the cross-module pass (Swift 6.3) where it stands in an extension alone.
  func check<R, each A>(_ message: Message<(repeat each A) -> R>) throws(MessageError)

  /// Installs a hook outside of those that are there; messages that begin from now on run it.
  func install(_ hook: Hook) throws(MessageError) -> HookRegistration
}

// What is not Sendable stays in one isolation, and its hooks with it. For what is, closures written in place take the forms of
// MessageHooking+Sharing.swift; a function value whose type is not @Sendable takes these, as with `on`.
extension MessageHooking {
  /// Runs `body` before each message of a key.
  ///
  /// What it throws ends the message: nobody gets it.
  ///
  /// - Parameters:
  ///   - message: the key. Messages of the selector that come with other types are converted.
  ///   - body: gets the arguments.
  /// - Returns: a handle that cancels the hook; the hook stays when it is released.
  /// - Throws: `wrongArgumentCount` when the selector has not as many colons as the key has arguments; `typeMismatch` when
  ///   the method that answers it has types that the key's can never become; of a table `unrecognizedSelector` when it
  ///   neither has nor inherits such a row.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.before(message, body))
  }

  /// Runs `body` after each message of a key that did not throw.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - body: gets the answers, in the order of delivery, and the arguments. `broadcast` asks for no answers; queued targets
  ///     give theirs only to senders that wait.
  /// - Returns: a handle that cancels the hook.
  /// - Throws: as `before` of a key.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, Hook.Body.after(message, body))
  }

  /// Runs `body` in place of each message of a key; `body` sends it on, or does not.
  ///
  ///     try service.around(.quote) { call in
  ///       try call.proceed(with: call.arguments.uppercased())
  ///     }
  ///     try service.around(.quote, waiting: { call in
  ///       let answers = try await call.proceed()
  ///       return await audited(answers)
  ///     })
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - body: gets the message, and gives the answers that stand for those of the targets: the sender's policy is applied
  ///     to them. Without `proceed` nobody gets the message; each `proceed` sends it, and the outcome of the last counts.
  ///     Without it, a message whose sender does not wait is refused with `isolationMismatch`.
  ///   - waiting: the same for senders that wait, such as `collectAndWait`, and for methods that suspend.
  /// - Returns: a handle that cancels the hook.
  /// - Throws: as `before` of a key.
  @export(implementation) @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: ((MessageCall<R, repeat each A>) throws -> [R])? = nil,
    waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])? = nil
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(message, aroundBody(body, crosses: message.answerCrosses), waiting)
  }

  /// By boxes: runs `body` before each message of a selector, or before every message.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the message by boxes.
  @discardableResult
  public func before(_ selector: MessageSelector? = nil, _ body: @escaping (Invocation) throws -> Void)
    throws(MessageError) -> HookRegistration
  {
    try hookPlace.install(selector, Hook.Body.before(body))
  }

  /// By boxes: runs `body` after each message of a selector, or after every message, that did not throw.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the answers and the message, whose ``Invocation/result`` is the last of them.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, _ body: @escaping ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.after(body))
  }

  /// By boxes: runs `body` in place of each message of a selector, or of every message.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the message by boxes, and gives the answers that stand for those of the targets.
  ///   - waiting: the same for senders that wait.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, _ body: ((InvocationCall) throws -> [ArgumentBox])? = nil,
    waiting: (nonisolated(nonsending) (WaitingInvocationCall) async throws -> [ArgumentBox])? = nil
  ) throws(MessageError) -> HookRegistration {
    try hookPlace.install(selector, Hook.Body.around(body, waiting))
  }
}
