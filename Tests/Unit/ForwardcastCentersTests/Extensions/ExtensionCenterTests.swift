// ExtensionCenterTests.swift: the extension points of a program, by protocol.

import Dispatch
import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

extension Centers {
  @Suite("Extension center")
  struct ExtensionCenterTests {
    private let journal = Journal()
    private let extensions = ExtensionCenter(services: ServiceCenter())

    @Test("the extension point of a protocol is created on first use and reused")
    func firstUse() {
      let point = extensions.point((any MessageExtension).self)
      expect(extensions.point((any MessageExtension).self) === point)
      expect(point.selectors == nil)
      expect(!extensions.declare((any MessageExtension).self, selectors: ["a"]))
      expect(extensions.declare((any RoomExtension).self, selectors: ["onEnter:"]))
      expect(extensions.point((any RoomExtension).self).selectors, equals: ["onEnter:"])
    }

    @Test("equal selectors of two protocols do not interfere")
    func apart() {
      let (message, room) = (ChatWindow("message", journal), ChatWindow("room", journal))
      extensions.register(message, for: (any MessageExtension).self)
      extensions.register(room, for: (any RoomExtension).self)
      extensions.notify((any MessageExtension).self, .onEnter, 1)
      extensions.notify((any RoomExtension).self, .onEnter, 2)
      expect(journal.all, equals: ["message enter 1", "room enter 2"])
      expect(!extensions.unregister(message, from: (any RoomExtension).self))
      expect(extensions.unregister(message, from: (any MessageExtension).self))
    }

    @Test("calls are typed, or by selector with results")
    func calls() throws {
      let (first, second) = (ChatWindow("a", journal), ChatWindow("b", journal))
      extensions.register(first, for: (any MessageExtension).self)
      extensions.register(second, for: (any MessageExtension).self)
      extensions.notify((any MessageExtension).self) { $0.onAddMsg("x") }
      expect(journal.all, equals: ["a add x", "b add x"])
      try expect(extensions.collect((any MessageExtension).self, .unseen, returning: .all), equals: [2, 2])
    }

    @Test("collect sends Sendable arguments to a queued observer")
    func collectCrosses() throws {
      let (queue, window) = (DispatchQueue(label: "crossing"), ChatWindow("w", journal))
      extensions.register(window, for: (any MessageExtension).self, delivery: .queue(queue))
      _ = try extensions.collect((any MessageExtension).self, .onAdd, "there", returning: .all)
      queue.sync {}
      expect(journal.all, equals: ["w add there"])
      withExtendedLifetime(window) {}
    }

    @Test("the center is itself a service, survives a logout, and keeps its lazy registrations")
    func service() throws {
      let services = ServiceCenter()
      let extensions = try services.service(ExtensionCenter.self)
      extensions.registerLazily(ArchiveService.self, for: (any MessageExtension).self) { $0 }
      extensions.notify((any MessageExtension).self, .onAdd, "1")
      services.clearData()
      expect(services.services.map(\.name), equals: ["ExtensionCenter"])
      extensions.notify((any MessageExtension).self, .onAdd, "2")
      let journal = try services.service(.journal)
      expect(journal.all, equals: ["archive made", "archive add 2"])
    }

    @Test("lazy observers of a released service center are reported, not created")
    func centerGone() throws {
      var services: ServiceCenter? = ServiceCenter()
      let extensions = try #require(services).service(ExtensionCenter.self)
      extensions.registerLazily(ArchiveService.self, for: (any MessageExtension).self) { $0 }
      let failures = Journal()
      extensions.point((any MessageExtension).self).observers.onError = { failures.write("\($0.error)") }
      weak let watched = services
      services = nil
      expect(watched == nil, "the extension center does not keep the service center")
      expect(extensions.notify((any MessageExtension).self, .onAdd, "x").failed, equals: 1)
      expect(
        failures.all,
        equals: ["service center was released: ArchiveService cannot be created; retain the center"])
    }

    @Test("a substitute replaces a lazy observer while it is active")
    func substitute() throws {
      let (services, real) = try ServiceCenter.journaled()
      let extensions = ExtensionCenter(services: services)
      extensions.registerLazily(ArchiveService.self, for: (any MessageExtension).self) { $0 }
      extensions.notify((any MessageExtension).self, .onAdd, "1")
      services.withSubstitutes(ServiceSubstitute(for: ServiceKey<Journal>.journal) { [journal] _ in journal }) {
        _ = extensions.notify((any MessageExtension).self, .onAdd, "2")
      }
      extensions.notify((any MessageExtension).self, .onAdd, "3")
      expect(journal.all, equals: ["archive made", "archive add 2"])
      expect(real.all, equals: ["archive made", "archive add 1", "archive add 3"])
    }
  }
}
