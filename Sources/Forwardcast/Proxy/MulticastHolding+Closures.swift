// MulticastHolding+Closures.swift: closures as targets.

// Overload resolution considers `Sendable` only between overloads that otherwise rank equally. So
// the overloads without a delivery differ only in `Sendable`, and all take an `@isolated(any)`
// closure.

extension MulticastHolding {
  /// Registers a closure as a target for one message. The closure runs in the proxy's isolation.
  ///
  /// A closure on the main actor, or on an actor other than the caller's, runs only if the message
  /// is sent on that actor. Otherwise the message fails with `isolationMismatch`.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - priority: higher priorities are called first, equal priorities in the order of
  ///     registration.
  ///   - once: true to end the registration with the first message.
  ///   - isolation: the caller's isolation. Leave it out.
  ///   - body: called with the message's arguments.
  /// - Returns: the registration. If the selector and the closure disagree on the number of
  ///   arguments, ``onError`` gets `wrongArgumentCount` immediately, and every message fails.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, once: Bool = false,
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @isolated(any) (repeat each A) throws -> R
  ) -> Registration {
    let limits = ClosureLimits.of(message.selector, once: once, on: body.isolation, in: isolation)
    let closure = IsolatedClosure(call: body).unchecked.limited(by: limits)
    return multicast.core.on(TypedMethod(message, closure: closure), priority, limits: limits)
  }

  /// Registers a closure until its owner is deallocated.
  ///
  ///     themes.on(Messages.themesColorChanged, owner: page) { page, color in
  ///       page.tint = color
  ///     }
  ///
  /// The proxy references the owner weakly and passes it to the closure, so neither `[weak self]`
  /// nor a token is needed. The closure may be released later than the owner.
  @discardableResult @export(implementation)
  public func on<Owner: AnyObject, R, each A>(
    _ message: Message<(repeat each A) -> R>, owner: Owner, priority: Int = 0, once: Bool = false,
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @isolated(any) (Owner, repeat each A) throws -> R
  ) -> Registration {
    let limits = ClosureLimits.of(message.selector, once: once, on: body.isolation, in: isolation)
    let method = TypedMethod(message, owned: IsolatedRow(call: body).unchecked, limits)
    return multicast.core.on(method, priority, owner: owner, limits: limits)
  }
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a closure as a target for one message. The closure runs in its own isolation.
  ///
  /// A closure isolated to an actor runs there. A main-actor closure runs synchronously if the
  /// sender is on the main actor and no earlier message waits; otherwise the message is queued. A
  /// closure without isolation runs synchronously on the sender's thread.
  ///
  /// In Swift 6.3, a method of an actor loses its isolation if you pass the method as a value. Pass
  /// a closure instead.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, once: Bool = false,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let (actor, limits) = (body.isolation, ClosureLimits.of(message.selector, once: once))
    let closure = IsolatedClosure(call: body).unchecked.limited(by: limits)
    return multicast.core.on(TypedMethod(message, closure: closure), priority, on: actor, limits: limits)
  }

  /// Registers a closure until the closure's owner is deallocated. The closure runs in its own
  /// isolation.
  ///
  ///     listeners.on(Messages.linkChanged, owner: self) { label, state in
  ///       label.text = state
  ///     }
  @discardableResult @export(implementation)
  public func on<Owner: AnyObject & Sendable, R, each A>(
    _ message: Message<(repeat each A) -> R>, owner: Owner, priority: Int = 0, once: Bool = false,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (Owner, repeat each A) throws -> R
  ) -> Registration {
    let (actor, limits) = (body.isolation, ClosureLimits.of(message.selector, once: once))
    let method = TypedMethod(message, owned: IsolatedRow(call: body).unchecked, limits)
    return multicast.core.on(method, priority, on: actor, owner: owner, limits: limits)
  }

  /// Refuses a function value that is not `Sendable`, see ``closureMustBeSendable()``.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, once: Bool = false,
    isolation: (any Actor)? = #closureMustBeSendable, _ body: @escaping @isolated(any) (repeat each A) throws -> R
  ) -> Registration {
    let (actor, limits) = (body.isolation, ClosureLimits.of(message.selector, once: once))
    let closure = IsolatedClosure(call: body).unchecked.limited(by: limits)
    return multicast.core.on(TypedMethod(message, closure: closure), priority, on: actor, limits: limits)
  }

  /// Refuses an owner or function value that is not `Sendable`, see ``closureMustBeSendable()``.
  @discardableResult @export(implementation)
  public func on<Owner: AnyObject, R, each A>(
    _ message: Message<(repeat each A) -> R>, owner: Owner, priority: Int = 0, once: Bool = false,
    isolation: (any Actor)? = #closureMustBeSendable,
    _ body: @escaping @isolated(any) (Owner, repeat each A) throws -> R
  ) -> Registration {
    let (actor, limits) = (body.isolation, ClosureLimits.of(message.selector, once: once))
    let method = TypedMethod(message, owned: IsolatedRow(call: body).unchecked, limits)
    return multicast.core.on(method, priority, on: actor, owner: owner, limits: limits)
  }

  /// Registers a closure for one message. The closure runs on the context of `delivery`.
  @discardableResult @export(implementation)
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery, priority: Int = 0, once: Bool = false,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let limits = ClosureLimits.of(message.selector, once: once)
    let method = TypedMethod(message, closure: MessageClosure(call: body).limited(by: limits))
    return multicast.core.on(method, priority, delivery, buffer, limits: limits)
  }

  /// Registers a closure with a delivery, until `owner` is deallocated.
  @discardableResult @export(implementation)
  public func on<Owner: AnyObject & Sendable, R, each A>(
    _ message: Message<(repeat each A) -> R>, owner: Owner, delivery: Delivery, priority: Int = 0, once: Bool = false,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (Owner, repeat each A) throws -> R
  ) -> Registration {
    let limits = ClosureLimits.of(message.selector, once: once)
    let method = TypedMethod(message, owned: IsolatedRow(call: body).unchecked, limits)
    return multicast.core.on(method, priority, delivery, buffer, owner: owner, limits: limits)
  }

  /// Registers a main-actor closure as a target for one message.
  ///
  ///     members.on(.title, onMainActor: { [weak self] text in self?.label = text })
  ///
  /// By default, the closure runs synchronously if the sender is on the main actor and no earlier
  /// message waits there. With `.mainActor`, it is always queued. With `.direct`, messages from
  /// senders off the main actor fail.
  @discardableResult
  public func on<R: Sendable, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery = .automatic(), priority: Int = 0, once: Bool = false,
    buffer: DeliveryBuffer = .unbounded, onMainActor body: @escaping @MainActor @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let limits = ClosureLimits.of(message.selector, once: once)
    let row = Responds<Method>(
      key: message,
      onGlobalActor: { @MainActor (_: Method, arguments: repeat each A) throws -> R in
        if let limits, try !limits.begin() { return try limits.nothing() }
        return try body(repeat each arguments)
      })
    return core.on(row.method, priority, delivery, buffer, limits: limits)
  }
}

