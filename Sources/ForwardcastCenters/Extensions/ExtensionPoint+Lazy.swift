// ExtensionPoint+Lazy.swift: observers that their first message creates.

import Forwardcast

extension ExtensionPoint {
  /// Registers a class whose one instance is to observe, without creating the instance.
  ///
  ///     messages.registerLazily(ArchiveService.self) { $0 }
  ///
  /// The first message that the class implements creates the instance through the service center,
  /// and the instance receives that message; other messages, and those that a hook withholds,
  /// create nothing. Its place in the order is that of this registration. After the service was
  /// removed from its center, for example by a log-out, the next such message creates a new one,
  /// which receives no message that began before. An observer that the instance registers during
  /// its construction joins from the next message on.
  ///
  /// An error of the construction is reported like one of an observer. The others receive the
  /// message, and the next message tries again. A class that is registered in several points is
  /// created once.
  ///
  /// The class implements the messages of its table, if it is a `MessageReceiver`, and of the
  /// point's table, except those that a `PartialTarget` lists.
  ///
  /// - Parameters:
  ///   - type: the service's class.
  ///   - priority: higher comes first, as for other observers.
  ///   - observer: the service as an observer, usually `{ $0 }`, by which the compiler checks the conformance. Another object that
  ///     it returns is retained as long as the service lives in its center.
  /// - Returns: `false` when the class is registered lazily already, or has none of the point's messages; nothing is registered
  ///   then.
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

  /// Registers the service of a key, for observers without a class, as in scripts. The first
  /// message of a selector in `table` creates it.
  ///
  /// - Returns: as ``registerLazily(_:priority:as:)``.
  @discardableResult
  public func registerLazily<Service>(
    _ key: ServiceKey<Service>, table: SelectorTable, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    let registration = LazyRegistration(
      key, type: nil, delivery: .direct, signature: { table.signature(for: $0) }, as: observer)
    return lazy.add(registration, priority: priority)
  }

  /// Removes a lazy registration, and unregisters its observer if it exists. `false` if there is
  /// none.
  @discardableResult
  public func unregisterLazily<Service: ManagedService & AnyObject>(_ type: Service.Type) -> Bool {
    lazy.remove(ServiceKey(type).id)
  }

  /// Removes the lazy registration of a key.
  @discardableResult
  public func unregisterLazily<Service>(_ key: ServiceKey<Service>) -> Bool { lazy.remove(key.id) }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers a class whose one instance is to observe, without creating it, with a delivery for
  /// its messages. The sender creates the instance, on its own context. Otherwise as the overload
  /// without `delivery`.
  @discardableResult
  public func registerLazily<Service: ManagedService & AnyObject>(
    _ type: Service.Type, delivery: Delivery, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    lazy.add(registration(of: type, delivery, observer), priority: priority)
  }
}

extension ExtensionPoint where Interface == any MessageReceiver {
  /// Registers a class whose one instance is to observe, without creating it: see the overload with
  /// `observer`.
  @discardableResult
  public func registerLazily<Service: ManagedService & MessageReceiver>(_ type: Service.Type, priority: Int = 0) -> Bool
  {
    registerLazily(type, priority: priority) { $0 }
  }
}
