// MessageSend+Waiting.swift: sends to one receiver, across isolations or awaited.

extension MessageReceiver {
  /// Sends a message whose arguments are `Sendable`, so a receiver may forward it to any context.
  @export(implementation)
  @discardableResult
  public func send<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A) throws
    -> R
  {
    try send(message, along: try resolve(message.selector, for: self), repeat each arguments)
  }

  @export(implementation) @inline(__always)
  func send<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, along resolution: Resolution, _ arguments: repeat each A
  ) throws -> R {
    switch resolution {
    case .method(let method, let target) where method.functionType == ObjectIdentifier(((repeat each A) -> R).self):
      let typed = unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self)
      return try typed.call(target, Arguments(values: (repeat each arguments)))
    default:
      let boxes = Arguments(values: (repeat each arguments)).boxes(crossing: true)
      return try sendBoxed(message.selector, boxes, resolution, to: self)
    }
  }
}

extension MessageReceiver where Self: Sendable {
  /// Sends a message to this receiver and awaits its answer, wherever the method runs.
  ///
  ///     let title = try await window.sendAndWait(.title)  // a main-actor method
  ///
  /// A method without isolation runs synchronously, as with `send(_:_:)`.
  ///
  /// - Throws: the method's error; ``MessageError`` if nothing answers or the arguments do not fit.
  @discardableResult
  nonisolated(nonsending) public func sendAndWait<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> R {
    try await sendWaiting(message, stays: false, repeat each arguments)
  }

  /// Like ``sendAndWait(_:_:)``, but at the timeout cancels the method and throws `timedOut`
  /// without awaiting the method's end. An error that the method throws later is printed to
  /// standard error. `clock` is the continuous clock by default.
  @discardableResult
  nonisolated(nonsending) public func sendAndWait<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, timeout: Duration,
    clock: (any Clock<Duration>)? = nil
  ) async throws -> R {
    try await TimedWait.run(
      timeout, clock, of: self, message.selector, isolation: #isolation,
      late: TimedWait.printingLate(message.selector, of: self)
    ) {
      try await self.sendWaiting(message, stays: false, repeat each arguments)
    }
  }

  /// Sends a boxed message and awaits its answer, stored in ``Invocation/result``.
  ///
  /// - Throws: as ``sendAndWait(_:_:)``; `isolationMismatch` if an argument or answer would cross
  ///   isolations and ``ArgumentBox/isSendable`` is false. After any error, the result is `nil`.
  nonisolated(nonsending) public func performAndWait(_ invocation: inout Invocation) async throws {
    try await performWaiting(&invocation, on: self)
  }
}

extension ForwardingProxy {
  /// Sends a message through this proxy and awaits its answer, wherever the method runs.
  ///
  ///     let store = ForwardingProxy(to: Store())  // its price(of:) is async
  ///     let price = try await store.sendAndWait(.price, "tea")
  ///
  /// - Throws: as ``MessageReceiver/sendAndWait(_:_:)``; `isolationMismatch` for an isolated method
  ///   whose receiver is not known to be `Sendable`.
  @discardableResult
  nonisolated(nonsending) public func sendAndWait<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> R {
    try await sendWaiting(message, stays: true, repeat each arguments)
  }

  /// Like ``sendAndWait(_:_:)``, but at the timeout cancels the method, awaits its end and throws
  /// `timedOut`. If the method then throws, `timedOut` includes the text of its error. `clock` is
  /// the continuous clock by default.
  @discardableResult
  nonisolated(nonsending) public func sendAndWait<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, timeout: Duration,
    clock: (any Clock<Duration>)? = nil
  ) async throws -> R {
    try await TimedWait.run(
      timeout, clock, of: self, message.selector, awaitsEnd: true, isolation: #isolation
    ) {
      try await self.sendWaiting(message, stays: true, repeat each arguments)
    }
  }

  /// Sends a boxed message through this proxy and stores its answer in ``Invocation/result``.
  /// Throws as ``sendAndWait(_:_:)``; after an error, the result is `nil`.
  nonisolated(nonsending) public func performAndWait(_ invocation: inout Invocation) async throws {
    try await performWaiting(&invocation, on: self, stays: true)
  }

  /// True if forwarding targets lead from this proxy to a receiver known to be `Sendable`.
  fileprivate func leadsToShared(_ selector: MessageSelector) -> Bool {
    var proxy = self
    for _ in 0..<maximumHops {
      guard let next = proxy.forwardingTarget(for: selector) else { return false }
      if next === proxy.sharedTarget { return true }
      guard let further = next as? ForwardingProxy else { return false }
      proxy = further
    }
    return false
  }
}

