// ExtensionPointTests.swift: registration, delivery and order at an extension point.

import CoreTestSupport
import Dispatch
import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

extension Centers {
  @Suite("Extension points")
  struct ExtensionPointTests {
    private let journal = Journal()
    private let point = ExtensionPoint<any MessageExtension>(selectors: messageSelectors, services: ServiceCenter())

    @Test("observers receive the messages that their class implements, in registration order")
    func order() {
      let windows = ["c", "a", "b"].map { ChatWindow($0, journal) }
      defer { withExtendedLifetime(windows) {} }
      let trash = Trash(journal)
      defer { withExtendedLifetime(trash) {} }
      point.register(windows[0])
      point.register(trash)
      for window in windows.dropFirst() { point.register(window) }
      expect(point.broadcast(.onAdd, "x").delivered, equals: 3)
      expect(point.broadcast(.onDelete, "x").delivered, equals: 1)
      expect(journal.all, equals: ["c add x", "a add x", "b add x", "trash delete x"])
      expect(point.observers(of: "onAddMsg:").map { ($0 as? ChatWindow)?.name }, equals: ["c", "a", "b"])
      expect(point.observers(of: "onDeleteMsg:").count, equals: 1)
      expect(
        point.description,
        equals: """
          extension point of MessageExtension, 4 observers, 0 lazy
          - onAddMsg: → ChatWindow, ChatWindow, ChatWindow
          - onDeleteMsg: → Trash
          - unseen → ChatWindow, ChatWindow, ChatWindow
          """)
    }

    @Test("an object that does not conform is refused, and so is nil")
    func refusesOthers() {
      final class Bystander: MessageReceiver, Sendable {
        static let selectorTable = SelectorTable(for: Bystander.self, rows: [])
      }
      final class Mute: MessageExtension {
        func onAddMsg(_ chat: String) {}
        static let selectorTable = SelectorTable(for: Mute.self, rows: [])
      }
      expect(point.register(ifConforming: Bystander()) == nil)
      expect(point.register(ifConforming: nil) == nil)
      expect(point.register(Mute()) == nil, "it has none of the point's messages")
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      expect(point.register(ifConforming: window) != nil)
      expect(point.observers.count, equals: 1)
    }

    @Test("a row that the point's table refused is the error of each message with its selector")
    func refusedRow() throws {
      let table = SelectorTable(for: (any EarlierPlain).self) {
        Responds(to: .onAdd) { $0.onAddMsg($1) }
        Responds(to: .onAdd) { $0.onAddMsg($1 + "!") }
      }
      final class Window: EarlierPlain { func onAddMsg(_ chat: String) {} }
      let point = ExtensionPoint<any EarlierPlain>(selectors: ["onAddMsg:"], table: table, services: ServiceCenter())
      let (errors, window) = (Journal(), Window())
      point.observers.onError = { errors.write("\($0.error)") }
      expect(point.register(window) != nil)
      expect(point.broadcast(.onAdd, "a").failed, equals: 1)
      expect(errors.all.first?.hasPrefix("already in table: 'onAddMsg:'") == true, "\(errors.all)")
      withExtendedLifetime(window) {}
    }