extension MulticastCore {
  /// Adds a closure that runs on `actor` or, if `actor` is `nil`, synchronously.
  @usableFromInline
  func on(
    _ method: Method, _ priority: Int, on actor: (any Actor)?, owner: AnyObject? = nil, limits: ClosureLimits? = nil
  ) -> Registration {
    let delivery = actor.map { $0 === MainActor.shared ? Delivery.automatic() : .actor($0) } ?? .direct
    return on(method, priority, delivery, owner: owner, limits: limits)
  }

  /// Adds a closure. The registration ends when the owner is deallocated, or when `limits` ends it.
  @usableFromInline
  func on(
    _ method: Method, _ priority: Int, _ delivery: Delivery = .direct, _ buffer: DeliveryBuffer = .unbounded,
    owner: AnyObject? = nil, limits: ClosureLimits? = nil
  ) -> Registration {
    let selector = method.selector
    guard method.numberOfParameters != selector.numberOfArguments else {
      let options = TargetOptions(
        priority: priority, ownership: owner == nil ? .strong : .weak, delivery: delivery, buffer: buffer)
      let registration = add(owner ?? method, options, closure: owner == nil ? nil : method)
      limits?.end { [weak registration] in registration?.cancel() }
      return registration
    }
    let error = MessageError.parameterCount(
      selector, receiver: method.receiverName, "the key's type", found: method.numberOfParameters)
    let refused = on(RefusedMethod(selector, error), priority, delivery, buffer, owner: owner)
    report(error, selector, refused, receiver: method.receiverName)
    return refused
  }
}
