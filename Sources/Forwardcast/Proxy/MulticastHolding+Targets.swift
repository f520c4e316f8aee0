// MulticastHolding+Targets.swift: adding, removing, counting and listing.

extension MulticastHolding {
  /// Registers a target, which gets messages from the next one on.
  ///
  /// Unless the proxy allows duplicates, adding a target again returns its registration, updated:
  /// the priority if one is given, and the ownership. `selectors` are added to those that it has;
  /// without any it is for all messages. A value target has no identity: a copy is held strongly
  /// and removed only by its registration.
  ///
  /// An object that no message can reach (no table of its own or of the proxy, no forwarding) is reported to ``onError``: at once,
  /// or without a handler when the first message skips it.
  ///
  /// - Parameters:
  ///   - target: the new target.
  ///   - priority: higher comes first; equal ones in the order in which they are added. Clamped to
  ///     -32,768 … 32,767. `nil` is 0, and keeps the place of a registered target.
  ///   - ownership: `.weak` drops a target that dies; `.strong` keeps it alive.
  ///   - selectors: the messages that the target gets; `nil` for all that it has. A key's is its ``Message/selector``.
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

  /// Registers a target for the messages of those keys only: see ``add(_:priority:ownership:only:)``.
  ///
  ///     themes.add(screen, only: .themesColorChanged, .progress)
  @discardableResult
  public func add<each F>(
    _ target: Interface, priority: Int? = nil, ownership: Ownership = .weak, only keys: repeat Message<each F>
  ) -> Registration {
    var selectors: [MessageSelector] = []
    for key in repeat each keys { selectors.append(key.selector) }
    return add(target, priority: priority, ownership: ownership, only: selectors)
  }

  /// Removes all registrations of a target; it gets nothing further, not even from a message on its way. A target may call this
  /// in its `deinit`.
  ///
  /// - Returns: how many registrations there were.
  @discardableResult
  public func remove(_ target: Interface) -> Int {
    if let object = boundObject(target) { return object._withUnsafeGuaranteedRef { core.removeAll(of: $0) } }
    return isObject(target) ? core.removeAll(of: target as AnyObject) : 0
  }

  /// Cancels a registration if it is one of this proxy's; returns whether it is.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool {
    guard registration.belongs(to: core) else { return false }
    registration.cancel()
    return true
  }

  /// Removes every target of a class or its subclasses.
  public func removeAll<T: AnyObject>(of type: T.Type) { core.cancel(core.registrations) { $0.currentTarget is T } }

  /// Removes every target, including closures.
  public func removeAll() { core.cancel(core.registrations) { _ in true } }

  /// Mutes all registrations of a target.
  public func mute(_ target: Interface) {
    for registration in core.registrations(of: targetObject(for: target)) { registration.mute() }
  }

  /// Unmutes all registrations of a target.
  public func unmute(_ target: Interface) {
    for registration in core.registrations(of: targetObject(for: target)) { registration.unmute() }
  }

  /// The registrations whose targets are alive, in the order of delivery, including muted ones and closures.
  ///
  /// - Complexity: O(*n*) in the number of targets, as all that counts or lists.
  public var registrations: [Registration] { core.registrations.filter { $0.liveTarget != nil } }

  /// The live targets in the order of delivery, once for each registration, without closures.
  public var targets: [Interface] { core.registrations.compactMap { $0.liveTarget.flatMap { interface(of: $0) } } }

  /// How many live registrations there are, including muted ones and closures.
  public var count: Int { core.registrations.count { $0.liveTarget != nil } }

  /// How many live registrations have a target of that class or a subclass.
  public func count<T: AnyObject>(of type: T.Type) -> Int { core.registrations.count { $0.liveTarget is T } }

  /// How many live, unmuted registrations would get `selector`.
  public func count(for selector: MessageSelector) -> Int { core.count(for: selector) }

  /// How the proxy treats duplicates, silence and errors.
  public var options: MulticastOptions { core.options }

  /// Gets every error that a target throws in a broadcast, and `nobodyResponds` where silence is an error.
  ///
  /// Called where the error happened, in the sender's or the queue's turn, with no lock held. Without a handler such errors are
  /// written to standard error.
  public var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { core.onError }
    nonmutating set { core.onError = newValue }
  }
}
