// ExtensionCenter.swift: a program's extension points, by protocol.

import Forwardcast

/// One extension point for each protocol, created on first use.
///
///     let extensions = try ServiceCenter.shared.service(ExtensionCenter.self)
///     extensions.register(window, for: (any MessageExtension).self)
///     extensions.registerLazily(
///       ArchiveService.self, for: (any MessageExtension).self, as: { $0 })
///     // typed call:
///     extensions.notify((any MessageExtension).self) { $0.onAddMsg("alice", [1, 2]) }
///     // by selector:
///     extensions.notify((any MessageExtension).self, .onAddMsg, "alice", [1, 2])
///
/// `clearData()` of the service center keeps the extension center, but releases observers that are
/// non-persistent services. The next message creates lazy observers again. Protocols must be
/// `Sendable`, because any thread may use the center. A standalone ``ExtensionPoint`` takes any
/// protocol.
public final class ExtensionCenter: ManagedService {
  private let points = Guarded<[ObjectIdentifier: any Sendable]>([:])
  private let services: @Sendable () -> ServiceCenter?

  /// Creates a center that is not a service. Retains `services`, which creates lazy observers.
  public init(services: ServiceCenter = .shared) { self.services = { services } }

  /// Creates an extension center as a service of `center`. The service center creates and retains
  /// lazy observers.
  public init(in center: ServiceCenter) {
    // Weak, since the service center retains this extension center.
    services = { [weak center] in center }
  }

  /// Always true, because extension points do not depend on the user.
  public var isPersistent: Bool { true }

  // MARK: Points

  /// The extension point of a protocol such as `(any MessageExtension).self`, created on first use.
  public func point<Interface: Sendable>(_ type: Interface.Type) -> ExtensionPoint<Interface> {
    enter(ExtensionPoint<Interface>(selectors: nil, table: nil, options: MulticastOptions(), services: services)).point
  }

  /// Configures a protocol's extension point before its first use: see ``ExtensionPoint``.
  /// - Returns: `false`, without a change, if the extension point already exists. A point created
  ///   by its first use has no table.
  public func declare<Interface: Sendable>(
    _ type: Interface.Type, selectors: [MessageSelector]? = nil, table: SelectorTable? = nil,
    options: MulticastOptions = MulticastOptions()
  ) -> Bool {
    enter(ExtensionPoint<Interface>(selectors: selectors, table: table, options: options, services: services)).isNew
  }

  private func enter<Interface: Sendable>(_ new: @autoclosure () -> ExtensionPoint<Interface>)
    -> (point: ExtensionPoint<Interface>, isNew: Bool)
  {
    let id = ObjectIdentifier(Interface.self)
    if let found = points.withLock({ $0[id] }) as? ExtensionPoint<Interface> { return (found, false) }
    let made = new()
    let first = points.withLock { points in
      if let first = points[id] { return first }
      points[id] = made
      return made
    }
    guard let first = first as? ExtensionPoint<Interface> else {
      preconditionFailure("internal error: the stored extension point is for another protocol")
    }
    return (first, first === made)
  }

  // MARK: Registering

  /// Registers an observer for a protocol: see `register` of ``ExtensionPoint``.
  @discardableResult
  public func register<Interface: Sendable>(
    _ observer: Interface, for type: Interface.Type, delivery: Delivery = .direct, priority: Int = 0
  ) -> Registration? {
    point(type).register(observer, delivery: delivery, priority: priority)
  }

  /// Unregisters an observer: see ``ExtensionPoint/unregister(_:)``.
  @discardableResult
  public func unregister<Interface: Sendable>(_ observer: Interface, from type: Interface.Type) -> Bool {
    point(type).unregister(observer)
  }

  /// Registers the class of an observer without creating its single instance: see `registerLazily`
  /// of ``ExtensionPoint``. The observer's methods run on the queue or actor of `delivery`. The
  /// sender's thread creates the instance, so the `init(in:)` of a main-actor class must be
  /// `nonisolated`.
  @discardableResult
  public func registerLazily<Interface: Sendable, Service: ManagedService & AnyObject>(
    _ service: Service.Type, for type: Interface.Type, delivery: Delivery = .direct, priority: Int = 0,
    as observer: @escaping @Sendable (Service) -> Interface
  ) -> Bool {
    point(type).registerLazily(service, delivery: delivery, priority: priority, as: observer)
  }

  // MARK: Sending

  /// Calls a method of each observer of a protocol: see ``ExtensionPoint/broadcast(for:_:)``.
  @discardableResult
  public func notify<Interface: Sendable>(
    _ type: Interface.Type, for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void
  ) -> BroadcastSummary {
    point(type).broadcast(for: selector, call)
  }

  /// Sends a message to the observers of a protocol: see `broadcast` of ``ExtensionPoint``.
  @inlinable
  @discardableResult
  public func notify<Interface: Sendable, R, each A: Sendable>(
    _ type: Interface.Type, _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) -> BroadcastSummary {
    point(type).broadcast(message, repeat each arguments)
  }

  /// Sends a message to a protocol's observers and combines the answers: see ``ExtensionPoint``.
  @inlinable
  public func collect<Interface: Sendable, R, Output, each A: Sendable>(
    _ type: Interface.Type, _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A,
    returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try point(type).collect(message, repeat each arguments, returning: policy)
  }
}
