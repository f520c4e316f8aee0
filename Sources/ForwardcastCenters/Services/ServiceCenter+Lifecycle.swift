// ServiceCenter+Lifecycle.swift: events for all services of a center, and what lives in it.

extension ServiceCenter {
  /// Logs out: calls ``ServiceLifecycle/serviceWillClearData()`` on all services in the order of
  /// their creation, then removes those that are not persistent, in reverse order.
  ///
  /// Inner centers are cleared first. Services that are created during the log-out are cleared too.
  /// If a callback replaces a service that was cleared already, the replacement is removed without
  /// a callback, unless it is persistent. A service whose construction overlaps the end of the
  /// log-out is cleared and, unless it is persistent, created again, so that waiting threads get
  /// one without data of the previous user. Does nothing when a callback of the same log-out calls
  /// it.
  public func clearData() {
    for center in innerCenters { center.clearData() }
    store.clear { entry in call("serviceWillClearData", on: entry) { try $0.serviceWillClearData() } }
  }

  /// Removes all services, persistent ones too, in reverse order of creation and without callbacks; those of inner centers first.
  public func removeAll() {
    for center in innerCenters { center.removeAll() }
    store.removeAll()
  }

  /// Notifies all services that the program has entered the background, in reverse order of
  /// creation: dependent services first.
  public func didEnterBackground() {
    for center in innerCenters { center.didEnterBackground() }
    for entry in store.entries.reversed() { call("didEnterBackground", on: entry) { try $0.didEnterBackground() } }
  }

  /// Notifies all services that the program is about to enter the foreground, in the order of
  /// creation.
  public func willEnterForeground() {
    for entry in store.entries { call("willEnterForeground", on: entry) { try $0.willEnterForeground() } }
    for center in innerCenters.reversed() { center.willEnterForeground() }
  }

  /// Notifies all services that the program is about to end, in reverse order of creation.
  public func willTerminate() {
    for center in innerCenters { center.willTerminate() }
    for entry in store.entries.reversed() { call("willTerminate", on: entry) { try $0.willTerminate() } }
  }

  /// The services in this center, in the order of creation: a service comes after those that it
  /// depends on.
  public var services: [LivingService] {
    store.entries.map {
      LivingService(name: $0.name, service: $0.service, since: $0.since, isPersistent: $0.isPersistent)
    }
  }
}

/// A service in a list of living ones.
public struct LivingService: Sendable {
  /// The name of its type or key.
  public let name: String
  /// The service, which the list retains.
  public let service: any Sendable
  /// When it was created.
  public let since: ContinuousClock.Instant
  /// Whether it survives ``ServiceCenter/clearData()``.
  public let isPersistent: Bool
}

extension ServiceCenter: CustomStringConvertible {
  /// The services here and in inner centers, in the order of creation, with their ages: one line each.
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