    @Test("an observer that no message can reach is reported to onError when it registers")
    func unreachable() {
      final class Window: EarlierPlain { func onAddMsg(_ chat: String) {} }
      let point = ExtensionPoint<any EarlierPlain>(services: ServiceCenter())
      let (errors, windows) = (Journal(), [Window(), Window()])
      expect(point.register(windows[0]) != nil)
      point.observers.onError = { errors.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
      expect(point.register(windows[1]) != nil)
      expect(errors.all.count, equals: 2)
      expect(errors.all.allSatisfy { $0 == MessageError.Code.noSelectorTable.description }, "\(errors.all)")
      // Typed calls still reach them.
      expect(point.broadcast { $0.onAddMsg("a") }.delivered, equals: 2)
      expect(errors.all.count, equals: 2)
      withExtendedLifetime(windows) {}
    }

    @Test("an object at the address of a dead observer is not mistaken for it")
    func reusedAddress() {
      // Creates objects until one has the address of a dead one, soon if memory is reused.
      var met = false
      for _ in 0..<200 where !met {
        let point = ExtensionPoint<any MessageReceiver>(services: ServiceCenter())
        var dead: Listener? = Listener("dead")
        let address = dead.map { ObjectIdentifier($0) }
        if let dead { point.register(dead) }
        dead = nil
        var kept: [Listener] = []
        for index in 0..<40 where !met {
          let stranger = Listener("stranger \(index)")
          kept.append(stranger)
          guard ObjectIdentifier(stranger) == address else { continue }
          met = true
          expect(!point.unregister(stranger))
        }
        withExtendedLifetime(kept) {}
      }
      expect(met)
    }

    @Test("collect sends Sendable arguments to a queued observer")
    func collectCrosses() throws {
      let (queue, window) = (DispatchQueue(label: "crossing"), ChatWindow("w", journal))
      point.register(window, delivery: .queue(queue))
      _ = try point.collect(.onAdd, "there", returning: .all)
      queue.sync {}
      expect(journal.all, equals: ["w add there"])
      withExtendedLifetime(window) {}
    }

    @Test("unregistering takes the same arguments as registering")
    func unregisterFor() throws {
      let center = try ServiceCenter().service(ExtensionCenter.self)
      let window = ChatWindow("w", journal)
      center.register(window, for: (any MessageExtension).self)
      expect(center.unregister(window, from: (any MessageExtension).self))
      expect(!center.unregister(window, from: (any MessageExtension).self))
      expect(center.notify((any MessageExtension).self, .onAdd, "x").delivered, equals: 0)
      expect(journal.all, equals: [])
    }

    @Test("an observer cannot register twice, but can register again after it was unregistered")
    func duplicates() {
      let (window, other) = (ChatWindow("w", journal), ChatWindow("o", journal))
      expect(point.register(window) != nil)
      expect(point.register(window) == nil)
      expect(point.register(other) != nil)
      expect(point.unregister(window))
      expect(!point.unregister(window))
      point.broadcast(.onAdd, "1")
      expect(point.register(window) != nil)
      point.broadcast(.onAdd, "2")
      expect(journal.all, equals: ["o add 1", "o add 2", "w add 2"])
    }

    @Test("an observer is held weakly, and after deallocation it is no longer called")
    func weak() {
      var window: ChatWindow? = ChatWindow("w", journal)
      weak let watched = window
      window.map { _ = point.register($0) }
      window = nil
      expect(watched == nil)
      expect(point.broadcast(.onAdd, "x").nobodyResponded)
      expect(point.observers.count, equals: 0)
    }

    @Test("an observer that unregisters inside a callback receives nothing more, and the others still do")
    func unregisterInside() {
      let windows = ["a", "b", "c"].map { ChatWindow($0, journal) }
      defer { withExtendedLifetime(windows) {} }
      for window in windows { point.register(window) }
      let (point, last) = (point, windows[2])
      windows[0].whenAdded.withLock {
        $0 = { window in
          point.unregister(window)
          point.unregister(last)
        }
      }
      point.broadcast(.onAdd, "1")
      point.broadcast(.onAdd, "2")
      expect(journal.all, equals: ["a add 1", "b add 1", "b add 2"])
    }

    @Test("an observer that is added during a message receives the next one")
    func addInside() {
      let (first, late) = (ChatWindow("first", journal), ChatWindow("late", journal))
      point.register(first)
      let point = point
      first.whenAdded.withLock { $0 = { _ in point.register(late) } }
      point.broadcast(.onAdd, "1")
      point.broadcast(.onAdd, "2")
      expect(journal.all, equals: ["first add 1", "first add 2", "late add 2"])
    }

    @Test("slots of removed and dead observers are reclaimed")
    func reclaimed() {
      for _ in 0..<1000 {
        point.register(ChatWindow("dead", journal))
        let window = ChatWindow("gone", journal)
        point.register(window)
        point.unregister(window)
      }
      expect(point.observers.count, equals: 0)
      expect(point.observers.registrations.isEmpty)
      expect(point.broadcast(.onAdd, "x").skipped < 20, "the dead are not kept")
    }

    @Test("a typed call reaches every observer, or those whose class has the given selector")
    func typedCalls() {
      let (window, trash) = (ChatWindow("w", journal), Trash(journal))
      point.register(trash)
      point.register(window)
      expect(point.broadcast { $0.onAddMsg("all") }.delivered, equals: 2)
      expect(point.broadcast(for: "onAddMsg:") { $0.onAddMsg("some") }.delivered, equals: 1)
      expect(journal.all, equals: ["trash add all", "w add all", "w add some"])
    }

    @Test("a typed call skips muted and removed observers and reports those that throw")
    func typedCallRules() throws {
      let windows = ["a", "b", "c", "d"].map { ChatWindow($0, journal) }
      let registrations = try windows.map { try #require(point.register($0)) }
      registrations[1].mute()
      let failures = Journal()
      point.observers.onError = { failures.write("\($0)") }
      let summary = point.broadcast { window in
        if window === windows[0] {
          registrations[2].cancel()
          throw TargetError(name: "a")
        }
        window.onAddMsg("x")
      }
      expect(summary.description, equals: "delivered 1, queued 0, failed 1, skipped 1")
      expect(journal.all, equals: ["d add x"])
      expect(failures.all, equals: ["'typedCall' failed in ChatWindow: refused by a"])
    }

    @Test("observers with a delivery, lazy ones included, receive messages there and no typed calls")
    func deliveries() throws {
      let services = ServiceCenter()
      let queue = DispatchQueue(label: "observers")
      let point = ExtensionPoint<any MessageExtension>(selectors: messageSelectors, services: services)
      let failures = Journal()
      point.observers.onError = { failures.write("\(($0.error as? MessageError)?.code as Any)") }
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      expect(point.register(window, delivery: .queue(queue)) != nil)
      expect(point.register(window) == nil)
      point.registerLazily(ArchiveService.self, delivery: .queue(queue)) { $0 }
      queue.suspend()
      expect(point.broadcast(.onAdd, "1").queued, equals: 2)
      let archived = try services.service(.journal)
      expect(journal.all.isEmpty)
      expect(archived.all, equals: ["archive made"])
      queue.resume()
      queue.sync {}
      expect(journal.all, equals: ["w add 1"])
      expect(archived.all, equals: ["archive made", "archive add 1"])
      expect(point.broadcast { $0.onAddMsg("typed") }.failed, equals: 2)
      expect(failures.all, equals: ["Optional(isolation mismatch)", "Optional(isolation mismatch)"])
    }

    @Test("collect returns all answers, and throws an error only after every observer was called")
    func results() throws {
      let windows = ["a", "b"].map { ChatWindow($0, journal) }
      defer { withExtendedLifetime(windows) {} }
      for window in windows { point.register(window) }
      try expect(point.collect(.unseen, returning: .all), equals: [2, 2])
      try expect(point.collect(.unseen, returning: .sum), equals: 4)
      windows[0].whenAdded.withLock { $0 = { _ in throw TargetError(name: "a") } }
      #expect(throws: TargetError(name: "a")) {
        try point.collect(.onAdd, "x", returning: ReturnPolicy<Void, [Void]>.all)
      }
      expect(journal.all, equals: ["a add x", "b add x"])
    }

    @Test("a message that the point does not declare fails, even if its observer implements it")
    func statedOnly() {
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      point.register(window)
      expect(point.broadcast(.onEnter, 1).nobodyResponded)
      expect(!point.responds(to: "onEnter:"))
      let error = #expect(throws: MessageError.self) { try point.send(.onEnter, 1) }
      expect(error?.code, equals: .unrecognizedSelector)
      var call = Invocation("onEnter:", arguments: [.init(1)])
      #expect(throws: MessageError.self) { try point.forward(&call) }
      #expect(throws: Never.self) { try point.send(.onAdd, "x") }
      expect(journal.all, equals: ["w add x"])
    }

    @Test("a point can be a target of a proxy, and a cycle of points is an error")
    func nested() throws {
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      point.register(window)
      let outer = MulticastProxy<any MessageReceiver>()
      outer.add(point)
      expect(outer.broadcast(.onAdd, "x").delivered, equals: 1)
      expect(outer.responds(to: "unseen"))
      let ring = ExtensionPoint<any MessageReceiver>(services: ServiceCenter())
      ring.observers.add(ring)
      var call = Invocation("ping")
      let report = try ring.forward(&call)
      expect(report.failures.count, equals: 1)
      expect((report.failures.first?.error as? MessageError)?.code, equals: .proxyCycle)
      let failures = journal
      ring.observers.onError = { failures.write("\(($0.error as? MessageError)?.code as Any)") }
      expect(ring.broadcast(.ping).failed, equals: 1)
      expect(failures.all, equals: ["w add x", "Optional(proxy cycle)"])
    }

    @Test("a point with a table for its protocol accepts observers without tables, also of inherited protocols")
    func tableOfProtocol() {
      let table = SelectorTable(for: (any LaterPlain).self, inheriting: earlierTable) {
        Responds(to: .onEnter) { $0.onEnter($1) }
      }
      let point = ExtensionPoint<any LaterPlain>(table: table, services: ServiceCenter())
      expect(point.selectors, equals: ["onAddMsg:", "onEnter:"])
      final class Plain: LaterPlain {
        let journal: Journal
        init(_ journal: Journal) { self.journal = journal }
        func onAddMsg(_ chat: String) { journal.write("plain add \(chat)") }
        func onEnter(_ room: Int) { journal.write("plain enter \(room)") }
      }
      let plain = Plain(journal)
      expect(point.register(plain) != nil)
      point.broadcast(.onAdd, "x")
      point.broadcast(.onEnter, 1)
      expect(journal.all, equals: ["plain add x", "plain enter 1"])
    }
  }
}

protocol EarlierPlain: AnyObject { func onAddMsg(_ chat: String) }
protocol LaterPlain: EarlierPlain { func onEnter(_ room: Int) }
private let earlierTable = SelectorTable(for: (any EarlierPlain).self) {
  Responds(to: .onAdd) { $0.onAddMsg($1) }
}