extension MessageReceiver {
  // Not inlined, since the packs of its paths would be released in the wrong order (Swift 6.3).
  @inline(never)
  fileprivate func sendInTurn<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, along resolution: Resolution, _ arguments: repeat each A
  ) throws -> R {
    try send(message, along: resolution, repeat each arguments)
  }

  nonisolated(nonsending) fileprivate func sendWaiting<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, stays: Bool, _ arguments: repeat each A
  ) async throws -> R {
    // Only one exit: because of a compiler bug, a function must not return early if it suspends
    // after allocating a pack.
    let resolution = try resolve(message.selector, for: self)
    let result: R
    if case .method(let method, let target) = resolution, method.canRun(on: target) {
      result = try sendInTurn(message, along: resolution, repeat each arguments)
    } else {
      var invocation = Invocation(
        message.selector, arguments: Arguments(values: (repeat each arguments)).boxes(crossing: true))
      let found = stays ? try await staying(resolution, message.selector, behind: self) : resolution
      try await finishWaiting(found, &invocation)
      result = try typedResult(of: invocation, from: self)
    }
    return result
  }
}

/// Throws `isolationMismatch` unless the receiver stays in the sender's isolation or is `Sendable`.
nonisolated(nonsending) func staying(
  _ resolution: Resolution, _ selector: MessageSelector, behind proxy: any MessageReceiver
) async throws -> Resolution {
  // The isolation is read here, because the autoclosure of `&&` has no isolation.
  let sender = #isolation
  switch resolution {
  case .method(let method, let target) where !method.canRun(on: target) && !method.runs(on: sender):
    guard target is any Actor || (proxy as? ForwardingProxy)?.leadsToShared(selector) == true else {
      throw MessageError(
        .isolationMismatch, of: target, selector,
        "the method runs \(method.isolation.place), and its receiver is not known to be Sendable; declare the method "
          + "nonisolated(nonsending), make the receiver an actor, or send through LazyProxy(sharing:)")
    }
  case .forward(let around as ForwardingAround, _): around.stays = true
  default: break
  }
  return resolution
}

/// Sends a boxed message to one receiver and stores its answer in `invocation.result`. If `stays`,
/// only a receiver known to be `Sendable` may cross isolations.
nonisolated(nonsending) package func performWaiting(
  _ invocation: inout Invocation, on receiver: any MessageReceiver, stays: Bool = false
) async throws {
  invocation.result = nil
  do {
    try invocation.fitStatedTypes(receiver: receiver)
    let resolution = try resolve(invocation.selector, for: receiver)
    let found = stays ? try await staying(resolution, invocation.selector, behind: receiver) : resolution
    try await finishWaiting(found, &invocation)
    try invocation.fitStatedReturn(receiver: receiver)
  } catch {
    invocation.result = nil
    throw error
  }
}

nonisolated(nonsending) func finishWaiting(_ resolution: Resolution, _ invocation: inout Invocation)
  async throws
{
  switch resolution {
  case .method(let method, let target) where method.canRun(on: target): try method.invoke(target, &invocation)
  case .method(let method, let found):
    // Only the method's isolation accesses the target while this caller waits.
    nonisolated(unsafe) let target = found
    if !method.runs(on: #isolation) { try invocation.checkCrossing(receiver: target) }
    invocation.result = try await method.invokeAndWait(target, UncheckedSendable(invocation))?.value.result
    if !method.answers(to: #isolation) { try invocation.checkAnswerCrossing(receiver: target) }
  case .forward(let hooks, let types): try await forwardWaiting(&invocation, by: hooks, types)
  }
}
