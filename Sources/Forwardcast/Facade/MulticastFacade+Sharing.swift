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

  /// Registers a closure whose answers may cross to a sender that waits, run where and when `delivery` says.
  @discardableResult
  public func on<R: Sendable, each A>(
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

  /// Waits until every queued delivery has had its turn, and gives how many there were.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int { try await multicast.drain() }

  /// Blocks the caller until every queued delivery has had its turn.
  @discardableResult
  public func drain(timeout: Duration) throws -> Int { try multicast.drain(timeout: timeout) }
}
