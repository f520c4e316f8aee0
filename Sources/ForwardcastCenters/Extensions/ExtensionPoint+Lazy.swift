// ExtensionPoint+Lazy.swift: observers that are made by the first message for them.

import Forwardcast

extension ExtensionPoint {
  /// Registers a class whose one instance is to observe, without making it.
  ///
  ///     messages.registerLazily(ArchiveService.self) { $0 }
  ///
  /// The first message of a selector that the class implements makes the instance, through the service center, and the
  /// instance gets that very message; other messages make nothing. Its place in the order is that of this registration.
  /// When the service has been removed from its center, by a log-out say, the next such message makes a new one; a message
  /// that began before and has not reached the observer's turn passes it by.
  /// Construction that fails is reported like an error of an observer and keeps nobody else from the message; the next
  /// message tries again. A class that is registered in several points is still made once.
  ///
  /// Which messages the class implements is read from its table, where it is a `MessageReceiver`, and from the point's, but for
  /// those that a `PartialTarget` leaves out.
  ///
  /// - Parameters:
  ///   - type: the service's class.
  ///   - priority: higher comes first, as for observers that exist.
  ///   - observer: the service as an observer of the point, usually the service itself, `{ $0 }`: so the compiler checks
  ///     that the class conforms. Another object that it makes is kept as long as the service lives in its center.
  /// - Returns: `false`, and nothing happens, when the class is registered lazily already or has none of the point's
  ///   messages.
  @discardableResult
  public func registerLazily<Service: ManagedService & AnyObject>(
    _ type: Service.Type, priority: Int = 0, as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    lazy.add(mark(type, .direct, observer), priority: priority)
  }

  private func mark<Service: ManagedService & AnyObject>(
    _ type: Service.Type, _ delivery: Delivery, _ observer: @escaping @Sendable (Service) -> Interface
  ) -> LazyMark {
    let shared = observers.interfaceTable
    return LazyMark(
      ServiceKey(type), type: type, delivery: delivery,
      signature: { selector in
        if let partial = type as? any PartialTarget.Type, partial.leftOut.contains(selector) { return nil }
        let receiver = type as? any MessageReceiver.Type
        return receiver.flatMap { Forwardcast.signature(ofClass: $0, selector) } ?? shared?.signature(for: selector)
      }, as: observer)
  }

  /// Registers the service of a key, to be made by the first message of a selector that `table` has.
  ///
  /// This is the form for observers without a class, as in a script.
  ///
  /// - Returns: as ``registerLazily(_:priority:as:)``.
  @discardableResult
  public func registerLazily<Service>(
    _ key: ServiceKey<Service>, table: SelectorTable, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    let mark = LazyMark(key, type: nil, delivery: .direct, signature: { table.signature(for: $0) }, as: observer)
    return lazy.add(mark, priority: priority)
  }

  /// Takes back a lazy registration; an observer that it led to is unregistered. `false` when there is none.
  @discardableResult
  public func unregisterLazily<Service: ManagedService & AnyObject>(_ type: Service.Type) -> Bool {
    lazy.remove(ServiceKey(type).id)
  }

  /// Takes back the lazy registration of a key.
  @discardableResult
  public func unregisterLazily<Service>(_ key: ServiceKey<Service>) -> Bool { lazy.remove(key.id) }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers a class whose one instance is to observe, without making it, and says where and when its messages run.
  ///
  /// The instance itself is made in the sender's turn. Otherwise see the form without `delivery`.
  @discardableResult
  public func registerLazily<Service: ManagedService & AnyObject>(
    _ type: Service.Type, delivery: Delivery, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    lazy.add(mark(type, delivery, observer), priority: priority)
  }
}

extension ExtensionPoint where Interface == any MessageReceiver {
  /// Registers a class whose one instance is to observe itself, without making it: see the form with `observer`.
  @discardableResult
  public func registerLazily<Service: ManagedService & MessageReceiver>(_ type: Service.Type, priority: Int = 0) -> Bool
  {
    registerLazily(type, priority: priority) { $0 }
  }
}
