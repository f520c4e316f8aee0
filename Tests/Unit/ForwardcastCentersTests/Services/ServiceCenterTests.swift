// ServiceCenterTests.swift: one instance of each service, its hooks and its removal.

import CoreTestSupport
import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport
import Testing

extension Centers {
  @Suite("Services")
  struct ServiceCenterTests {
    @Test("a service is requested by its class and has that type")
    func typedAccessor() throws {
      let (center, _) = try ServiceCenter.journaled()
      let account = try center.service(AccountService.self)
      let inferred: AccountService = try center.service()
      expect(account === inferred)
    }

    @Test("an existing service is returned, and a missing one is created and retained")
    func lookUp() throws {
      let (center, journal) = try ServiceCenter.journaled()
      expect(center.existing(AccountService.self) == nil)
      let account = try center.service(AccountService.self)
      expect(try center.service(AccountService.self) === account)
      expect(center.existing(AccountService.self) === account)
      expect(journal.all, equals: ["account made", "account did init"])
    }

    @Test("the init hook runs once, for the request that creates the service")
    func hookRunsOnce() throws {
      let (center, journal) = try ServiceCenter.journaled()
      for _ in 0..<3 { _ = try center.service(AccountService.self) }
      expect(journal.all.filter { $0 == "account did init" }.count, equals: 1)
    }

    @Test("a service may request others during its creation, and they are created first")
    func dependencies() throws {
      let (center, journal) = try ServiceCenter.journaled()
      let chat = try center.service(ChatService.self)
      expect(chat.cdn.account === (try center.service(AccountService.self)))
      expect(journal.all, equals: ["account made", "account did init", "cdn made"])
      expect(center.services.map(\.name), equals: ["journal", "AccountService", "CDNService", "ChatService"])
    }

    @Test("a service needs no base class: it may be a class, an actor or a struct")
    func allKinds() async throws {
      let center = ServiceCenter()
      try expect(center.service(DerivedService.self).name, equals: "derived")
      try expect(center.service(SettingsService.self), equals: SettingsService(in: center))
      let counter = try center.service(CounterService.self)
      _ = await counter.increment()
      try await expect(center.service(CounterService.self).increment(), equals: 2)
    }

    @Test("two services that need each other get an error with the whole chain, and neither is kept")
    func cycle() throws {
      let center = ServiceCenter()
      let error = #expect(throws: ServiceError.self) { try center.service(.ring0) }
      expect(error?.code, equals: .constructionCycle)
      expect(error?.chain, equals: ["ring0", "ring1", "ring2", "ring1"])
      expect(error.map { "\($0)" }, equals: "construction cycle: ring0 → ring1 → ring2 → ring1")
      expect(center.services.isEmpty)
      // A direct request for the last service of the cycle fails too.
      let direct = #expect(throws: ServiceError.self) { try center.service(.ring2) }
      expect(direct?.chain, equals: ["ring2", "ring1", "ring2"])
    }

    @Test("a service is unavailable until its init hook returns, even to what the hook requests")
    func notSeenEarly() throws {
      let center = ServiceCenter()
      let seen = Locked<Bool?>(nil)
      let key = ServiceKey("early") { _ in
        Hooked { center in
          seen.withLock { $0 = center.existing(ServiceKey("early") { _ in Hooked { _ in } }) != nil }
          _ = try center.service(ServiceKey("early") { _ in Hooked { _ in } })
        }
      }
      let error = #expect(throws: ServiceError.self) { try center.service(key) }
      expect(error?.chain, equals: ["early", "early"])
      expect(seen.withLock { $0 } == false)
    }

    @Test(
      "a service whose constructor or init hook throws is not kept, and the next request tries again",
      arguments: [FragileService.Place.initialiser, .hook])
    func failure(place: FragileService.Place) throws {
      let center = ServiceCenter()
      FragileService.$failing.withValue(place) {
        #expect(throws: TargetError.self) { try center.service(FragileService.self) }
        expect(center.existing(FragileService.self) == nil)
        expect(center.services.isEmpty)
      }
      expect(try center.service(FragileService.self) === center.existing(FragileService.self))
    }

    @Test("removing a service releases it, and the next request creates another")
    func remove() throws {
      let (center, journal) = try ServiceCenter.journaled()
      let first = ObjectIdentifier(try center.service(AccountService.self))
      weak let account = center.existing(AccountService.self)
      expect(account.map(ObjectIdentifier.init), equals: first)
      expect(center.remove(AccountService.self))
      expect(account == nil)
      expect(journal.take().last, equals: "account gone")
      _ = try center.service(AccountService.self)
      expect(journal.all, equals: ["account made", "account did init"])
    }

    @Test("removing a service that does not exist does nothing")
    func removeAbsent() throws {
      let (center, journal) = try ServiceCenter.journaled()
      expect(!center.remove(AccountService.self))
      expect(journal.all.isEmpty)
      expect(center.services.count, equals: 1)
    }

    @Test("a logout notifies all services, and releases the ones that are not persistent in reverse order of creation")
    func clearData() throws {
      let (center, journal) = try ServiceCenter.journaled()
      _ = try center.service(ChatService.self)
      _ = journal.take()
      center.clearData()
      expect(journal.take(), equals: ["account will clear", "cdn will clear", "chat will clear", "chat gone"])
      // The journal is not persistent. The CDN retains the account, which is no longer a service.
      expect(center.services.map(\.name), equals: ["CDNService"])
      expect(center.existing(AccountService.self) == nil)

      for name in ["a", "b", "c"] {
        _ = try center.service(
          ServiceKey(name) { _ in Hooked(isPersistent: name == "b", gone: { journal.write("\(name) gone") }) })
      }
      center.clearData()
      expect(journal.take(), equals: ["cdn will clear", "c gone", "a gone"])
    }

