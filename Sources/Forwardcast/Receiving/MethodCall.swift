// MethodCall.swift: what an around hook of a selector table gets.

/// A call of a method at an `around` hook of a table.
///
/// It is good while the hook runs.
public struct MethodCall<R, each A> {
  private let call: MessageCall<R, repeat each A>

  init(_ call: MessageCall<R, repeat each A>) { self.call = call }

  public var selector: MessageSelector { call.selector }
  /// The arguments as they came to this hook.
  public var arguments: (repeat each A) { call.arguments }

  /// Runs what stands inside of this hook: those that were installed before it, and the method. May be called several
  /// times, or not at all.
  ///
  /// - Throws: what an inner hook throws, or the method; `hookEnded` when the hook is over.
  @discardableResult
  public func proceed() throws -> R { try TypedAnswers(try call.proceed()).single(as: R.self, call.turn.message) }

  /// Runs what stands inside of this hook, with `arguments` in place of those that were sent.
  @discardableResult
  public func proceed(with arguments: repeat each A) throws -> R {
    try TypedAnswers(try call.proceed(with: repeat each arguments)).single(as: R.self, call.turn.message)
  }
}

/// A call of a method at an `around` hook of a table, in front of a sender that waits: see ``MethodCall``.
public struct WaitingMethodCall<R, each A> {
  private let call: WaitingMessageCall<R, repeat each A>

  init(_ call: WaitingMessageCall<R, repeat each A>) { self.call = call }

  public var selector: MessageSelector { call.selector }
  /// The arguments as they came to this hook.
  public var arguments: (repeat each A) { call.arguments }

  /// Runs what stands inside of this hook and waits for it: see ``MethodCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> R {
    let list = try await call.proceed()
    return try TypedAnswers(list).single(as: R.self, call.turn.message)
  }

  /// Runs what stands inside of this hook, with other `arguments`, and waits for it.
  @discardableResult
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> R {
    let list = try await call.proceed(with: repeat each arguments)
    return try TypedAnswers(list).single(as: R.self, call.turn.message)
  }
}
