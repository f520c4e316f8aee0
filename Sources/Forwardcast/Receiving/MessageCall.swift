// MessageCall.swift: the calls that `around` hooks receive.

/// The typed message that an `around` hook gets. Valid while the hook runs.
///
///     try proxy.around(.progress) { call in
///       // Withholds the message from all targets:
///       guard call.arguments != "secret" else { return [] }
///       return try call.proceed().map { $0 / 2 }  // changes the answers
///     }
///
/// Overloads with arguments are disfavored, since `proceed()` would match them too if the message
/// has no arguments.
public struct MessageCall<R, each A> {
  /// The arguments that reached this hook.
  public let arguments: (repeat each A)
  @usableFromInline let turn: HookTurn

  @export(implementation) @inline(__always)
  init(_ turn: HookTurn) throws {
    // Throwing expressions first: the compiler crashes if it must release a half-initialized value.
    arguments = try turn.message.arguments.values(
      as: ((repeat each A) -> R).self, turn.message.selector, turn.message.receiver
    ).values
    self.turn = turn
  }

  /// The message's selector.
  public var selector: MessageSelector { turn.message.selector }

  /// Runs the inner hooks, then the targets. Each call sends the message; the last outcome counts.
  ///
  /// - Returns: the answers in delivery order, if the sender requested any.
  /// - Throws: the error of an inner hook or the message; `hookEnded` after the hook has returned.
  @export(implementation) @discardableResult
  public func proceed() throws -> [R] { try turn.typed(try turn.proceed()) }

  /// Proceeds with other `arguments`, which reach direct targets only.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try proceed(Arguments(values: (repeat each arguments)), crosses: false)
  }

  fileprivate func proceed(_ other: Arguments<repeat each A>, crosses: Bool) throws -> [R] {
    try turn.typed(
      try turn.proceed(
        turn.message.arguments.replacing(other, as: ((repeat each A) -> R).self, crosses: crosses, of: selector)))
  }
}

extension MessageCall where repeat each A: Sendable {
  /// Proceeds with other `arguments`, which may also reach queued targets.
  @discardableResult @_disfavoredOverload
  public func proceed(with arguments: repeat each A) throws -> [R] {
    try proceed(Arguments(values: (repeat each arguments)), crosses: true)
  }
}

/// The typed message of a waiting sender that an `around` hook gets, see ``MessageCall``.
public struct WaitingMessageCall<R, each A> {
  /// The arguments that reached this hook.
  public let arguments: (repeat each A)
  let turn: WaitingHookTurn

  init(_ turn: WaitingHookTurn) throws {
    // Throwing expressions first, see `MessageCall.init`.
    arguments = try turn.message.arguments.values(
      as: ((repeat each A) -> R).self, turn.message.selector, turn.message.receiver
    ).values
    self.turn = turn
  }

  /// The message's selector.
  public var selector: MessageSelector { turn.message.selector }

  /// Runs the inner hooks, then the targets, and awaits them, see ``MessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [R] {
    try await turn.proceed().typed(as: R.self, turn.message)
  }

  /// Proceeds with other `arguments`, which reach direct targets only.
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
  /// Proceeds with other `arguments`, which may also reach queued targets.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> [R] {
    try await proceed(Arguments(values: (repeat each arguments)), crosses: true)
  }
}

// A hook may pass its call to a task group, to race a timeout. Only one task proceeds at a time.
extension WaitingMessageCall: @unchecked Sendable where repeat each A: Sendable {}  // the turn is Sendable too

/// The boxed message that a hook around a selector or all messages gets, see ``MessageCall``.
public struct InvocationCall {
  /// The receiver of the method, if the hook belongs to a table; `nil` for a proxy's hook, which
  /// runs once for all targets.
  public let target: AnyObject?
  /// The message that reached this hook.
  public let invocation: Invocation
  let turn: HookTurn

  /// See ``MessageCall/proceed()``.
  @discardableResult
  public func proceed() throws -> [ArgumentBox] { try turn.proceed().boxes }

  /// Proceeds with other `arguments`.
  @discardableResult
  public func proceed(with arguments: [ArgumentBox]) throws -> [ArgumentBox] {
    try turn.proceed(turn.message.arguments.replacing(arguments, of: turn.message.selector)).boxes
  }
}

/// The boxed message of a waiting sender that an `around` hook gets, see ``MessageCall``.
public struct WaitingInvocationCall {
  /// See ``InvocationCall/target``.
  public let target: AnyObject?
  /// The message that reached this hook.
  public let invocation: Invocation
  let turn: WaitingHookTurn

  /// See ``WaitingMessageCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> [ArgumentBox] { try await turn.proceed().boxes }

