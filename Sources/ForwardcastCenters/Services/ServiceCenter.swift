// ServiceCenter.swift: one instance of each service, created by the first request.

import Forwardcast

/// Holds one instance of each service, which the first request creates.
///
///     let center = ServiceCenter()
///     let account = try center.service(AccountService.self)  // created here
///     try center.service(AccountService.self) === account    // true
///     center.clearData()  // at log-out: clears and releases services
///
/// One thread creates a service, and concurrent requests for the service wait. A service may
/// request other services during its construction. A dependency cycle is an error that names the
/// chain of services, even if several threads create them. If a construction throws, all waiting
/// requests throw that error, and the next request tries again.
///
/// All members may be called from any thread and from services. No foreign code runs under a lock.
public final class ServiceCenter: Sendable {
  /// A center for programs that need only one.
  public static let shared = ServiceCenter()

  /// The scope of this center's services.
  public let scope: ServiceScope

  /// The outer center, which holds the services of wider scopes.
  public let parent: ServiceCenter?

  private struct Inner: Sendable { weak var center: ServiceCenter? }

  private let ownStore = ServiceStore()
  private let inner = Guarded<[Inner]>([])
  private let handler = Guarded<(@Sendable (ServiceFailure) -> Void)?>(nil)

  /// Creates an empty center for the services of a scope. Retains `parent`, the outer center.
  public init(_ scope: ServiceScope = .application, in parent: ServiceCenter? = nil) {
    (self.scope, self.parent) = (scope, parent)
    // Deallocated centers are removed when the array is full. Releases happen outside the lock.
    let others = parent?.inner.withLock { inner in
      let living = inner.count == inner.capacity ? inner.compactMap(\.center) : nil
      if let living { inner = living.map { Inner(center: $0) } }
      inner.append(Inner(center: self))
      return living
    }
    withExtendedLifetime(others) {}
  }

  deinit { ownStore.removeAll() }

  // MARK: Requests

  /// The service of a type, created if it does not exist.
  /// - Throws: ``ServiceError``; errors of the initializer or of
  ///   ``ServiceLifecycle/serviceDidInit(in:)``.
  /// - Complexity: one look-up under a lock if the service exists. Blocks the thread while another
  ///   thread creates the service.
  public func service<Service: ManagedService>(_ type: Service.Type = Service.self) throws -> Service {
    try service(ServiceKey(type))
  }

  /// The service of a key, created if it does not exist: see ``service(_:)-(Service.Type)``.
  public func service<Service>(_ key: ServiceKey<Service>) throws -> Service { try entry(key).unwrapped() }

  func entry<Service>(_ key: ServiceKey<Service>) throws -> ServiceEntry {
    let owner = try owner(of: key)
    let key = ServiceOverlay.covering(owner)?.substitute(for: key) ?? key
    return try owner.store.entry(key, in: owner)
  }

  /// The service of a type, if it exists.
  public func existing<Service: ManagedService>(_ type: Service.Type) -> Service? { existing(ServiceKey(type)) }

  /// The service of a key, if it exists.
  public func existing<Service>(_ key: ServiceKey<Service>) -> Service? {
    (try? owner(of: key))?.store.entry(key.id)?.unwrapped()
  }

  /// The nearest center that has the scope of `key`: this center or an outer center.
  func owner<Service>(of key: ServiceKey<Service>) throws(ServiceError) -> ServiceCenter {
    var center = self
    while center.scope != key.scope {
      guard let next = center.parent else {
        throw ServiceError(
          code: .outOfScope, service: key.name, chain: scopes.map(\.description), scope: key.scope.description)
      }
      center = next
    }
    return center
  }

  var scopes: [ServiceScope] { [scope] + (parent?.scopes ?? []) }

  // MARK: Removal

  /// Removes a service, so the next request creates a new one. Returns `false` if the service does
  /// not exist or is under construction.
  @discardableResult
  public func remove<Service: ManagedService>(_ type: Service.Type) -> Bool { remove(ServiceKey(type)) }

  /// Removes the service of a key.
  @discardableResult
  public func remove<Service>(_ key: ServiceKey<Service>) -> Bool {
    (try? owner(of: key))?.store.remove(key.id) ?? false
  }

  // MARK: Structure

  /// The store of the center's services or, during a substitution, the store that replaces it.
  var store: ServiceStore { ServiceOverlay.covering(self)?.store(of: self) ?? ownStore }

  var root: ServiceCenter { parent?.root ?? self }

  var innerCenters: [ServiceCenter] { inner.withLock { $0.compactMap(\.center) }.reversed() }

  /// Receives the errors of callbacks. An error of ``ServiceLifecycle/serviceDidInit(in:)`` is
  /// thrown by the request instead. Without a handler, errors are written to standard error.
  public var onError: (@Sendable (ServiceFailure) -> Void)? {
    get { handler.withLock { $0 } }
    set {
      // The old value is released outside the lock.
      _ = handler.withLock { exchange(&$0, with: newValue) }
    }
  }

  func call(_ hook: String, on entry: ServiceEntry, _ body: (any ServiceLifecycle) throws -> Void) {
    guard let lifecycle = entry.lifecycle else { return }
    do { try body(lifecycle) } catch {
      let failure = ServiceFailure(service: entry.name, hook: hook, error: error)
      if let handler = onError { handler(failure) } else { StandardError.write("forwardcast: \(failure)\n") }
    }
  }
}
