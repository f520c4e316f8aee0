// MulticastHolding+Closures.swift: closures as targets.

extension MulticastHolding {
  /// Registers a closure, which stays in the proxy's isolation, as a target for one message.
  ///
  /// - Parameters:
  ///   - message: the message that the closure gets.
  ///   - priority: higher comes first; equal ones in the order in which they are added.
  ///   - body: gets the message's arguments.
  /// - Returns: the registration. If the selector's colons and the closure's arguments differ in number, each message fails with
  ///   `wrongArgumentCount`, which ``onError`` is told at once.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: @escaping (repeat each A) throws -> R
  ) -> Registration {
    multicast.core.on(TypedMethod(message, closure: body), priority)
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a closure that is called on any sender's thread as a target for one message.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    multicast.core.on(TypedMethod(message, closure: body), priority)
  }
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a closure that runs where and when `delivery` says as a target for one message.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery, priority: Int = 0,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    multicast.core.on(TypedMethod(message, closure: body), priority, (delivery, buffer, .dropPending))
  }

  /// Registers a closure on the main actor as a target for one message.
  ///
  ///     members.on(.title, onMainActor: { [weak self] text in self?.label = text })
  ///
  /// Senders on the main actor run it synchronously if the delivery is `.direct`; others need `.mainActor`, the default.
  @discardableResult
  public func on<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery = .mainActor, priority: Int = 0,
    buffer: DeliveryBuffer = .unbounded, onMainActor body: @escaping @MainActor @Sendable (repeat each A) throws -> R
  ) -> Registration {
    core.on(
      Responds<Method>(
        key: message,
        onGlobalActor: { @MainActor (_: Method, arguments: repeat each A) throws -> R in
          try body(repeat each arguments)
        }
      ).method, priority, (delivery, buffer, .dropPending))
  }
}

extension MulticastCore {
  @usableFromInline
  func on(
    _ method: Method, _ priority: Int,
    _ delivery: (Delivery, DeliveryBuffer, PendingDeliveries) = (.direct, .unbounded, .dropPending)
  ) -> Registration {
    let selector = method.selector
    guard method.numberOfParameters != selector.numberOfArguments else {
      return add(method, priority: priority, ownership: .strong, scope: nil, delivery: delivery)
    }
    let error = MessageError.argumentCount(selector, receiver: method.receiverName, found: method.numberOfParameters)
    let refused = on(RefusedMethod(selector, error), priority, delivery)
    report(error, selector, refused, receiver: method.receiverName)
    return refused
  }
}
