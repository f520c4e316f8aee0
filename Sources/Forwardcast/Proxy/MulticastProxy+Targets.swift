// MulticastProxy+Targets.swift: adding, removing, counting and listing.
// Layer: Proxy. See DESIGN.md, "Registrations".

extension MulticastProxy {
  /// Registers a target from the next message on.
  ///
  /// Adding a target that is registered already gives the registration that it has, unchanged, unless the proxy allows
  /// duplicates. A target that is no class instance has no identity and nobody else to keep it: its copy is held
  /// strongly and is removed through its registration only.
  ///
  /// - Parameters:
  ///   - priority: higher comes first; equal ones in the order in which they are added.
  ///   - ownership: `.weak` drops a target that dies; `.strong` keeps it alive.
  ///   - only: the selectors that the target is to get; `nil` for all that it has.
  /// - Complexity: constant.
  @discardableResult
  public func add(
    _ target: Interface, priority: Int = 0, ownership: Ownership = .weak, only selectors: [MessageSelector]? = nil
  ) -> Registration {
    let isObject = type(of: target as Any) is AnyObject.Type
    return core.add(
      target as AnyObject, priority: priority, ownership: isObject ? ownership : .strong, scope: selectors.map(Set.init)
    )
  }

  /// Registers a closure as a target for one message, held by its registration until that is cancelled.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: @escaping (repeat each A) throws -> R
  ) -> Registration {
    // A proxy that is not Sendable stays in one isolation, and its closures with it; the form for Sendable proxies
    // below takes Sendable closures only.
    nonisolated(unsafe) let body = body
    return onSendable(message.selector, priority) { (arguments: repeat each A) throws -> R in
      try body(repeat each arguments)
    }
  }

  fileprivate func onSendable<R, each A>(
    _ selector: MessageSelector, _ priority: Int, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let method = TypedMethod<R, repeat each A>(selector, signature: nil) {
      (_: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      try body(repeat each arguments.values)
    }
    return core.add(ClosureTarget(method), priority: priority, ownership: .strong, scope: nil)
  }

  /// Removes every registration of a target; it gets nothing further, not even later in a message that is on its way.
  ///
  /// A target may call this in its own `deinit`. Removing one that is not registered does nothing.
  ///
  /// - Returns: how many registrations there were.
  @discardableResult
  public func remove(_ target: Interface) -> Int { core.removeAll(of: ObjectIdentifier(target as AnyObject)) }

  /// Cancels a registration of this proxy. The same as ``Registration/cancel()``.
  public func remove(_ registration: Registration) { registration.cancel() }

  /// Removes every target of a class, subclasses included.
  public func removeAll<T: AnyObject>(of type: T.Type) {
    for registration in core.registrations where registration.target is T { registration.cancel() }
  }

  /// Removes every target.
  public func removeAll() {
    for registration in core.registrations { registration.cancel() }
  }

  /// Mutes every registration of a target.
  public func mute(_ target: Interface) {
    for registration in core.registrations(of: target as AnyObject) { registration.mute() }
  }

  /// Lets messages through to every registration of a target again.
  public func unmute(_ target: Interface) {
    for registration in core.registrations(of: target as AnyObject) { registration.unmute() }
  }

  /// The registrations whose targets are alive, in the order of delivery, muted ones and closures included.
  ///
  /// - Complexity: O(*n*) in the number of targets, as is everything that counts or lists.
  public var registrations: [Registration] { core.registrations.filter { $0.liveTarget != nil } }

  /// The live targets in the order of delivery, once for each registration. Closures are not among them.
  public var targets: [Interface] {
    core.registrations.compactMap { registration in
      let target = registration.liveTarget
      return target is ClosureTarget ? nil : target as? Interface
    }
  }

  /// How many live registrations there are, muted ones and closures included.
  public var count: Int { core.registrations.reduce(0) { $0 + ($1.liveTarget == nil ? 0 : 1) } }

  /// How many live registrations have a target of that class or a subclass.
  public func count<T: AnyObject>(of type: T.Type) -> Int {
    core.registrations.reduce(0) { $0 + ($1.liveTarget is T ? 1 : 0) }
  }

  /// How many live, unmuted registrations would get `selector`.
  public func count(for selector: MessageSelector) -> Int { core.count(for: selector) }

  /// Gets every error that a target throws in a broadcast, and `nobodyResponds` where silence is an error.
  ///
  /// Called in the turn of the sender or of the queue where the error happened, with no lock held. Without a handler
  /// such errors are written to standard error: they are never lost.
  public var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { core.onError }
    set { core.onError = newValue }
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a closure as a target for one message, held by its registration until that is cancelled.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    onSendable(message.selector, priority, body)
  }
}
