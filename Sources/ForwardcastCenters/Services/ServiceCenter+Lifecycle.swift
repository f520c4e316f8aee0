// ServiceCenter+Lifecycle.swift: notifies, removes and lists the services of a center.

extension ServiceCenter {
  /// Clears the services when the user logs out. Calls ``ServiceLifecycle/serviceWillClearData()``
  /// on all services in the order of creation, then removes the non-persistent services in reverse
  /// order.
  ///
  /// Inner centers are cleared first. Services that are created during the call are cleared too. If
  /// a callback replaces a cleared service, the replacement gets no callback, and is removed unless
  /// it is persistent. A service that another thread is still constructing at the end is cleared
  /// and, unless it is persistent, created again. If a callback calls this method of its own
  /// center, that call clears only the inner centers.
  public func clearData() {
    for center in innerCenters { center.clearData() }
    store.clear { entry in call("serviceWillClearData", on: entry) { try $0.serviceWillClearData() } }
  }

  /// Removes all services, including persistent services, in reverse order of creation and without
  /// callbacks. Inner centers are emptied first.
  public func removeAll() {
    for center in innerCenters { center.removeAll() }
    store.removeAll()
  }

  /// Notifies all services, in reverse order of creation, that the program entered the background.
  public func didEnterBackground() {
    for center in innerCenters { center.didEnterBackground() }
    for entry in store.entries.reversed() { call("didEnterBackground", on: entry) { try $0.didEnterBackground() } }
  }

  /// Notifies all services, in order of creation, that the program will enter the foreground.
  public func willEnterForeground() {
    for entry in store.entries { call("willEnterForeground", on: entry) { try $0.willEnterForeground() } }
    for center in innerCenters.reversed() { center.willEnterForeground() }
  }

  /// Notifies all services that the program is about to end, in reverse order of creation.
  public func willTerminate() {
    for center in innerCenters { center.willTerminate() }
    for entry in store.entries.reversed() { call("willTerminate", on: entry) { try $0.willTerminate() } }
  }

  /// The services in this center, in order of creation. A service comes after its dependencies.
  public var services: [LivingService] {
    store.entries.map {
      LivingService(name: $0.name, service: $0.service, since: $0.since, isPersistent: $0.isPersistent)
    }
  }
}

/// A service in the list ``ServiceCenter/services``.
public struct LivingService: Sendable {
  /// The name of the service's type or key.
  public let name: String
  /// The service, which the list retains.
  public let service: any Sendable
  /// The time of creation.
  public let since: ContinuousClock.Instant
  /// True if the service survives ``ServiceCenter/clearData()``.
  public let isPersistent: Bool
}

extension ServiceCenter: CustomStringConvertible {
  /// Lists the services of this center and inner centers with their ages, in order of creation.
  public var description: String { lines(indent: "").joined(separator: "\n") }

  private func lines(indent: String) -> [String] {
    let living = services
    var lines = ["\(indent)\(scope): \(living.count) service\(living.count == 1 ? "" : "s")"]
    for (index, service) in living.enumerated() {
      let age = ContinuousClock.now - service.since
      let milliseconds = age.components.seconds * 1000 + age.components.attoseconds / 1_000_000_000_000_000
      let note = service.isPersistent ? ", persistent" : ""
      lines.append("\(indent)\(index + 1). \(service.name), for \(milliseconds) ms\(note)")
    }
    return lines + innerCenters.reversed().flatMap { $0.lines(indent: indent + "  ") }
  }
}
