// MulticastSending+HooksWaiting.swift: hooks that suspend, around messages whose senders wait.
// Layer: Proxy. See DESIGN.md, "Around a message".

// Arguments come in one value: closures that stay in the caller's isolation and have parameters of a pack crash the
// compiler. A capture list makes the compiler take such a closure for one of another isolation: bind outside.

extension MulticastSending {
  /// Runs a `body` that may suspend before each message of a key: see ``before(_:_:)``.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func before<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping (SentMessage<R, repeat each A>) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.waitingBefore(type, body))
  }

  /// Runs a `body` that may suspend after each message of a key that did not throw: see ``after(_:_:)``.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func after<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping (SentMessage<R, repeat each A>) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.waitingAfter(type, body))
  }

  /// Runs a `body` that may suspend in place of each message of a key: see ``around(_:_:waiting:)``.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func around<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.waitingAround(type, crosses: false, body)
    return try install(message.selector, type, .around(nil, waiting: form))
  }

  /// Runs a `body` that may suspend before each message of a selector, or, for `nil`, before every message.
  @discardableResult
  public func before(
    async selector: MessageSelector?, _ body: nonisolated(nonsending) @escaping (Invocation) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(selector, Hook.Body.waitingBefore(body))
  }

  /// Runs a `body` that may suspend after each message of a selector, or, for `nil`, every message, that did not throw.
  @discardableResult
  public func after(
    async selector: MessageSelector?,
    _ body: nonisolated(nonsending) @escaping ([ArgumentBox], Invocation) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(
      selector, Hook.Body.waitingAfter(body))
  }

  /// Runs a `body` that may suspend in place of each message of a selector, or, for `nil`, of every message.
  @discardableResult
  public func around(
    async selector: MessageSelector?,
    _ body: nonisolated(nonsending) @escaping (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    return install(selector, .around(nil, waiting: Hook.Body.waitingAround(body)))
  }
}

extension MulticastSending where Interface: Sendable {
  /// Runs a `body` that may suspend before each message of a key.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func before<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping @Sendable (SentMessage<R, repeat each A>) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.waitingBefore(type, body))
  }

  /// Runs a `body` that may suspend after each message of a key that did not throw.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func after<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping @Sendable (SentMessage<R, repeat each A>) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    return try install(message.selector, type, Hook.Body.waitingAfter(type, body))
  }

  /// Runs a `body` that may suspend in place of each message of a key.
  ///
  /// A message whose sender does not wait is refused with `isolationMismatch`.
  @discardableResult
  public func around<R, each A>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping @Sendable (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.waitingAround(type, crosses: false, body)
    return try install(message.selector, type, .around(nil, waiting: form))
  }

  /// Runs a `body` that may suspend in place of each message of a key whose arguments may cross to queued targets.
  @discardableResult
  public func around<R, each A: Sendable>(
    async message: Message<(repeat each A) -> R>,
    _ body: nonisolated(nonsending) @escaping @Sendable (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.waitingAround(type, crosses: true, body)
    return try install(message.selector, type, .around(nil, waiting: form))
  }

  /// Runs a `body` that may suspend before each message of a selector, or, for `nil`, before every message.
  @discardableResult
  public func before(
    async selector: MessageSelector?,
    _ body: nonisolated(nonsending) @escaping @Sendable (Invocation) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(selector, Hook.Body.waitingBefore(body))
  }

  /// Runs a `body` that may suspend after each message of a selector, or, for `nil`, every message, that did not throw.
  @discardableResult
  public func after(
    async selector: MessageSelector?,
    _ body: nonisolated(nonsending) @escaping @Sendable ([ArgumentBox], Invocation) async throws -> Void
  ) throws(MessageError) -> HookRegistration {
    return install(
      selector, Hook.Body.waitingAfter(body))
  }

  /// Runs a `body` that may suspend in place of each message of a selector, or, for `nil`, of every message.
  @discardableResult
  public func around(
    async selector: MessageSelector?,
    _ body: nonisolated(nonsending) @escaping @Sendable (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) throws(MessageError) -> HookRegistration {
    return install(selector, .around(nil, waiting: Hook.Body.waitingAround(body)))
  }
}