  /// Proceeds with other `arguments`.
  @discardableResult
  nonisolated(nonsending) public func proceed(with arguments: [ArgumentBox]) async throws -> [ArgumentBox] {
    try await turn.proceed(turn.message.arguments.replacing(arguments, of: turn.message.selector)).boxes
  }
}

@usableFromInline
class RunningHook {
  @usableFromInline final let message: HookedMessage

  fileprivate init(_ message: HookedMessage) { self.message = message }
}

/// A run of a synchronous hook. It remains on the message's thread.
@usableFromInline
final class HookTurn: RunningHook {
  private var isOver = false
  private let inside: HookChain
  private let count: Int
  private let isAwaited: Bool
  private let rest: Hook.Rest
  /// The answers that the last `proceed` gave to the hook, and the answers before conversion.
  @usableFromInline var converted: (list: MessageAnswers, source: MessageAnswers)?

  /// - Parameters:
  ///   - count: the number of hooks inside this one.
  ///   - isAwaited: true if the sender awaits the message.
  init(
    _ message: HookedMessage, around inside: HookChain, _ count: Int, isAwaited: Bool, _ rest: @escaping Hook.Rest
  ) {
    (self.inside, self.count, self.isAwaited, self.rest) = (inside, count, isAwaited, rest)
    super.init(message)
  }

  func end() { isOver = true }

  /// Runs the inner hooks and the message. Throws `hookEnded` after the hook has returned.
  @usableFromInline
  func proceed(_ arguments: MessageArguments? = nil) throws -> MessageAnswers {
    if isOver {
      throw MessageError(
        .hookEnded, receiver: "an around hook", selector: message.selector.name,
        evidence: "'proceed' was called after the hook returned")
    }
    let arguments = arguments ?? message.arguments
    if count == 0 { return try rest(arguments) }
    return try inside.run(message.with(arguments), inside: count, isAwaited: isAwaited, rest)
  }

  @export(implementation) @inline(__always)
  func typed<R>(_ answers: MessageAnswers) throws -> [R] {
    if let list = answers.list(of: R.self) { return list }
    let list = try answers.converted(message) as [R]
    converted = (TypedAnswers(list), answers)
    return list
  }

  /// The answers that the hook returned. If these are the unchanged answers of its last `proceed`,
  /// returns the answers before conversion.
  @export(implementation) @inline(__always)
  func returned<R>(_ list: [R], crosses: Bool) -> MessageAnswers {
    if let (known, source) = converted, known.type == ObjectIdentifier(R.self),
      unsafeDowncast(known, to: TypedAnswers<R>.self).hasSameStorage(as: list)
    {
      return source
    }
    return TypedAnswers.list(list, crosses: crosses)
  }
}

/// A run of an asynchronous hook. Its child tasks may proceed, one at a time.
final class WaitingHookTurn: RunningHook, @unchecked Sendable {  // `state` has a lock; the rest is immutable
  private enum State { case idle, proceeding(Completion), over }

  private let rest: Hook.WaitingRest
  /// The sender's actor. The message runs on it, even if a task on another actor proceeds.
  private let home: (any Actor)?
  private let state = Guarded(State.idle)

  init(_ message: HookedMessage, on home: (any Actor)?, _ rest: @escaping Hook.WaitingRest) {
    (self.rest, self.home) = (rest, home)
    super.init(message)
  }

  nonisolated(nonsending) func proceed(_ arguments: MessageArguments? = nil) async throws -> MessageAnswers {
    let completion = try begin()
    defer {
      state.withLock { if case .proceeding = $0 { $0 = .idle } }
      completion.leave()
    }
    let (here, arguments) = (#isolation, arguments ?? message.arguments)
    if here === home { return try await rest(arguments) }
    return try await Self.run(UncheckedSendable((rest, arguments)), on: home).value
  }

  private static func run(
    _ sent: UncheckedSendable<(rest: Hook.WaitingRest, arguments: MessageArguments)>, on home: isolated (any Actor)?
  ) async throws -> UncheckedSendable<MessageAnswers> {
    UncheckedSendable(try await sent.value.rest(sent.value.arguments))
  }

  private func begin() throws(MessageError) -> Completion {
    let completion = Completion()
    completion.enter()
    let begins = state.withLock { state in
      guard case .idle = state else { return false }
      state = .proceeding(completion)
      return true
    }
    if begins { return completion }
    throw MessageError(
      .hookEnded, receiver: "an around hook", selector: message.selector.name,
      evidence: "'proceed' was called after the hook returned, or while another 'proceed' was running")
  }

  /// Ends the run, and awaits a child task that is still proceeding.
  nonisolated(nonsending) func endAndWait() async {
    let open = state.withLock { state in
      let open: Completion? = if case .proceeding(let completion) = state { completion } else { nil }
      state = .over
      return open
    }
    try? await open?.untilDone()
  }
}
