// MulticastSending+HooksSharing.swift: hooks of a proxy that is shared between threads.
// Layer: Proxy. See DESIGN.md, "Around a message".

extension MulticastSending where Interface: Sendable {
  /// Runs `body` before each message of a key, on the thread of its sender.
  @discardableResult
  public func before<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.before(type, body))
  }

  /// Runs `body` after each message of a key that did not throw, on the thread of its sender.
  @discardableResult
  public func after<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable ([R], repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.after(type, body))
  }

  /// Runs `body` in place of each message of a key, on the thread of its sender.
  @discardableResult
  public func around<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (MessageCall<R, repeat each A>) throws -> [R],
    waiting: (nonisolated(nonsending) @Sendable (WaitingMessageCall<R, repeat each A>) async throws -> [R])? = nil
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.around(type, crosses: false, body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      waitingForm = Hook.Body.waitingAround(type, crosses: false, waiting)
    }
    return try install(message.selector, type, .around(form, waiting: waitingForm))
  }

  /// Runs `body` before each message of a selector, or every message, on the thread of its sender.
  @discardableResult
  public func before(_ selector: MessageSelector? = nil, _ body: @escaping @Sendable (Invocation) throws -> Void)
    throws(MessageError) -> HookRegistration
  {
    return install(selector, Hook.Body.before(body))
  }

  /// Runs `body` after each message of a selector, or every message, that did not throw, on the thread of its sender.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable ([ArgumentBox], Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(
      selector, Hook.Body.after(body))
  }

  /// Runs `body` in place of each message of a selector, or of every message, on the thread of its sender.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable (InvocationCall) throws -> [ArgumentBox],
    waiting: (nonisolated(nonsending) @Sendable (WaitingInvocationCall) async throws -> [ArgumentBox])? = nil
  ) throws(MessageError) -> HookRegistration {
    let form = Hook.Body.around(body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting { waitingForm = Hook.Body.waitingAround(waiting) }
    return install(selector, .around(form, waiting: waitingForm))
  }

  /// Runs `body` in place of each message of a key, on the thread of its sender.
  @discardableResult
  public func around<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ body: @escaping @Sendable (MessageCall<R, repeat each A>) throws -> [R],
    waiting: (nonisolated(nonsending) @Sendable (WaitingMessageCall<R, repeat each A>) async throws -> [R])? = nil
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.around(type, crosses: true, body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      waitingForm = Hook.Body.waitingAround(type, crosses: true, waiting)
    }
    return try install(message.selector, type, .around(form, waiting: waitingForm))
  }
}
