// ExtensionPoint+Lazy.swift: observers that are created by their first message.

import Forwardcast

extension ExtensionPoint {
  /// Registers the class of an observer without creating its single instance.
  ///
  ///     messages.registerLazily(ArchiveService.self) { $0 }
  ///
  /// The first message that the class implements creates the instance through the service center.
  /// The instance receives that message, in the position of this registration. A message that a
  /// hook withholds does not create the instance. If the service is removed from its center, for
  /// example by a log-out, its observer is unregistered, even if the program retains the observer.
  /// The next message then creates a new instance. An error of the construction is reported like an
  /// error of an observer. The other observers still receive the message, and the next message
  /// tries again.
  ///
  /// The class counts as implementing the messages of the point's table and, if it is a
  /// `MessageReceiver`, of its own table. A `PartialTarget` lists the exceptions.
  ///
  /// - Parameters:
  ///   - type: the class of the service.
  ///   - priority: observers with a higher priority come first, as in ``register(_:priority:)``.
  ///   - observer: converts the service to an observer. With the usual `{ $0 }`, the compiler
  ///     checks the conformance. If the observer is not the service itself, the observer is
  ///     retained while the service is in its center.
  /// - Returns: `false` if nothing was registered, because the class is registered lazily already
  ///   or implements none of the point's messages.
  @discardableResult
  public func registerLazily<Service: ManagedService & AnyObject>(
    _ type: Service.Type, priority: Int = 0, as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    lazy.add(registration(of: type, .direct, observer), priority: priority)
  }

  private func registration<Service: ManagedService & AnyObject>(
    of type: Service.Type, _ delivery: Delivery, _ observer: @escaping @Sendable (Service) -> Interface
  ) -> LazyRegistration {
    let shared = observers.interfaceTable
    return LazyRegistration(
      ServiceKey(type), type: type, delivery: delivery,
      signature: { selector in
        if let partial = type as? any PartialTarget.Type, partial.unimplemented.contains(selector) { return nil }
        let receiver = type as? any MessageReceiver.Type
        return receiver.flatMap { Forwardcast.signature(ofClass: $0, selector) } ?? shared?.signature(for: selector)
      }, as: observer)
  }

  /// Registers the service of a key, for observers that have no class of their own, for example in
  /// scripts. The first message whose selector is in `table` creates the service. The result is as
  /// for ``registerLazily(_:priority:as:)``.
  @discardableResult
  public func registerLazily<Service>(
    _ key: ServiceKey<Service>, table: SelectorTable, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    let registration = LazyRegistration(
      key, type: nil, delivery: .direct, signature: { table.signature(for: $0) }, as: observer)
    return lazy.add(registration, priority: priority)
  }

  /// Removes a lazy registration and its observer. Returns `false` if there is no registration.
  @discardableResult
  public func unregisterLazily<Service: ManagedService & AnyObject>(_ type: Service.Type) -> Bool {
    lazy.remove(ServiceKey(type).id)
  }

  /// Removes the lazy registration of a key.
  @discardableResult
  public func unregisterLazily<Service>(_ key: ServiceKey<Service>) -> Bool { lazy.remove(key.id) }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers the class of an observer whose methods run on the queue or actor of `delivery`. The
  /// instance is created on the sender's thread. Otherwise as the overload without `delivery`.
  @discardableResult
  public func registerLazily<Service: ManagedService & AnyObject>(
    _ type: Service.Type, delivery: Delivery, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    lazy.add(registration(of: type, delivery, observer), priority: priority)
  }
}

extension ExtensionPoint where Interface == any MessageReceiver {
  /// Registers the class of an observer: see the overload with `observer`.
  @discardableResult
  public func registerLazily<Service: ManagedService & MessageReceiver>(_ type: Service.Type, priority: Int = 0) -> Bool
  {
    registerLazily(type, priority: priority) { $0 }
  }
}
