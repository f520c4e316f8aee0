// ServiceCenter.swift: one instance for each service, made on first request.

import Forwardcast

/// The place where services live: one instance of each class, made by whoever asks first.
///
///     let center = ServiceCenter()
///     let account = try center.service(AccountService.self)     // made here
///     try center.service(AccountService.self) === account       // true
///     center.clearData()  // log-out: told, and released
///
/// A service is made by exactly one thread, once, however many ask; the others wait for that one service and for no
/// other. While it is made it may ask for further services. Services that need each other in order to be made are an
/// error that prints the chain, also when several threads make them. A service whose construction throws leaves no trace:
/// all who waited get the error, and who asks next tries again.
///
/// Every member may be called from any thread, and from within services. No lock is held while they run.
public final class ServiceCenter: Sendable {
  /// A center for programs that need one only.
  public static let shared = ServiceCenter()

  /// How long the services of this center live.
  public let scope: ServiceScope

  /// The center that this one lies in, where services of wider scopes live.
  public let parent: ServiceCenter?

  private struct Inner: Sendable { weak var center: ServiceCenter? }

  private let ownStore = ServiceStore()
  private let inner = Guarded<[Inner]>([])
  private let handler = Guarded<(@Sendable (ServiceFailure) -> Void)?>(nil)

  /// An empty center.
  ///
  /// - Parameters:
  ///   - scope: which services it keeps.
  ///   - parent: the center of the next wider scope; it is kept alive, and does not keep this one alive.
  public init(_ scope: ServiceScope = .application, in parent: ServiceCenter? = nil) {
    (self.scope, self.parent) = (scope, parent)
    // What was loaded is released after the lock: it may be the last reference to a center.
    let others = parent?.inner.withLock { inner in
      let living = inner.compactMap(\.center)
      inner = (living + [self]).map { Inner(center: $0) }
      return living
    }
    withExtendedLifetime(others) {}
  }

  deinit { ownStore.removeAll() }

  // MARK: Asking

  /// The service of a class, an actor or a struct, made now if it does not live yet.
  ///
  /// - Parameter type: may be left out where the compiler knows it.
  /// - Throws: ``ServiceError``; what the service's initialiser or its ``ServiceLifecycle/serviceDidInit(in:)`` throws.
  /// - Complexity: one look-up under a lock, once the service lives. Blocks the thread while another one makes it.
  public func service<Service: ManagedService>(_ type: Service.Type = Service.self) throws -> Service {
    try service(ServiceKey(type))
  }

  /// The service of a key, made now if it does not live yet: see ``service(_:)-(Service.Type)``.
  public func service<Service>(_ key: ServiceKey<Service>) throws -> Service {
    let owner = try owner(of: key)
    let key = ServiceOverlay.covering(owner)?.substitute(for: key) ?? key
    return try owner.store.service(key, in: owner)
  }

  /// The service of a class, if it lives.
  public func existing<Service: ManagedService>(_ type: Service.Type) -> Service? { existing(ServiceKey(type)) }

  /// The service of a key, if it lives.
  public func existing<Service>(_ key: ServiceKey<Service>) -> Service? { (try? owner(of: key))?.store.existing(key) }

  /// The nearest center that has the scope of `key`.
  func owner<Service>(of key: ServiceKey<Service>) throws(ServiceError) -> ServiceCenter {
    var center = self
    while center.scope != key.scope {
      guard let next = center.parent else {
        throw ServiceError(code: .outOfScope, service: key.name, chain: scopes.map(\.description))
      }
      center = next
    }
    return center
  }

  var scopes: [ServiceScope] { [scope] + (parent?.scopes ?? []) }

  // MARK: Removing

  /// Drops the center's reference to a service, which ends with the last other reference, and is made anew when it is
  /// next asked for. `false`, and nothing happens, when it does not live here; one that is being made is not here yet.
  @discardableResult
  public func remove<Service: ManagedService>(_ type: Service.Type) -> Bool { remove(ServiceKey(type)) }

  /// Drops the center's reference to the service of a key.
  @discardableResult
  public func remove<Service>(_ key: ServiceKey<Service>) -> Bool {
    (try? owner(of: key))?.store.remove(key.id) ?? false
  }

  // MARK: Inside

  /// Where the center's services are: those of a substitution while one is in force.
  var store: ServiceStore { ServiceOverlay.covering(self)?.store(of: self) ?? ownStore }

  var root: ServiceCenter { parent?.root ?? self }

  /// The living centers that lie in this one, the latest first.
  var innerCenters: [ServiceCenter] { inner.withLock { $0.compactMap(\.center) }.reversed() }

  /// Gets every error that a hook throws, but for ``ServiceLifecycle/serviceDidInit(in:)``, whose errors go to whoever
  /// asked. Without a handler such errors are written to standard error: they are never lost.
  public var onError: (@Sendable (ServiceFailure) -> Void)? {
    get { handler.withLock { $0 } }
    set {
      // What was there is released after the lock.
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
