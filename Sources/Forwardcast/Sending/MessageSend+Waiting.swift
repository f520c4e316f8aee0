// MessageSend+Waiting.swift: sends to one receiver that cross isolations, or wait.
// Layer: Sending. See DESIGN.md, "Promises of delivery".

extension MessageReceiver {
  /// Sends a message whose arguments may cross to other isolations, which a receiver that forwards may need.
  ///
  /// - Throws: what the method throws; ``MessageError`` when nothing answers, an argument does not fit, or the method
  ///   runs in an isolation that the caller is not in.
  @export(implementation)
  @discardableResult
  public func send<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A) throws
    -> R
  {
    switch try resolve(message.selector, for: self) {
    case .method(let method, let target) where method.functionType == ObjectIdentifier(((repeat each A) -> R).self):
      let typed = unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self)
      return try typed.call(target, Arguments(values: (repeat each arguments)))
    case let resolution:
      let boxes = Arguments(values: (repeat each arguments)).boxes(crossing: true)
      return try sendBoxed(message.selector, boxes, resolution, to: self)
    }
  }
}

extension MessageReceiver where Self: Sendable {
  /// Sends a message to this receiver and waits for its answer, wherever the method runs.
  ///
  ///     let title = try await window.sendAndWait(.title)     // a row on the main actor
  ///
  /// A method that is not isolated runs in the caller's turn, as with `send(_:_:)`.
  ///
  /// - Parameters:
  ///   - message: the key: selector and types.
  ///   - arguments: the message's, in order; they may cross to the method's isolation.
  /// - Throws: what the method throws; ``MessageError`` when nothing answers or an argument does not fit.
  @discardableResult
  nonisolated(nonsending) public func sendAndWait<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> R {
    // One exit: a function that suspends after a pack was allocated must not return early (a defect of the compiler).
    let resolution = try resolve(message.selector, for: self)
    let result: R
    if case .method(let method, let target) = resolution, method.canRun(on: target) {
      result = try send(message, repeat each arguments)
    } else {
      var invocation = Invocation(
        message.selector, arguments: Arguments(values: (repeat each arguments)).boxes(crossing: true))
      try await finishWaiting(resolution, &invocation)
      result = try typedResult(of: invocation, from: self)
    }
    return result
  }

  /// Sends a message with boxes to this receiver, waits for its answer wherever the method runs, and leaves it in
  /// ``Invocation/result``.
  ///
  /// For a method of another isolation each argument has to be known to be `Sendable`, and so has the answer: see
  /// ``ArgumentBox/isSendable``.
  ///
  /// - Throws: as ``sendAndWait(_:_:)``; `isolationMismatch` for what may not cross. The result is then `nil`.
  nonisolated(nonsending) public func performAndWait(_ invocation: inout Invocation) async throws {
    try await performWaiting(&invocation, on: self)
  }
}

/// Sends an invocation to one receiver, waits for its answer wherever the method runs, and leaves it in
/// `invocation.result`. The receiver may cross isolations: its owner has made sure of it.
nonisolated(nonsending) package func performWaiting(_ invocation: inout Invocation, on receiver: any MessageReceiver)
  async throws
{
  invocation.result = nil
  do {
    try invocation.fitStatedTypes(receiver: receiver)
    try await finishWaiting(try resolve(invocation.selector, for: receiver), &invocation)
    try invocation.fitStatedReturn(receiver: receiver)
  } catch {
    invocation.result = nil
    throw error
  }
}

/// Runs a method where it belongs, or the waiting hook of a receiver that forwards, and leaves the answer in the
/// invocation.
nonisolated(nonsending) func finishWaiting(_ resolution: Resolution, _ invocation: inout Invocation)
  async throws
{
  switch resolution {
  case .method(let method, let target) where method.canRun(on: target): try method.invoke(target, &invocation)
  case .method(let method, let found):
    // Only the method's own isolation touches the target: this caller waits.
    nonisolated(unsafe) let target = found
    try invocation.checkCrossing(receiver: target)
    invocation.result = try await method.invokeAndWait(target, UncheckedSendable(invocation))?.value.result
    try invocation.checkAnswerCrossing(receiver: target)
  case .forward(let hooks, let types): try await forwardWaiting(&invocation, by: hooks, types)
  }
}
