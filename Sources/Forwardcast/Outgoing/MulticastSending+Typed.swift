// MulticastSending+Typed.swift: typed messages to every target, written once for all who send to many.

extension MulticastSending {
  /// Sends a message to every live, unmuted target that responds, in order, and makes nothing of the answers.
  ///
  /// A target whose method has exactly the key's types is called without a box. For any other the arguments are boxed,
  /// once for all, and converted. Errors of targets go to `onError` and end nothing, unless the proxy stops at the
  /// first.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Returns: how many were reached.
  @export(implementation)
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      visit(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: false)
  }

  /// Asks every live, unmuted target that responds, in order, and makes one result of the answers.
  ///
  /// A policy that knows its result early asks nobody further. Where nobody responds, the result is the policy's empty
  /// value.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: the first error of a target, after the others have answered, or at once where the proxy stops at the
  ///   first; `nobodyResponds` where silence is an error. Further errors go to `onError`.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends or queues a message to every live, unmuted target that responds, where and when its delivery says.
  ///
  /// What is queued leaves first, in order, and then the direct targets run. Every target of another context has its
  /// own copy of the arguments. Errors of targets go to `onError`, in the turn of the context where they happened.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Returns: how many were reached or queued.
  @export(implementation)
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      visit(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
  }

  /// Asks the direct targets that respond, and makes one result of their answers.
  ///
  /// Queued targets get the message as well, but nobody waits for them: see `collectAndWait(_:_:returning:)`.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: as the form for arguments that need not be `Sendable`.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true).get()
  }
}
