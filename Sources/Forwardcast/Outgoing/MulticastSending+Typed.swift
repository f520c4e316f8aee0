// MulticastSending+Typed.swift: typed messages to every target.

extension MulticastSending {
  /// Sends a message to every live, unmuted target that responds, in order.
  ///
  /// A target whose method has exactly the key's types is called without boxes. For any other the arguments are boxed, once for
  /// all, and converted. Errors of targets go to `onError` and end nothing, unless the proxy stops at the first.
  ///
  /// - Returns: how many were reached.
  @export(implementation)
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      visit(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: false)
  }

  /// Sends a message to every live, unmuted target that responds, in order, and combines the answers by `policy`.
  ///
  /// A policy that knows its result early ends the message. When nobody responds, the result is the policy's empty value.
  ///
  /// - Throws: the first error of a target, after the others have answered, or at once if the proxy stops at the first;
  ///   `nobodyResponds` where silence is an error. Further errors go to `onError`.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends or queues a message to every live, unmuted target that responds, by its delivery.
  ///
  /// Queued messages leave first, in order; then the direct targets run. Every other context gets its own copy of the arguments.
  /// Errors of targets go to `onError`, on the context where they happened.
  ///
  /// - Returns: how many were reached or queued.
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
  /// Queued targets get the message too, but are not waited for: see `collectAndWait(_:_:returning:)`.
  ///
  /// - Throws: as the form for arguments that need not be `Sendable`.
  @export(implementation) @inline(__always)
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(visit(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true).get()
  }
}
