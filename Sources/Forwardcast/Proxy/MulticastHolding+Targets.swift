// MulticastHolding+Targets.swift: adds, removes, counts and lists targets.

extension MulticastHolding {
  /// Registers a target, which gets messages that are sent after this call.
  ///
  /// Unless the proxy allows duplicates, adding a target again updates its registration: ownership,
  /// and the priority if given. New `selectors` are added to the earlier ones; `nil` selects all
  /// messages. If a target is a value, the proxy retains a copy until the registration is canceled.
  ///
  /// If an object does not forward, and neither the object nor the proxy has a table, ``onError``
  /// gets `noSelectorTable`, at the latest when the first message is sent.
  ///
  /// - Parameters:
  ///   - target: the new target.
  ///   - priority: higher priorities are called first, equal priorities in the order of
  ///     registration. Clamped to -32,768 … 32,767. `nil` is 0 for a new target and no change for a
  ///     registered target.
  ///   - ownership: `.weak` drops a target once it is deallocated; `.strong` retains it.
  ///   - selectors: the target's messages; `nil` for all. A key's selector is ``Message/selector``.
  /// - Complexity: constant.
  @discardableResult
  public func add(
    _ target: Interface, priority: Int? = nil, ownership: Ownership = .weak, only selectors: [MessageSelector]? = nil
  ) -> Registration {
    var options = TargetOptions(priority: priority, ownership: ownership, scope: selectors.map(Set.init))
    if let object = boundObject(target) { return object._withUnsafeGuaranteedRef { core.add($0, options) } }
    if !isObject(target) { options.ownership = .strong }
    return core.add(targetObject(for: target), options)
  }

  /// Registers a target for some keys' messages only, see ``add(_:priority:ownership:only:)``.
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

  /// Removes all registrations of a target and returns the number of these registrations. Messages
  /// that are being delivered skip the target from now on. A target may call this in its `deinit`.
  @discardableResult
  public func remove(_ target: Interface) -> Int {
    if let object = boundObject(target) { return object._withUnsafeGuaranteedRef { core.removeAll(of: $0) } }
    return isObject(target) ? core.removeAll(of: target as AnyObject) : 0
  }

  /// Replaces a target with another one at the same position, with the same priority, ownership,
  /// delivery and selectors. Returns the number of replaced registrations.
  ///
  /// Messages that have begun still reach `old`; later messages reach `new`. So no message is lost,
  /// for example while a service is replaced. The registrations of `old` are canceled. If `old` was
  /// a strong target on another context, its canceled registration still retains it. If `new` is
  /// already a target with that delivery, `new` keeps its registration, and `old` is removed.
  @discardableResult
  public func replace(_ old: Interface, with new: Interface) -> Int {
    guard isObject(old) else { return 0 }
    return core.replace(targetObject(for: old), with: targetObject(for: new), retains: !isObject(new))
  }

  /// Cancels a registration of this proxy. Returns false if it belongs to another proxy.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool {
    guard registration.belongs(to: core) else { return false }
    registration.cancel()
    return true
  }

  /// Removes every target of a class or its subclasses, and returns the number of registrations.
  /// Closures stay, even if their owner is of the class.
  @discardableResult
  public func removeAll<T: AnyObject>(of type: T.Type) -> Int {
    core.cancel(core.registrations) { $0.liveSubject is T }
  }

  /// Removes the closures that were registered with this `owner`, and returns their number.
  @discardableResult
  public func remove(owner: AnyObject) -> Int {
    core.cancel(core.registrations) { $0.closure != nil && core.target(of: $0) === owner }
  }

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

  /// The registrations with live targets, in delivery order, including closures and muted targets.
  ///
  /// - Complexity: O(*n*) in the number of targets, like every count or list.
  public var registrations: [Registration] { core.registrations.filter { $0.liveTarget != nil } }

  /// The live targets in delivery order, once for each registration, without closures.
  public var targets: [Interface] { core.registrations.compactMap { $0.liveSubject.flatMap { interface(of: $0) } } }

  /// The number of live registrations, including closures and muted targets.
  public var count: Int { core.registrations.count { $0.liveTarget != nil } }

  /// The number of live registrations whose target is of that class or a subclass.
  public func count<T: AnyObject>(of type: T.Type) -> Int { core.registrations.count { $0.liveSubject is T } }

  /// The number of live, unmuted registrations that respond to `selector`.
  public func count(for selector: MessageSelector) -> Int { core.count(for: selector) }

  /// The number of live, unmuted registrations that respond to a key's message.
  public func count<Function>(for message: Message<Function>) -> Int { core.count(for: message.selector) }

  /// How the proxy treats duplicates, unanswered messages and errors.
  public var options: MulticastOptions { core.options }

  /// Called with errors that no sender gets, such as those of targets in a broadcast. Runs on the
  /// context where the error occurred. Without a handler, errors are written to standard error.
  public var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { core.onError }
    nonmutating set { core.onError = newValue }
  }
}
