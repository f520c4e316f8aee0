// ServiceScopeTests.swift: nested centers, and substitutes for tests.

import CoreTestSupport
import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

extension Centers {
  @Suite("Scopes and substitution")
  struct ServiceScopeTests {
    final class SessionService: ManagedService {
      static let scope = ServiceScope.session
      let account: AccountService
      init(in center: ServiceCenter) throws { account = try center.service() }
    }
    final class EagerService: ManagedService {
      init(in center: ServiceCenter) throws { _ = try center.service(SessionService.self) }
    }

    final class TellingService: ManagedService {
      static let scope = ServiceScope.session
      let journal: Journal
      init(in center: ServiceCenter) throws { journal = try center.service(.journal) }
      func didEnterBackground() { journal.write("session background") }
      func willEnterForeground() { journal.write("session foreground") }
      func willTerminate() { journal.write("session terminates") }
      deinit { journal.write("session gone") }
    }

    private func tree() throws -> (application: ServiceCenter, session: ServiceCenter, journal: Journal) {
      let (application, journal) = try ServiceCenter.journaled()
      return (application, ServiceCenter(.session, in: application), journal)
    }

    @Test("a service lives in the nearest center of its scope, whichever center receives the request")
    func nearest() throws {
      let (application, session, _) = try tree()
      let user = ServiceCenter(.user, in: session)
      let service = try user.service(SessionService.self)
      expect(session.services.map(\.name), equals: ["SessionService"])
      expect(user.services.isEmpty)
      expect(service.account === application.existing(AccountService.self))
      let other = ServiceCenter(.session, in: application)
      expect(try other.service(SessionService.self) !== service)
      expect(try other.service(SessionService.self).account === service.account)
    }

    @Test("a service of a wider scope cannot depend on one of a narrower scope")
    func captive() throws {
      let (application, session, _) = try tree()
      let error = #expect(throws: ServiceError.self) { try session.service(EagerService.self) }
      expect(error?.code, equals: .outOfScope)
      expect(
        error.map { "\($0)" },
        equals: "out of scope: SessionService has the scope session, but was requested from application"
          + "; request it from a center of that scope, or from one inside it")
      expect(application.existing(EagerService.self) == nil)
      let user = ServiceCenter(.user, in: session)
      let unknown = #expect(throws: ServiceError.self) {
        try user.service(ServiceKey("x", scope: "document") { _ in 1 })
      }
      expect(
        unknown.map { "\($0)" },
        equals: "out of scope: x has the scope document, but was requested from user in session in application"
          + "; request it from a center of that scope, or from one inside it")
    }

    @Test("a logout of a center clears the nested centers first")
    func clearInner() throws {
      let (application, session, journal) = try tree()
      _ = try session.service(SessionService.self)
      _ = try session.service(
        ServiceKey("last", scope: .session) { _ in Hooked(clear: { journal.write("last will clear") }) })
      _ = journal.take()
      application.clearData()
      expect(journal.all, equals: ["last will clear", "account will clear", "account gone"])
      expect(session.services.isEmpty && application.services.isEmpty)
    }

    @Test("application events and removal reach nested centers in dependency order")
    func eventsInner() throws {
      let (application, session, journal) = try tree()
      _ = ServiceCenter(.user, in: session)  // released at once, and skipped
      _ = try session.service(SessionService.self)
      _ = try session.service(TellingService.self)
      _ = journal.take()
      application.didEnterBackground()
      application.willEnterForeground()
      application.willTerminate()
      expect(
        journal.take(),
        equals: [
          "session background", "account background", "account foreground", "session foreground", "session terminates",
          "account terminates",
        ])
      application.removeAll()
      expect(journal.all, equals: ["session gone", "account gone"])
      expect(session.services.isEmpty && application.services.isEmpty)
    }

    @Test("substitutes for unrelated centers are active at the same time")
    func substitutionInTwoTrees() throws {
      let (one, other) = (ServiceCenter(), ServiceCenter())
      let third = ServiceCenter()
      let name = ServiceKey<String>("name") { _ in "real" }
      try one.withSubstitutes(ServiceSubstitute(for: name) { _ in "first" }) {
        try other.withSubstitutes(ServiceSubstitute(for: name) { _ in "second" }) {
          try expect(one.service(name), equals: "first")
          try expect(other.service(name), equals: "second")
          try expect(third.service(name), equals: "real")
        }
        try expect(other.service(name), equals: "real")
      }
    }

