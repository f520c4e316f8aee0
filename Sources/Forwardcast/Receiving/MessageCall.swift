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
  @usableFromInline let turn: HookTurn

  @export(implementation) @inline(__always)
  init(_ turn: HookTurn) throws {
    // What throws comes first: releasing half of this value crashes the compiler.
    arguments = try turn.message.arguments.values(
      as: ((repeat each A) -> R).self, turn.message.selector, turn.message.receiver
    ).values
    self.turn = turn
  }

  public var selector: MessageSelector { turn.message.selector }

  /// Runs what stands inside of this hook: the hooks that were installed before it, and then the targets.
  ///
  /// May be called several times, or not at all. Each time the message is sent; the outcome of the last counts.
  ///
  /// - Returns: the answers in the order of delivery, as far as the sender asked for them.
  /// - Throws: what an inner hook throws, or the message; `hookEnded` when the hook is over.
  @export(implementation) @discardableResult
  public func proceed() throws -> [R] { try turn.proceed().typed(as: R.self, turn.message) }

  /// Runs what stands inside of this hook, with other `arguments`, which reach direct targets only.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try proceed(Arguments(values: (repeat each arguments)), crosses: false)
  }

  fileprivate func proceed(_ other: Arguments<repeat each A>, crosses: Bool) throws -> [R] {
    try turn.proceed(
      turn.message.arguments.replacing(other, as: ((repeat each A) -> R).self, crosses: crosses, of: selector)
    ).typed(as: R.self, turn.message)
  }
}

extension MessageCall where repeat each A: Sendable {
  /// Runs what stands inside of this hook, with other `arguments`, which may cross to queued targets.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try proceed(Arguments(values: (repeat each arguments)), crosses: true)
  }
}

/// A typed message at an `around` hook whose sender waits: see ``MessageCall``.
public struct WaitingMessageCall<R, each A> {
  /// The arguments as they came to this hook.
  public let arguments: (repeat each A)
  let turn: WaitingHookTurn

  init(_ turn: WaitingHookTurn) throws {
    // What throws comes first: releasing half of this value crashes the compiler.
    arguments = try turn.message.arguments.values(
      as: ((repeat each A) -> R).self, turn.message.selector, turn.message.receiver
    ).values
    self.turn = turn
  }

  public var selector: MessageSelector { turn.message.selector }

  /// Runs what stands inside of this hook and waits for it: see ``MessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [R] {
    try await turn.proceed().typed(as: R.self, turn.message)
  }

  /// Runs what stands inside of this hook, with other `arguments`, which reach direct targets only, and waits for it.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> [R] {
    try await proceed(Arguments(values: (repeat each arguments)), crosses: false)
  }

  nonisolated(nonsending) fileprivate func proceed(
    _ other: Arguments<repeat each A>, crosses: Bool
  ) async throws -> [R] {
    try await turn.proceed(
      turn.message.arguments.replacing(other, as: ((repeat each A) -> R).self, crosses: crosses, of: selector)
    ).typed(as: R.self, turn.message)
  }
}

extension WaitingMessageCall where repeat each A: Sendable {
  /// Runs what stands inside of this hook, with other `arguments`, which may cross to queued targets, and waits for it.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> [R] {
    try await proceed(Arguments(values: (repeat each arguments)), crosses: true)
  }
}

/// A message by boxes at an `around` hook for a selector, or for all messages: see ``MessageCall``.
public struct InvocationCall {
  /// The receiver whose method is called, at a hook of a table; `nil` at one of a proxy, which runs once for all targets.
  public let target: AnyObject?
  /// The message as it came to this hook.
  public let invocation: Invocation
  let turn: HookTurn

  /// Runs what stands inside of this hook: see ``MessageCall/proceed()``.
  @discardableResult
  public func proceed() throws -> [ArgumentBox] { try turn.proceed().boxes }

  /// Runs what stands inside of this hook, with `arguments` in place of those that were sent.
  @discardableResult
  public func proceed(with arguments: [ArgumentBox]) throws -> [ArgumentBox] {
    try turn.proceed(turn.message.arguments.replacing(arguments, of: turn.message.selector)).boxes
  }
}

/// A message by boxes at an `around` hook whose sender waits: see ``MessageCall``.
public struct WaitingInvocationCall {
  /// The receiver whose method is called: see ``InvocationCall/target``.
  public let target: AnyObject?
  /// The message as it came to this hook.
  public let invocation: Invocation
  let turn: WaitingHookTurn

  /// Runs what stands inside of this hook and waits for it: see ``MessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [ArgumentBox] { try await turn.proceed().boxes }

  /// Runs what stands inside of this hook, with other `arguments`, and waits for it.
  @discardableResult
  nonisolated(nonsending) public func proceed(with arguments: [ArgumentBox]) async throws -> [ArgumentBox] {
    try await turn.proceed(turn.message.arguments.replacing(arguments, of: turn.message.selector)).boxes
  }
}

/// The time in which an `around` hook runs. Stays in the turn of its message, as the calls do that go on with it.
@usableFromInline
class RunningHook {
  /// The message as it came to the hook.
  @usableFromInline final let message: HookedMessage
  private final var isOver = false

  fileprivate init(_ message: HookedMessage) { self.message = message }

  final func end() { isOver = true }

  /// Whoever keeps a call beyond its hook would send a message that its sender knows nothing of.
  fileprivate final func check() throws(MessageError) {
    guard isOver else { return }
    throw MessageError(.hookEnded, receiver: "the hook's call", selector: message.selector.name)
  }
}

/// A hook that runs in the sender's turn, with what stands inside of it.
@usableFromInline
final class HookTurn: RunningHook {
  private let inside: HookChain
  private let count: Int
  private let rest: Hook.Rest

  /// - Parameter count: how many hooks of the chain stand inside.
  init(_ message: HookedMessage, around inside: HookChain, _ count: Int, _ rest: @escaping Hook.Rest) {
    (self.inside, self.count, self.rest) = (inside, count, rest)
    super.init(message)
  }

  /// Runs what stands inside, with other arguments where some are given.
  @usableFromInline
  func proceed(_ arguments: MessageArguments? = nil) throws -> MessageAnswers {
    try check()
    let arguments = arguments ?? message.arguments
    return try count == 0 ? rest(arguments) : inside.run(message.with(arguments), inside: count, rest)
  }
}

/// The same for a hook that may suspend.
final class WaitingHookTurn: RunningHook {
  private let rest: Hook.WaitingRest

  init(_ message: HookedMessage, _ rest: @escaping Hook.WaitingRest) {
    self.rest = rest
    super.init(message)
  }

  nonisolated(nonsending) func proceed(_ arguments: MessageArguments? = nil) async throws -> MessageAnswers {
    try check()
    return try await rest(arguments ?? message.arguments)
  }
}
