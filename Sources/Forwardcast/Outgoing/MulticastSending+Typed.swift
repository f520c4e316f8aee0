// MulticastSending+Typed.swift: typed messages to every target.

extension MulticastSending {
  /// Sends a message to every live, unmuted target that responds, in order.
  ///
  /// A method with exactly the key's types is called unboxed. For other methods, the arguments are
  /// boxed once and converted. Errors go to `onError`. With `stopAtFirst`, the first error also
  /// ends the message.
  ///
  /// - Returns: the numbers of targets, by outcome.
  @export(implementation)
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      visit(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: false)
  }

  /// Sends a message to every live, unmuted target that responds, in order, and combines the
  /// answers by `policy`.
  ///
  /// A policy may end the message early. Without answers the result is the policy's empty value.
  ///
  /// - Throws: the first error of a target, after all targets have run (immediately with
  ///   `stopAtFirst`); `nobodyResponds` if no target responds and ``MulticastOptions/noResponder``
  ///   is `throw`. Further errors go to `onError`.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message, directly or queued, to every live, unmuted target that responds.
  ///
  /// Queued targets get the message first, in order; then direct targets run. Each queued target
  /// gets its own copies of ``ArgumentCopying`` objects. Errors go to `onError`, on the context
  /// where they occur.
  ///
  /// - Returns: the numbers of targets, by outcome.
  @export(implementation)
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      visit(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
  }

  /// Sends a message to every target and combines the direct targets' answers by `policy`.
  ///
  /// Queued targets get the message too, but only `collectAndWait(_:_:returning:)` awaits their
  /// answers.
  ///
  /// - Throws: as `collect` of an interface that is not `Sendable`; also `notAwaited` if only
  ///   queued targets respond.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true).get()
  }
}
