// MulticastSending+Hooks.swift: hooks around the messages of a proxy.
// Layer: Proxy. See DESIGN.md, "Around a message".

// A proxy that is not Sendable stays in one isolation, and its hooks with it. For a proxy that is, closures written in place
// take the forms for Sendable interfaces; a function value whose type is not @Sendable takes these, as with `on`.

extension MulticastSending {
  /// Runs `body` before each message of a key, as far as it is sent through this proxy.
  ///
  ///     try service.before(.withdraw) { amount in guard amount < limit else { throw Refusal.tooMuch } }
  ///
  /// What it throws ends the message: nobody gets it, and the error is the send's. A broadcast, which throws nothing, gives
  /// it to `onError` and counts it as one failure.
  ///
  /// **Hooks of a proxy** run once for a message, around all of its targets, in the sender's turn; also when nobody
  /// responds. A hook that is installed later stands outside of those that are there, whatever their kinds. Those of a
  /// proxy among the targets of another stand around its own targets only. Calls by closure, `broadcast { $0.f() }`, are no
  /// messages.
  ///
  /// - Parameters:
  ///   - message: the key. Messages of the selector that come with other types are converted.
  ///   - body: gets the arguments.
  /// - Returns: a handle that cancels the hook; the hook stays when it is released.
  /// - Throws: `wrongArgumentCount` when the selector has not as many colons as the key has arguments; `typeMismatch` when
  ///   the method that answers it has types that the key's can never become.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.before(type, body))
  }

  /// Runs `body` after each message of a key that did not throw: see ``before(_:_:)`` for the rules of hooks.
  ///
  /// What it throws is the send's error.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - body: gets the answers, in the order of delivery, and the arguments. `broadcast` asks for no answers; queued targets
  ///     give theirs only to senders that wait.
  /// - Returns: a handle that cancels the hook.
  /// - Throws: as ``before(_:_:)``.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.after(type, body))
  }

  /// Runs `body` in place of each message of a key; `body` sends it on, or does not. See ``before(_:_:)`` for the rules.
  ///
  ///     try service.around(.quote) { call in try call.proceed(with: call.arguments.uppercased()) }
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - body: gets the message, and gives the answers that stand for those of the targets: the sender's policy is applied
  ///     to them. Without `proceed` nobody gets the message; each `proceed` sends it, and the outcome of the last counts.
  ///   - waiting: the same for senders that wait, such as `collectAndWait`. Without it a message whose sender waits is
  ///     refused with `isolationMismatch`.
  /// - Returns: a handle that cancels the hook.
  /// - Throws: as ``before(_:_:)``.
  @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping (MessageCall<R, repeat each A>) throws -> [R],
    waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])? = nil
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.around(type, crosses: false, body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      waitingForm = Hook.Body.waitingAround(type, crosses: false, waiting)
    }
    return try install(message.selector, type, .around(form, waiting: waitingForm))
  }

  /// Runs `body` before each message of a selector, or before every message: see ``before(_:_:)`` of a key.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the message by boxes.
  @discardableResult
  public func before(_ selector: MessageSelector? = nil, _ body: @escaping (Invocation) throws -> Void)
    throws(MessageError) -> HookRegistration
  {
    return install(selector, Hook.Body.before(body))
  }

  /// Runs `body` after each message of a selector, or after every message, that did not throw: see ``after(_:_:)`` of a key.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the answers and the message, whose ``Invocation/result`` is the last of them.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, _ body: @escaping ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(
      selector, Hook.Body.after(body))
  }

  /// Runs `body` in place of each message of a selector, or of every message: see ``around(_:_:waiting:)`` of a key.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - body: gets the message by boxes, and gives the answers that stand for those of the targets.
  ///   - waiting: the same for senders that wait.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, _ body: @escaping (InvocationCall) throws -> [ArgumentBox],
    waiting: (nonisolated(nonsending) (WaitingInvocationCall) async throws -> [ArgumentBox])? = nil
  ) throws(MessageError) -> HookRegistration {
    let form = Hook.Body.around(body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      waitingForm = Hook.Body.waitingAround(waiting)
    }
    return install(selector, .around(form, waiting: waitingForm))
  }
}

extension MulticastSending {
  /// Where hooks are. Whoever sends to many by a proxy of its own is asked for a route, which leads there.
  var core: MulticastCore { (self as? MulticastProxy<Interface>)?.core ?? route(for: "anything").core }

  func install<R, each A>(
    _ selector: MessageSelector, _ type: ((repeat each A) -> R).Type, _ body: Hook.Body
  ) throws(MessageError) -> HookRegistration {
    let core = core
    try core.check(selector, type)
    return core.install(Hook(selector, body))
  }

  func install(_ selector: MessageSelector?, _ body: Hook.Body) -> HookRegistration {
    core.install(Hook(selector, body))
  }
}
