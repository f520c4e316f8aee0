// MessageCall.swift: what an around hook gets, and goes on with.

/// A typed message at an `around` hook.
///
///     try proxy.around(.progress) { call in
///       // skipped: nobody gets it:
///       guard call.arguments != "secret" else { return [] }
///       return try call.proceed().map { $0 / 2 }                    // other answers
///     }
///
/// It is good while the hook runs.
///
/// For a message of no arguments `proceed()` would be each of the forms below: those with arguments are taken last.
public struct MessageCall<R, each A> {
  /// The arguments as they came to this hook.
  public let arguments: (repeat each A)
  let message: HookedMessage
  /// What stands inside, for other arguments and whether they may cross.
  let rest: (Arguments<repeat each A>?, Bool) throws -> [R]

  public var selector: MessageSelector { message.selector }

  /// Runs what stands inside of this hook: the hooks that were installed before it, and then the targets.
  ///
  /// May be called several times, or not at all. Each time the message is sent; the outcome of the last counts.
  ///
  /// - Returns: the answers in the order of delivery, as far as the sender asked for them.
  /// - Throws: what an inner hook throws, or the message; `hookEnded` when the hook is over.
  @discardableResult
  public func proceed() throws -> [R] { try rest(nil, false) }

  /// Runs what stands inside of this hook, with other `arguments`, which reach direct targets only.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try rest(Arguments(values: (repeat each arguments)), false)
  }
}

extension MessageCall where repeat each A: Sendable {
  /// Runs what stands inside of this hook, with other `arguments`, which may cross to queued targets.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try rest(Arguments(values: (repeat each arguments)), true)
  }
}

/// A typed message at an `around` hook whose sender waits: see ``MessageCall``.
public struct WaitingMessageCall<R, each A> {
  /// The arguments as they came to this hook.
  public let arguments: (repeat each A)
  let message: HookedMessage
  let rest: nonisolated(nonsending) (Arguments<repeat each A>?, Bool) async throws -> [R]

  public var selector: MessageSelector { message.selector }

  /// Runs what stands inside of this hook and waits for it: see ``MessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [R] { try await rest(nil, false) }

  /// Runs what stands inside of this hook, with other `arguments`, which reach direct targets only, and waits for it.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> [R] {
    try await rest(Arguments(values: (repeat each arguments)), false)
  }
}

extension WaitingMessageCall where repeat each A: Sendable {
  /// Runs what stands inside of this hook, with other `arguments`, which may cross to queued targets, and waits for it.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> [R] {
    try await rest(Arguments(values: (repeat each arguments)), true)
  }
}

/// A message by boxes at an `around` hook for a selector, or for all messages: see ``MessageCall``.
public struct InvocationCall {
  /// The receiver whose method is called, at a hook of a table; `nil` at one of a proxy, which runs once for all targets.
  public let target: AnyObject?
  /// The message as it came to this hook.
  public let invocation: Invocation
  let rest: ([ArgumentBox]?) throws -> [ArgumentBox]

  /// Runs what stands inside of this hook: see ``MessageCall/proceed()``.
  @discardableResult
  public func proceed() throws -> [ArgumentBox] { try rest(nil) }

  /// Runs what stands inside of this hook, with `arguments` in place of those that were sent.
  @discardableResult
  public func proceed(with arguments: [ArgumentBox]) throws -> [ArgumentBox] { try rest(arguments) }
}

/// A message by boxes at an `around` hook whose sender waits: see ``MessageCall``.
public struct WaitingInvocationCall {
  /// The receiver whose method is called: see ``InvocationCall/target``.
  public let target: AnyObject?
  /// The message as it came to this hook.
  public let invocation: Invocation
  let rest: nonisolated(nonsending) ([ArgumentBox]?) async throws -> [ArgumentBox]

  /// Runs what stands inside of this hook and waits for it: see ``MessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [ArgumentBox] { try await rest(nil) }

  /// Runs what stands inside of this hook, with other `arguments`, and waits for it.
  @discardableResult
  nonisolated(nonsending) public func proceed(with arguments: [ArgumentBox]) async throws -> [ArgumentBox] {
    try await rest(arguments)
  }
}

/// The time in which a hook runs. Stays in the turn of its message, as the calls do that go on with it.
final class HookTurn {
  private var isOver = false

  func end() { isOver = true }

  /// Whoever keeps a call beyond its hook would send a message that its sender knows nothing of.
  @inline(never) func check(_ selector: MessageSelector) throws(MessageError) {
    guard isOver else { return }
    throw MessageError(.hookEnded, receiver: "the hook's call", selector: selector.name)
  }
}
