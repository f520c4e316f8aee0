// ServiceSubstitute.swift: replaces services in tests.

import Forwardcast

/// Replaces the construction of a service in `ServiceCenter.withSubstitutes`.
public struct ServiceSubstitute: Sendable {
  fileprivate let id: ServiceID
  /// A ``ServiceKey`` of the service's type.
  fileprivate let key: any Sendable

  /// Replaces the service of a type, for example by an instance of a subclass.
  public init<Service: ManagedService>(
    for type: Service.Type, make: @escaping @Sendable (ServiceCenter) throws -> Service
  ) {
    self.init(for: ServiceKey(type), make: make)
  }

  /// Replaces the service of `key` by the result of `make`.
  public init<Service>(for key: ServiceKey<Service>, make: @escaping @Sendable (ServiceCenter) throws -> Service) {
    id = key.id
    self.key = ServiceKey(key, make: make)
  }
}

extension ServiceCenter {
  /// Runs `body` with substitutes for services.
  ///
  /// While `body` runs, all centers with the same outermost center appear empty. Requests create
  /// services again. If a service has a substitute, the substitute creates it. These services are
  /// released when `body` ends. Only the calling task and the tasks it creates are affected, except
  /// detached tasks, so tests can run in parallel. Other threads and queues get the real services.
  ///
  ///     let account = ServiceSubstitute(for: AccountService.self) { _ in
  ///       AccountService(name: "test")
  ///     }
  ///     try center.withSubstitutes(account) {
  ///       #expect(try center.service(ChatService.self).title == "test")
  ///     }
  public func withSubstitutes<Result>(_ substitutes: ServiceSubstitute..., run body: () throws -> Result) rethrows
    -> Result
  {
    let overlay = ServiceOverlay(root, substitutes)
    return try ServiceOverlay.$current.withValue(overlay) {
      // The overlay stays active, so that services do not find real services during their release.
      defer { overlay.removeAll() }
      return try body()
    }
  }

  /// Runs an async `body` with substitutes for services.
  public nonisolated(nonsending) func withSubstitutes<Result>(
    _ substitutes: ServiceSubstitute..., run body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    let overlay = ServiceOverlay(root, substitutes)
    return try await ServiceOverlay.$current.withValue(overlay) {
      defer { overlay.removeAll() }
      return try await body()
    }
  }
}

/// Replaces the stores of one tree of centers, for one task.
final class ServiceOverlay: Sendable {
  @TaskLocal fileprivate static var current: ServiceOverlay?

  private let root: ServiceCenter
  private let outer: ServiceOverlay?
  private let substitutes: [ServiceID: ServiceSubstitute]
  /// Retains the covered centers, so that no new center gets the address of a covered center.
  private let covers = Guarded<[ObjectIdentifier: (center: ServiceCenter, store: ServiceStore)]>([:])

  /// Adds `list`, which takes precedence, to the current substitutes of the same tree.
  fileprivate init(_ root: ServiceCenter, _ list: [ServiceSubstitute]) {
    var all = ServiceOverlay.covering(root)?.substitutes ?? [:]
    for substitute in list { all[substitute.id] = substitute }
    (self.root, self.outer, self.substitutes) = (root, ServiceOverlay.current, all)
  }

  static func covering(_ center: ServiceCenter) -> ServiceOverlay? {
    guard var overlay = current else { return nil }
    let root = center.root
    while overlay.root !== root {
      guard let next = overlay.outer else { return nil }
      overlay = next
    }
    return overlay
  }

  func store(of center: ServiceCenter) -> ServiceStore {
    covers.withLock { covers in
      if let cover = covers[ObjectIdentifier(center)] { return cover.store }
      let store = ServiceStore()
      covers[ObjectIdentifier(center)] = (center, store)
      return store
    }
  }

  func substitute<Service>(for key: ServiceKey<Service>) -> ServiceKey<Service>? {
    substitutes[key.id]?.key as? ServiceKey<Service>
  }

  /// Releases the services, inner centers first, in each center in reverse order of creation.
  fileprivate func removeAll() {
    let covers = covers.withLock { exchange(&$0, with: [:]) }.values
    for cover in covers.sorted(by: { $0.center.scopes.count > $1.center.scopes.count }) { cover.store.removeAll() }
  }
}
