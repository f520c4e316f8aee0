// Services.swift: services for the tests of the centers.

import CoreTestSupport
import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport
import Testing

/// All tests of services and extension points: `swift test --filter Centers`.
@Suite("Centers") enum Centers {}

/// The events of one test's services, which find it in their center under this key.
extension ServiceKey<Journal> {
  static let journal = ServiceKey("journal") { _ in Journal() }
}

extension ServiceCenter {
  /// A center whose services write to a journal.
  static func journaled() throws -> (ServiceCenter, Journal) {
    let center = ServiceCenter()
    return (center, try center.service(.journal))
  }
}

/// A service with all hooks.
final class AccountService: ManagedService {
  let journal: Journal
  init(in center: ServiceCenter) throws {
    journal = try center.service(.journal)
    journal.write("account made")
  }
  func serviceDidInit(in center: ServiceCenter) { journal.write("account did init") }
  func serviceWillClearData() { journal.write("account will clear") }
  func didEnterBackground() { journal.write("account background") }
  func willEnterForeground() { journal.write("account foreground") }
  func willTerminate() { journal.write("account terminates") }
  deinit { journal.write("account gone") }
}

/// A service that needs another one and survives logouts.
final class CDNService: ManagedService {
  let account: AccountService
  init(in center: ServiceCenter) throws {
    account = try center.service()
    account.journal.write("cdn made")
  }
  var isPersistent: Bool { true }
  func serviceWillClearData() { account.journal.write("cdn will clear") }
  func didEnterBackground() { account.journal.write("cdn background") }
  func willEnterForeground() { account.journal.write("cdn foreground") }
  func willTerminate() { account.journal.write("cdn terminates") }
}

/// A service that needs a third one, without base class or hooks.
final class ChatService: ManagedService {
  let cdn: CDNService
  init(in center: ServiceCenter) throws { cdn = try center.service() }
  func serviceWillClearData() { cdn.account.journal.write("chat will clear") }
  deinit { cdn.account.journal.write("chat gone") }
}

/// A base class unrelated to services, and a service that inherits it.
class PlainBase {
  let name: String
  init(name: String) { self.name = name }
}
final class DerivedService: PlainBase, ManagedService, @unchecked Sendable {  // immutable
  init(in center: ServiceCenter) { super.init(name: "derived") }
}

struct SettingsService: ManagedService, Equatable {
  var language = "en"
  init(in center: ServiceCenter) {}
}

actor CounterService: ManagedService {
  var count = 0
  init(in center: ServiceCenter) {}
  func increment() -> Int {
    count += 1
    return count
  }
}

/// A service that fails as often as its test states.
final class FragileService: ManagedService {
  enum Place: Sendable { case initialiser, hook }
  @TaskLocal static var failing: Place?
  init(in center: ServiceCenter) throws {
    if FragileService.failing == .initialiser { throw TargetError(name: "initialiser") }
  }
  func serviceDidInit(in center: ServiceCenter) throws {
    if FragileService.failing == .hook { throw TargetError(name: "hook") }
  }
}
