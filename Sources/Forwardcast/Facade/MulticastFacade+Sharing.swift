// MulticastFacade+Sharing.swift: what facades offer whose targets may be shared between threads.
// Layer: Facade. See DESIGN.md, "The attributes".

extension MulticastFacade where Interface: Sendable {
  /// Registers a target whose messages run where and when `delivery` says: see
  /// ``MulticastProxy/add(_:delivery:priority:ownership:only:buffer:whenRemoved:)``.
  @discardableResult
  public func add(
    _ target: Interface, delivery: Delivery, priority: Int = 0, ownership: Ownership = .weak,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration {
    multicast.add(
      target, delivery: delivery, priority: priority, ownership: ownership, only: selectors, buffer: buffer,
      whenRemoved: pending)
  }

  /// Registers a closure as a target for one message, run where and when `delivery` says.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery, priority: Int = 0,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    multicast.on(message, delivery: delivery, priority: priority, buffer: buffer, body)
  }

  /// Registers a closure as a target for one message, run where it belongs.
  ///
  /// A closure that is written on the main actor, such as `{ [weak self] in self?.label = $0 }` in a view, runs there:
  /// in the sender's turn when the sender is there too, else queued. So does a closure of any other actor. One without an
  /// isolation is run in the sender's turn.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let actor = body.isolation
    let body = UncheckedBody(IsolatedBody(call: body))
    switch actor {
    case nil: return multicast.on(message, priority: priority, body.call)
    case let actor? where actor === MainActor.shared:
      return multicast.on(message, delivery: .automatic(), priority: priority, body.call)
    case let actor?: return multicast.on(message, delivery: .actor(actor), priority: priority, body.call)
    }
  }

  /// Sends a message to every target, each where and when its delivery says.
  @inlinable
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    multicast.broadcast(message, repeat each arguments)
  }

  /// Sends a message and makes one result of the direct targets' answers.
  @inlinable
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try multicast.collect(message, repeat each arguments, returning: policy)
  }

  /// Sends a message, waits for all targets, and makes one result of the answers: see
  /// ``MulticastProxy/collectAndWait(_:_:returning:)``.
  nonisolated(nonsending) public func collectAndWait<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    try await multicast.collectAndWait(message, repeat each arguments, returning: policy)
  }

  /// Sends a message and blocks the caller until all have answered: see
  /// ``MulticastProxy/collect(_:_:returning:timeout:)``.
  public func collect<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    try multicast.collect(message, repeat each arguments, returning: policy, timeout: timeout)
  }

  /// Sends a message as a value, waits for all, and says what became of it at each target.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await multicast.forwardAndWait(invocation)
  }

  /// Sends a message as a value and blocks the caller until all have answered.
  public func forward(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    try multicast.forward(invocation, timeout: timeout)
  }

  /// Sends a message as a value, blocks the caller until all have answered, and makes one result of the answers.
  public func collect<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output {
    try multicast.collect(invocation, returning: policy, timeout: timeout)
  }

  /// Broadcasts a message when every buffer that suspends its senders has room for it.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    try await multicast.broadcastWhenReady(message, repeat each arguments)
  }

  /// Waits until every queued delivery has had its turn, and gives how many there were.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int { try await multicast.drain() }

  /// Blocks the caller until every queued delivery has had its turn.
  @discardableResult
  public func drain(timeout: Duration) throws -> Int { try multicast.drain(timeout: timeout) }
}