    @Test("a service whose logout hook throws is reported and removed, and the others are still notified")
    func clearFails() throws {
      let center = ServiceCenter()
      let failures = Journal()
      center.onError = { failures.write("\($0)") }
      _ = try center.service(ServiceKey("a") { _ in Hooked(clear: { throw TargetError(name: "a") }) })
      _ = try center.service(ServiceKey("b") { _ in Hooked(clear: { failures.write("b cleared") }) })
      center.clearData()
      expect(failures.all, equals: ["serviceWillClearData failed in a: refused by a", "b cleared"])
      expect(center.services.isEmpty)
    }

    @Test("a service that a logout hook creates is notified too, and a hook that logs out again does not recurse")
    func clearMakes() throws {
      let (center, journal) = try ServiceCenter.journaled()
      _ = try center.service(
        ServiceKey("late") { center in
          Hooked(clear: { [weak center] in
            _ = try center?.service(AccountService.self)
            center?.clearData()
          })
        })
      center.clearData()
      expect(journal.all, equals: ["account made", "account did init", "account will clear", "account gone"])
      expect(center.services.isEmpty)
    }

    @Test("a service that recreates itself in its logout hook is not notified again, and is released unless persistent")
    func clearMakesItself() throws {
      for persists in [false, true] {
        let (center, journal) = (ServiceCenter(), Journal())
        @Sendable func key() -> ServiceKey<Hooked> {
          ServiceKey("self") { center in
            journal.write("made")
            return Hooked(
              isPersistent: persists,
              clear: { [weak center] in
                journal.write("told")
                center?.remove(key())
                _ = try center?.service(key())
              }, gone: { journal.write("gone") })
          }
        }
        _ = try center.service(key())
        center.clearData()
        expect(journal.take(), equals: ["made", "told", "made"] + (persists ? ["gone"] : ["gone", "gone"]))
        expect(center.services.map(\.name), equals: persists ? ["self"] : [])
      }
    }

    @Test("services are notified of background and termination before their dependencies, and of foreground after them")
    func applicationHooks() throws {
      let (center, journal) = try ServiceCenter.journaled()
      _ = try center.service(ChatService.self)
      _ = journal.take()
      center.didEnterBackground()
      center.willEnterForeground()
      center.willTerminate()
      expect(
        journal.all,
        equals: [
          "cdn background", "account background", "account foreground", "cdn foreground", "cdn terminates",
          "account terminates",
        ])
    }

    @Test("a released center releases its services in reverse order of creation")
    func centerGoes() throws {
      let journal = Journal()
      do {
        let center = ServiceCenter()
        for name in ["a", "b", "c"] {
          _ = try center.service(ServiceKey(name) { _ in Hooked(gone: { journal.write(name) }) })
        }
      }
      expect(journal.all, equals: ["c", "b", "a"])
    }

    @Test("a protocol's key returns what its constructor creates; keys with another name or type are other services")
    func keys() throws {
      let center = ServiceCenter()
      let polite = ServiceKey<any Greeter>("greeter") { _ in Polite() }
      try expect(center.service(polite).greeting, equals: "good day")
      try expect(center.service(ServiceKey<any Greeter>("greeter") { _ in Rude() }).greeting, equals: "good day")
      try expect(center.service(ServiceKey<any Greeter>("other") { _ in Rude() }).greeting, equals: "oi")
      try expect(center.service(ServiceKey<Int>("greeter") { _ in 7 }), equals: 7)
      expect(center.services.map(\.name), equals: ["greeter", "other", "greeter"])
      expect(center.remove(polite))
      expect(center.existing(polite) == nil)
      expect(!center.remove(ServiceKey<Int>("greeter", scope: ServiceScope("attic")) { _ in 7 }))
      let keys = [polite, ServiceKey("greeter") { _ in Rude() }, ServiceKey("other") { _ in Rude() }]
      expect(Set(keys).map(\.name).sorted(), equals: ["greeter", "other"])
    }
  }
}

protocol Greeter: Sendable { var greeting: String { get } }
struct Polite: Greeter { var greeting: String { "good day" } }
struct Rude: Greeter { var greeting: String { "oi" } }

extension ServiceKey<Int> {
  static let ring0: ServiceKey<Int> = ServiceKey("ring0") { try $0.service(.ring1) }
  static let ring1: ServiceKey<Int> = ServiceKey("ring1") { try $0.service(.ring2) }
  static let ring2: ServiceKey<Int> = ServiceKey("ring2") { try $0.service(.ring1) }
}

/// A service that consists of closures.
final class Hooked: ServiceLifecycle {
  private let didInit: @Sendable (ServiceCenter) throws -> Void
  private let clear: @Sendable () throws -> Void
  private let gone: @Sendable () -> Void
  let isPersistent: Bool
  init(
    isPersistent: Bool = false, _ didInit: @escaping @Sendable (ServiceCenter) throws -> Void = { _ in },
    clear: @escaping @Sendable () throws -> Void = {}, gone: @escaping @Sendable () -> Void = {}
  ) {
    (self.isPersistent, self.clear, self.gone, self.didInit) = (isPersistent, clear, gone, didInit)
  }
  func serviceDidInit(in center: ServiceCenter) throws { try didInit(center) }
  func serviceWillClearData() throws { try clear() }
  deinit { gone() }
}