    @Test("a description lists services in order of creation with their age, and marks persistent ones")
    func description() throws {
      let (application, session, _) = try tree()
      _ = try session.service(SessionService.self)
      _ = try application.service(CDNService.self)
      let lines = application.description.split(separator: "\n").map(String.init)
      expect(lines.count, equals: 6)
      expect(lines[0], equals: "application: 3 services")
      expect(lines[2].wholeMatch(of: /2\. AccountService, for \d+ ms/) != nil)
      expect(lines[3].wholeMatch(of: /3\. CDNService, for \d+ ms, persistent/) != nil)
      expect(lines[4], equals: "  session: 1 service")
      let since = application.services.map(\.since)
      expect(since, equals: since.sorted())
      expect(application.services.map(\.isPersistent), equals: [false, false, true])
    }

    @Test("a substitute replaces a service in its own task only and is removed at the end")
    func substitution() async throws {
      let (center, _) = try ServiceCenter.journaled()
      let key = ServiceKey<any Greeter>("greeter") { _ in Polite() }
      let letter = ServiceKey<String>("letter") { try $0.service(key).greeting + ", Ann" }
      try expect(center.service(letter), equals: "good day, Ann")
      try await center.withSubstitutes(ServiceSubstitute(for: key) { _ in Rude() }) { () async throws in
        try expect(center.service(letter), equals: "oi, Ann")
        async let child = center.service(letter)
        try await expect(child, equals: "oi, Ann")
        let detached = Task.detached { try center.service(letter) }
        try await expect(detached.value, equals: "good day, Ann")
        expect(center.services.map(\.name), equals: ["greeter", "letter"])
      }
      try expect(center.service(letter), equals: "good day, Ann")
      expect(center.services.map(\.name), equals: ["journal", "greeter", "letter"])
    }

    @Test("a substitute that requests a service during its release does not get the original")
    func askingWhileReleased() async throws {
      let (center, journal) = try ServiceCenter.journaled()
      let key = ServiceKey<Hooked>("h") { _ in Hooked() }
      let substitute = ServiceSubstitute(for: key) { center in
        Hooked(gone: { [weak center] in
          journal.write(center?.existing(ServiceKey<Journal>.journal) == nil ? "alone" : "with the real journal")
        })
      }
      try center.withSubstitutes(substitute) { _ = try center.service(key) }
      try await center.withSubstitutes(substitute) { () async throws in _ = try center.service(key) }
      expect(journal.take(), equals: ["alone", "alone"])
    }

    @Test("substitutes apply across scopes, nest, and are released in reverse order")
    func substitutionInScopes() throws {
      let (application, session, journal) = try tree()
      let name = ServiceKey<String>("name") { _ in "real" }
      let title = ServiceKey<String>("title", scope: .session) { try "Dr " + $0.service(name) }
      try session.withSubstitutes(ServiceSubstitute(for: name) { _ in "test" }) {
        try expect(session.service(title), equals: "Dr test")
        expect(try session.service(ServiceKey<Journal>.journal) !== journal)
        try application.withSubstitutes(
          ServiceSubstitute(for: title) { _ in "Mx" },
          ServiceSubstitute(for: ServiceKey<Hooked>("h") { _ in Hooked() }) { _ in
            Hooked(gone: { journal.write("substitute gone") })
          }
        ) {
          try expect(session.service(title), equals: "Mx")
          try expect(session.service(name), equals: "test")
          _ = try application.service(ServiceKey<Hooked>("h") { _ in Hooked() })
          expect(journal.all.isEmpty)
        }
        expect(journal.all, equals: ["substitute gone"])
        try expect(session.service(title), equals: "Dr test")
      }
      try expect(session.service(title), equals: "Dr real")
    }

    @Test(
      "using nested centers takes linear time",
      .enabled(if: Bounds.areFull))
    func growth() throws {
      let growing = Growing("centers") { count in
        let application = ServiceCenter()
        return {
          let inner = (0..<count).map { _ in ServiceCenter(.session, in: application) }
          application.clearData()
          withExtendedLifetime(inner) {}
        }
      }
      try growing.expectLinear()
    }
  }
}
