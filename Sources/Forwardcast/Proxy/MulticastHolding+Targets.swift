// MulticastHolding+Targets.swift: adding, removing, counting and listing.

extension MulticastHolding {
  /// Registers a target from the next message on.
  ///
  /// Adding a target again with the same selectors gives the registration that it has, which takes the new priority and
  /// ownership, unless the proxy allows duplicates; with other selectors it is one more registration, and a message that
  /// both are for arrives once. A target that is no class instance has no identity and nobody else to keep it: its copy is
  /// held strongly and is removed through its registration only.
  ///
  /// An object that no message by selector can reach (it has no table, nor has the proxy one, and it does not forward) is
  /// told to ``onError``: at once, or, while there is no handler, when the first message passes it by.
  ///
  /// - Parameters:
  ///   - target: whom to register.
  ///   - priority: higher comes first; equal ones in the order in which they are added. `nil`, the default, is 0, and keeps the
  ///     place of a target that is registered already.
  ///   - ownership: `.weak` drops a target that dies; `.strong` keeps it alive.
  ///   - selectors: those that the target is to get; `nil` for all that it has. A key's is its ``Message/selector``.
  /// - Complexity: constant.
  @discardableResult
  public func add(
    _ target: Interface, priority: Int? = nil, ownership: Ownership = .weak, only selectors: [MessageSelector]? = nil
  ) -> Registration {
    let scope: Set<MessageSelector>? = if let selectors { Set(selectors) } else { nil }
    if let object = boundObject(target) {
      return object._withUnsafeGuaranteedRef { core.add($0, priority: priority, ownership: ownership, scope: scope) }
    }
    return core.add(
      targetObject(for: target), priority: priority, ownership: isObject(target) ? ownership : .strong, scope: scope)
  }

  /// Registers a target for the messages of those keys only.
  ///
  ///     themes.add(screen, only: .themesColorChanged, .progress)
  ///
  /// As ``add(_:priority:ownership:only:)`` with their selectors.
  @discardableResult
  public func add<each F>(
    _ target: Interface, priority: Int? = nil, ownership: Ownership = .weak, only keys: repeat Message<each F>
  ) -> Registration {
    var selectors: [MessageSelector] = []
    for key in repeat each keys { selectors.append(key.selector) }
    return add(target, priority: priority, ownership: ownership, only: selectors)
  }

  /// Removes every registration of a target; it gets nothing further, not even later in a message that is on its way.
  ///
  /// A target may call this in its own `deinit`. Removing one that is not registered does nothing.
  ///
  /// - Returns: how many registrations there were.
  @discardableResult
  public func remove(_ target: Interface) -> Int {
    if let object = boundObject(target) { return object._withUnsafeGuaranteedRef { core.removeAll(of: $0) } }
    return isObject(target) ? core.removeAll(of: target as AnyObject) : 0
  }

  /// Cancels a registration of this proxy, as ``Registration/cancel()`` does; one of another proxy is left alone.
  ///
  /// - Returns: whether it was one of this proxy's.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool {
    guard registration.belongs(to: core) else { return false }
    registration.cancel()
    return true
  }

  /// Removes every target of a class, subclasses included.
  /// - Parameter type: the class, such as `Screen.self`.
  public func removeAll<T: AnyObject>(of type: T.Type) { core.cancel(core.registrations) { $0.currentTarget is T } }

  /// Removes every target, closures included.
  public func removeAll() { core.cancel(core.registrations) { _ in true } }

  /// Mutes every registration of a target.
  public func mute(_ target: Interface) {
    for registration in core.registrations(of: targetObject(for: target)) { registration.mute() }
  }

  /// Lets messages through to every registration of a target again.
  public func unmute(_ target: Interface) {
    for registration in core.registrations(of: targetObject(for: target)) { registration.unmute() }
  }

  /// The registrations whose targets are alive, in the order of delivery, muted ones and closures included.
  ///
  /// - Complexity: O(*n*) in the number of targets, as is everything that counts or lists.
  public var registrations: [Registration] { core.registrations.filter { $0.liveTarget != nil } }

  /// The live targets in the order of delivery, once for each registration. Closures are not among them.
  public var targets: [Interface] { core.registrations.compactMap { $0.liveTarget.flatMap { interface(of: $0) } } }

  /// How many live registrations there are, muted ones and closures included.
  public var count: Int { core.registrations.count { $0.liveTarget != nil } }

  /// How many live registrations have a target of that class or a subclass.
  public func count<T: AnyObject>(of type: T.Type) -> Int { core.registrations.count { $0.liveTarget is T } }

  /// How many live, unmuted registrations would get `selector`.
  public func count(for selector: MessageSelector) -> Int { core.count(for: selector) }

  /// What the proxy does about duplicates, silence and errors.
  public var options: MulticastOptions { core.options }

  /// Gets every error that a target throws in a broadcast, and `nobodyResponds` where silence is an error.
  ///
  /// Called in the turn of the sender or of the queue where the error happened, with no lock held. Without a handler
  /// such errors are written to standard error: they are never lost.
  public var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { core.onError }
    nonmutating set { core.onError = newValue }
  }
}
