// MulticastHolding+Closures.swift: closures as targets.

// Overload resolution ignores whether `Interface` is `Sendable` until every other rank is equal. So
// the first three forms differ in nothing else: each takes an `@isolated(any)` closure, because that
// conversion is ranked too.

extension MulticastHolding {
  /// Registers a closure that stays in the proxy's isolation as a target for one message.
  ///
  /// A closure that is isolated to the main actor, or to another actor than the caller, checks each
  /// time that it runs there; otherwise the message fails with `isolationMismatch`.
  ///
  /// - Parameters:
  ///   - message: the message that the closure receives.
  ///   - priority: higher comes first; equal priorities keep their order of registration.
  ///   - isolation: the caller's isolation. Leave it out.
  ///   - body: called with the message's arguments.
  /// - Returns: the registration. If the selector and the closure disagree on the number of
  ///   arguments, every message fails with `wrongArgumentCount`, which is also reported to ``onError``
  ///   at once.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) (repeat each A) throws -> R
  ) -> Registration {
    let actor = body.isolation
    let method = TypedMethod(message, closure: IsolatedClosure(call: body).unchecked)
    // Without a check, generic code could send the main actor's closure away: there the interface may be `Sendable`.
    let isChecked = actor.map { $0 === MainActor.shared || $0 !== isolation } ?? false
    return multicast.core.on(isChecked ? method.isolated(to: actor) : method, priority)
  }
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a closure as a target for one message. It runs where it was written.
  ///
  /// A closure written on the main actor or in another actor runs there. If the sender is on the main
  /// actor too and no earlier message waits, a main-actor closure runs synchronously; otherwise the
  /// message is queued. A closure that belongs to no actor runs synchronously on the sender's thread.
  ///
  /// Swift 6.3 does not tell that an actor's method, passed as a value, belongs to that actor: write
  /// a closure that calls it.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let actor = body.isolation
    return multicast.core.on(TypedMethod(message, closure: IsolatedClosure(call: body).unchecked), priority, on: actor)
  }

  /// Refuses a function value that is not `Sendable`: see ``closureMustBeSendable()``.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping @isolated(any) (repeat each A) throws -> R
  ) -> Registration {
    let actor = body.isolation
    return multicast.core.on(TypedMethod(message, closure: IsolatedClosure(call: body).unchecked), priority, on: actor)
  }

  /// Registers a closure that runs where and when `delivery` says as a target for one message.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery, priority: Int = 0,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    multicast.core.on(
      TypedMethod(message, closure: MessageClosure(call: body)), priority, (delivery, buffer, .dropPending))
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
  /// Adds a closure that runs on `actor`, or synchronously without one.
  @usableFromInline
  func on(_ method: Method, _ priority: Int, on actor: (any Actor)?) -> Registration {
    guard let actor else { return on(method, priority) }
    return on(method, priority, (actor === MainActor.shared ? .automatic() : .actor(actor), .unbounded, .dropPending))
  }

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
