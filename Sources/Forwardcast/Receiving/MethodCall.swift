// MethodCall.swift: the calls that `around` hooks of a selector table receive.

/// The call of a method that an `around` hook of a table gets. Valid while the hook runs.
public struct MethodCall<R, each A> {
  private let call: MessageCall<R, repeat each A>

  init(_ call: MessageCall<R, repeat each A>) { self.call = call }

  /// The message's selector.
  public var selector: MessageSelector { call.selector }
  /// The arguments that reached this hook.
  public var arguments: (repeat each A) { call.arguments }

  /// Runs the inner hooks, then the method. May be called repeatedly.
  ///
  /// - Throws: the error of an inner hook or the method; `hookEnded` after the hook has returned.
  @discardableResult
  public func proceed() throws -> R { try TypedAnswers(try call.proceed()).single(as: R.self, call.turn.message) }

  /// Proceeds with other `arguments`.
  @discardableResult
  public func proceed(with arguments: repeat each A) throws -> R {
    try TypedAnswers(try call.proceed(with: repeat each arguments)).single(as: R.self, call.turn.message)
  }
}

/// The call of a method that an `around` hook of a table gets from a waiting sender, see
/// ``MethodCall``.
public struct WaitingMethodCall<R, each A> {
  private let call: WaitingMessageCall<R, repeat each A>

  init(_ call: WaitingMessageCall<R, repeat each A>) { self.call = call }

  /// The message's selector.
  public var selector: MessageSelector { call.selector }
  /// The arguments that reached this hook.
  public var arguments: (repeat each A) { call.arguments }

  /// Runs the inner hooks, then the method, and awaits it, see ``MethodCall/proceed()``.
  @discardableResult
  nonisolated(nonsending) public func proceed() async throws -> R {
    let list = try await call.proceed()
    return try TypedAnswers(list).single(as: R.self, call.turn.message)
  }

  /// Proceeds with other `arguments`, which must not leave the sender's isolation.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> R {
    let list = try await call.proceed(with: repeat each arguments)
    return try TypedAnswers(list).single(as: R.self, call.turn.message)
  }
}

extension WaitingMethodCall where repeat each A: Sendable {
  /// Proceeds with other `arguments`, which may also leave the sender's isolation.
  @discardableResult @_disfavoredOverload
  nonisolated(nonsending) public func proceed(with arguments: repeat each A) async throws -> R {
    let list = try await call.proceed(with: repeat each arguments)
    return try TypedAnswers(list).single(as: R.self, call.turn.message)
  }
}
