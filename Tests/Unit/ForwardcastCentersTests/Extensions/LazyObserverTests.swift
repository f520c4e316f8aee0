// LazyObserverTests.swift: observers that their first message creates.

import CoreTestSupport
import Dispatch
import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport
import Testing

@Forwarded
private protocol Partial: AnyObject, Sendable {
  func first()
  func second()
}

private final class Half: ManagedService, Partial, PartialTarget {
  static let unimplemented = [PartialProxy.Messages.second.selector]
  init(in center: ServiceCenter) {}
  func first() {}
  func second() {}
}

/// Runs a test's closure when it is created.
private final class Inviting: ManagedService, MessageReceiver {
  static let onInit = Locked<(@Sendable () -> Void)?>(nil)
  init(in center: ServiceCenter) { Inviting.onInit.withLock { $0 }?() }
  static let selectorTable = SelectorTable(for: Inviting.self) { Responds(to: .note) { (_: Inviting, _) in } }
}

/// A protocol that values may conform to.
private protocol Wording: Sendable { func say(_ word: String) }

private let wordTable = SelectorTable(for: (any Wording).self) {
  Responds(to: "say:") { (observer: any Wording, word: String) in observer.say(word) }
}

extension Centers {
  @Suite("Lazy observers")
  struct LazyObserverTests {
    private let services: ServiceCenter
    private let journal: Journal
    private let point: ExtensionPoint<any MessageExtension>

    init() throws {
      (services, journal) = try ServiceCenter.journaled()
      point = ExtensionPoint(selectors: messageSelectors, services: services)
    }

    @Test("the first message that the class implements creates the observer and is delivered to it")
    func firstMessage() {
      expect(point.registerLazily(ArchiveService.self) { $0 })
      expect(services.existing(ArchiveService.self) == nil)
      expect(point.lazyObservers, equals: ["ArchiveService"])
      expect(point.broadcast(.onAdd, "1").delivered, equals: 1)
      point.broadcast(.onAdd, "2")
      expect(journal.all, equals: ["archive made", "archive add 1", "archive add 2"])
      expect(services.existing(ArchiveService.self) != nil)
      expect(point.lazyObservers.isEmpty)
    }

    @Test("an observer that joins while a message creates another is not listed in the report of that message")
    func joining() throws {
      let point = ExtensionPoint<any MessageReceiver & Sendable>(selectors: ["note:"], services: services)
      let late = Clerk("late", journal)
      Inviting.onInit.withLock { $0 = { point.register(late) } }
      defer { Inviting.onInit.withLock { $0 = nil } }
      point.registerLazily(Inviting.self) { $0 }
      for count in 1...2 {
        var message = Invocation("note:", arguments: [ArgumentBox(1)])
        let report = try point.forward(&message)
        expect(report.delivered == count && report.skipped.isEmpty, "\(report)")
      }
    }

    @Test("a queued observer of a nested point gets a message once, although the message creates another observer")
    func nestedPoint() async throws {
      let outer = MulticastProxy<any MessageReceiver & Sendable>()
      let window = ChatWindow("window", journal)
      point.register(window, delivery: .queue(DispatchQueue(label: "window")))
      point.registerLazily(ArchiveService.self) { $0 }
      outer.add(point)
      for _ in 0..<2 { outer.broadcast(.onAdd, "1") }
      try await outer.drain()
      expect(journal.all.count { $0 == "window add 1" }, equals: 2)
      expect(journal.all.count { $0 == "archive add 1" }, equals: 2)
    }

    @Test("a sender that would wait in a cycle for an observer that its message creates gets an error")
    func deadlock() throws {
      let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
      let (proxy, clerk) = (MulticastProxy<any MessageReceiver & Sendable>(), Clerk("a", journal))
      let (waits, ended) = (Latch(), Latch())
      proxy.add(clerk, delivery: .queue(first))
      proxy.trace { if $0.stage == .queued { waits.open() } }
      point.registerLazily(ArchiveService.self, delivery: .queue(second)) { $0 }
      // The timeout passes only if the wait is not refused.
      let error = first.sync {
        second.async {
          _ = try? proxy.collectBlocking(.value, returning: .sum, timeout: .seconds(5))
          ended.open()
        }
        waits.pass()
        return #expect(throws: MessageError.self) {
          try point.collectBlocking(.unseen, returning: .sum, timeout: .seconds(5))
        }
      }
      expect(error?.code, equals: .wouldDeadlock)
      ended.pass()
      withExtendedLifetime(clerk) {}
    }

    @Test("a message that the class does not implement creates no observer, and neither does a query")
    func otherMessage() {
      point.registerLazily(ArchiveService.self) { $0 }
      expect(point.broadcast(.onDelete, "1").nobodyResponded)
      expect(point.broadcast(.onEnter, 1).nobodyResponded, "the class has it, the point does not")
      expect(point.responds(to: "onAddMsg:"))
      expect(!point.responds(to: "onDeleteMsg:"))
      expect(point.methodSignature(for: "unseen")?.returnType, equals: MethodSignature(returning: Int.self).returnType)
      expect(point.description.contains("- onAddMsg: → ArchiveService (lazy)"))
      expect(journal.all.isEmpty)
    }

    @Test("a message that a partial class leaves out creates no observer, even if the point's table has it")
    func leftOut() {
      let point = ExtensionPoint<any Partial>(selectors: nil, table: PartialProxy.table, services: services)
      expect(point.registerLazily(Half.self) { $0 })
      expect(point.broadcast(PartialProxy.Messages.second).nobodyResponded)
      expect(services.existing(Half.self) == nil)
      expect(point.broadcast(PartialProxy.Messages.first).delivered, equals: 1)
    }

    @Test("a row that the class adds later creates the observer, whatever was sent before")
    func laterRow() throws {
      final class Growing: ManagedService, MessageExtension {
        init(in center: ServiceCenter) {}
        func onAddMsg(_ chat: String) {}
        static let selectorTable = SelectorTable(for: Growing.self) { Responds(to: .onAdd) { _, _ in } }
      }
      expect(point.registerLazily(Growing.self) { $0 })
      expect(point.broadcast(.onDelete, "1").nobodyResponded)
      try Growing.selectorTable.add(Responds(to: .onDelete) { [journal] (_: Growing, chat) in journal.write(chat) })
      point.broadcast(.unseen)
      expect(point.broadcast(.onDelete, "2").delivered, equals: 1)
      expect(journal.all, equals: ["2"])
    }

    @Test("registering a class lazily fails the second time, or if it has none of the point's messages")
    func refused() {
      final class Silent: ManagedService, MessageExtension {
        init(in center: ServiceCenter) {}
        func onAddMsg(_ chat: String) {}
        static let selectorTable = SelectorTable(for: Silent.self, rows: [])
      }
      expect(point.registerLazily(ArchiveService.self) { $0 })
      expect(!point.registerLazily(ArchiveService.self) { $0 })
      expect(!point.registerLazily(Silent.self) { $0 })
      point.broadcast(.onAdd, "x")
      expect(journal.all, equals: ["archive made", "archive add x"])
    }

    @Test("lazy and eager observers share one order, the order of registration", arguments: 0..<6)
    func order(permutation: Int) {
      let (first, last) = (ChatWindow("first", journal), ChatWindow("last", journal))
      let extensions = ServiceKey<ExtensionCenter>(ExtensionCenter.self)
      _ = try? services.service(extensions)
      let steps: [(name: String, register: () -> Void)] = [
        ("first", { point.register(first) }),
        ("archive", { point.registerLazily(ArchiveService.self) { $0 } }),
        ("last", { point.register(last) }),
      ]
      let order = permutations([0, 1, 2])[permutation].map { steps[$0] }
      for step in order { step.register() }
      point.broadcast(.onAdd, "1")
      point.broadcast(.onAdd, "2")
      let names = order.map(\.name)
      expect(journal.all, equals: ["archive made"] + names.map { "\($0) add 1" } + names.map { "\($0) add 2" })
    }

    @Test("a lazy observer that registers itself during creation is called once, in the slot of its class")
    func registersItself() throws {
      let extensions = try services.service(ExtensionCenter.self)
      let type = (any MessageExtension).self
      let (before, after) = (ChatWindow("before", journal), ChatWindow("after", journal))
      extensions.register(before, for: type)
      extensions.registerLazily(BadgeService.self, for: type) { $0 }
      extensions.register(after, for: type)
      extensions.notify(type, .onAdd, "1")
      extensions.notify(type, .onAdd, "2")
      expect(
        journal.all,
        equals: [
          "badge made", "badge registered", "before add 1", "badge add 1", "after add 1", "before add 2",
          "badge add 2", "after add 2",
        ])
    }

    @Test(
      "an observer that another one registers during its creation receives the next event", arguments: [false, true])
    func registersAnother(byCall: Bool) throws {
      final class Hiring: ManagedService, MessageExtension {
        let window: ChatWindow
        init(in center: ServiceCenter) throws { window = ChatWindow("hired", try center.service(.journal)) }
        func serviceDidInit(in center: ServiceCenter) throws {
          let extensions = try center.service(ExtensionCenter.self)
          extensions.register(window, for: (any MessageExtension).self)
          extensions.registerLazily(ArchiveService.self, for: (any MessageExtension).self) { $0 }
        }
        func onAddMsg(_ chat: String) { window.journal.write("hiring add \(chat)") }
        static let selectorTable = SelectorTable(for: Hiring.self) {
          Responds(to: .onAdd) { hiring, chat in hiring.onAddMsg(chat) }
        }
      }
      let point = try services.service(ExtensionCenter.self).point((any MessageExtension).self)
      point.registerLazily(Hiring.self) { $0 }
      for chat in ["1", "2"] {
        let summary = byCall ? point.broadcast { $0.onAddMsg(chat) } : point.broadcast(.onAdd, chat)
        expect(summary.delivered, equals: chat == "1" ? 1 : 3)
      }
      expect(journal.all, equals: ["hiring add 1", "archive made", "hiring add 2", "hired add 2", "archive add 2"])
    }

    @Test("a message that a hook withholds creates no lazy observer, not even behind another proxy")
    func withheld() throws {
      let outer = MulticastProxy<any MessageReceiver>()
      outer.add(point)
      point.registerLazily(ArchiveService.self) { $0 }
      let isOpen = Locked((outside: false, inside: false))
      try outer.around(.onAdd) { call in isOpen.withLock { $0.outside } ? try call.proceed() : [] }
      try point.around(.onAdd) { call in isOpen.withLock { $0.inside } ? try call.proceed() : [] }
      for state in [(false, true), (true, false)] {
        isOpen.withLock { $0 = state }
        outer.broadcast(.onAdd, "1")
        expect(journal.all.isEmpty && services.existing(ArchiveService.self) == nil)
      }
      isOpen.withLock { $0 = (true, true) }
      var call = Invocation("onAddMsg:", arguments: [ArgumentBox("2")])
      try expect(outer.forward(&call).delivered, equals: 1)
      expect(journal.all, equals: ["archive made", "archive add 2"])
    }

    @Test("a registered service keeps its slot when its class registers lazily, and receives each message once")
    func alreadyThere() throws {
      let archive = try services.service(ArchiveService.self)
      point.register(archive)
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      point.register(window)
      point.registerLazily(ArchiveService.self) { $0 }
      point.broadcast(.onAdd, "1")
      expect(journal.all, equals: ["archive made", "archive add 1", "w add 1"])
    }

    /// Observes for a service. Nothing else retains it.
    private final class Wrapper: MessageExtension {
      let archive: ArchiveService
      private let witness: Witness
      init(_ archive: ArchiveService, _ counter: LeakCounter) {
        (self.archive, witness) = (archive, Witness(counter))
      }
      func onAddMsg(_ chat: String) { archive.onAddMsg(chat) }
      static let selectorTable = SelectorTable(for: Wrapper.self) {
        Responds(to: .onAdd) { wrapper, chat in wrapper.archive.journal.write("wrapped add \(chat)") }
      }
    }

    @Test("an observer that wraps a service is released with the service")
    func wrapper() throws {
      let wrappers = LeakCounter()
      point.registerLazily(ArchiveService.self) { Wrapper($0, wrappers) }
      expect(point.broadcast(.onAdd, "1").delivered, equals: 1)
      expect(point.broadcast(.onAdd, "2").delivered, equals: 1)
      expect(journal.all == ["archive made", "wrapped add 1", "wrapped add 2"] && wrappers.alive == 1)
      // The last reference releases the service, and the service releases the wrapper.
      weak let archive = services.existing(ArchiveService.self)
      services.clearData()
      expect(wrappers.alive == 0 && archive == nil && point.observers.count == 0)
      let next = try services.service(.journal)
      point.broadcast(.onAdd, "3")
      expect(next.all, equals: ["archive made", "wrapped add 3"])
      expect(point.unregisterLazily(ArchiveService.self))
      expect(wrappers.alive == 0 && services.existing(ArchiveService.self) != nil)
    }

    @Test("an observer that wraps a service survives the removal of other services, and substitutes")
    func sameWrapper() throws {
      let (wrappers, made) = (LeakCounter(), Journal())
      point.registerLazily(ArchiveService.self) {
        made.write("wrapper")
        return Wrapper($0, wrappers)
      }
      point.broadcast(.onAdd, "1")
      _ = try services.service(AccountService.self)
      expect(services.remove(AccountService.self))
      point.broadcast(.onAdd, "2")
      expect(made.all.count == 1 && wrappers.alive == 1)
      services.withSubstitutes { expect(point.broadcast(.onAdd, "substitute").delivered, equals: 1) }
      expect(point.broadcast(.onAdd, "3").delivered, equals: 1)
      expect(made.all.count == 2 && wrappers.alive == 1)
    }

    @Test("if two threads create the observer of one service, both use the one that is ready first")
    func wrapperOfThreads() {
      let (point, wrappers, made) = (point, LeakCounter(), Journal())
      let (isBegun, isReady) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      point.registerLazily(ArchiveService.self) {
        made.write("wrapper")
        if made.all.count == 1 {
          isBegun.signal()
          isReady.wait()
        }
        return Wrapper($0, wrappers)
      }
      let first = Mutex<ObjectIdentifier?>(nil)
      let ended = onThreads(2) { thread in
        if thread == 1 { isBegun.wait() }
        point.broadcast(.onAdd, "\(thread)")
        guard thread == 1 else { return }
        first.withLock { $0 = point.observers.targets.first.map { ObjectIdentifier($0) } }
        isReady.signal()
      }
      expect(ended && wrappers.alive == 1)
      let now = point.observers.targets.first.map { ObjectIdentifier($0) }
      expect(now != nil && first.withLock { $0 } == now)
    }

    @Test("a point has hooks, which also run around lazy observers")
    func hooks() throws {
      point.registerLazily(ArchiveService.self) { $0 }
      try point.before(.onAdd) { [journal] in journal.write("before \($0)") }
      try point.around(.onAdd) { call in try call.proceed(with: "late " + call.arguments) }
      point.broadcast(.onAdd, "hello")
      expect(journal.all, equals: ["before late hello", "archive made", "archive add late hello"])
    }

    @Test("a class that is registered for several protocols is created once, and each point delivers to it")
    func severalProtocols() throws {
      let extensions = ExtensionCenter(services: services)
      extensions.registerLazily(ArchiveService.self, for: (any MessageExtension).self) { $0 }
      extensions.registerLazily(ArchiveService.self, for: (any RoomExtension).self) { $0 }
      extensions.notify((any RoomExtension).self, .onEnter, 1)
      extensions.notify((any MessageExtension).self, .onAdd, "1")
      expect(journal.all, equals: ["archive made", "archive enter 1", "archive add 1"])
    }

    @Test("a class whose creation fails is reported, stops no other observer, and is retried by the next message")
    func failure() throws {
      let failures = Journal()
      point.observers.onError = { failures.write("\($0)") }
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      point.registerLazily(BrokenService.self) { $0 }
      point.register(window)
      point.registerLazily(ArchiveService.self) { $0 }
      expect(point.broadcast(.onAdd, "1").description, equals: "delivered 2, queued 0, failed 1, skipped 0")
      expect(failures.take(), equals: ["'onAddMsg:' failed in BrokenService: refused by broken"])
      expect(journal.take(), equals: ["archive made", "w add 1", "archive add 1"])
      var call = Invocation("onAddMsg:", arguments: [.init("2")])
      let report = try point.forward(&call)
      expect(report.answers.count, equals: 2)
      expect(report.failures.map { "\($0.error)" }, equals: ["refused by broken"])
      #expect(throws: TargetError(name: "broken")) {
        try point.collect(.onAdd, "3", returning: ReturnPolicy<Void, [Void]>.all)
      }
      _ = journal.take()
      BrokenService.$works.withValue(true) { _ = point.broadcast(.onAdd, "4") }
      expect(journal.all, equals: ["mended add 4", "w add 4", "archive add 4"])
      expect(failures.all.isEmpty)
    }

    /// A window, and a lazy observer that a message created before a logout.
    private func loggedOut() throws -> (ChatWindow, old: ArchiveService) {
      let window = ChatWindow("w", journal)
      point.registerLazily(ArchiveService.self) { $0 }
      point.register(window)
      point.broadcast(.onAdd, "1")
      let old = try services.service(ArchiveService.self)
      services.clearData()
      return (window, old)
    }

    @Test("after a logout the next message creates a new observer in the old slot; the old one receives nothing")
    func logOut() throws {
      let (window, old) = try loggedOut()
      defer { withExtendedLifetime(window) {} }
      // The journal is a service too, so the new archive gets a new one.
      let next = try services.service(.journal)
      point.broadcast(.onAdd, "2")
      expect(try services.service(ArchiveService.self) !== old)
      expect(next.all, equals: ["archive made", "archive add 2"])
      expect(journal.all, equals: ["archive made", "archive add 1", "w add 1", "w add 2"])
      expect(point.observers.count, equals: 2)
    }

    @Test("a logout unregisters a lazy observer that the program still retains, and its slot stays")
    func logOutOfRetained() throws {
      let (window, old) = try loggedOut()
      defer { withExtendedLifetime(window) {} }
      expect(point.observers.targets.map { ObjectIdentifier($0) }, equals: [ObjectIdentifier(window)])
      expect(point.observers.count == 1 && point.lazyObservers == ["ArchiveService"])
      expect(
        point.description.hasPrefix("extension point of MessageExtension, 1 observer, 1 lazy")
          && point.description.contains("- onAddMsg: → ArchiveService (lazy), ChatWindow"))
      expect(point.explain(.onAdd).entries.map(\.target), equals: ["ArchiveService", "ChatWindow"])
      expect(point.explain(.onAdd).entries.map(\.row), equals: ["created by the message", "table of ChatWindow"])
      expect(point.observers.broadcast(.onAdd, "2").delivered, equals: 1)
      _ = journal.take()
      let next = try services.service(.journal)
      expect(point.broadcast(.onAdd, "3").delivered == 2 && next.all == ["archive made", "archive add 3"])
      expect(journal.all, equals: ["w add 3"])
      let new = try services.service(ArchiveService.self)
      let targets = point.observers.targets.map { ObjectIdentifier($0) }
      expect(new !== old && targets == [ObjectIdentifier(new), ObjectIdentifier(window)])
    }

    @Test("a logout while a lazy observer is created unregisters it, even if the program retains it")
    func logOutDuringCreation() {
      let (services, made) = (services, Locked<[ArchiveService]>([]))
      point.registerLazily(ArchiveService.self) { archive in
        made.withLock { $0.append(archive) }
        services.clearData()
        return archive
      }
      point.broadcast(.onAdd, "1")
      expect(made.withLock { $0.count } == 1 && point.observers.count == 0)
      point.broadcast(.onAdd, "2")
      expect(made.withLock { $0.count }, equals: 2)
    }

    @Test("an explanation names the lazy observers, counts those that the message creates, and creates none")
    func explained() throws {
      let window = ChatWindow("w", journal)
      defer { withExtendedLifetime(window) {} }
      let queue = Delivery.queue(DispatchQueue(label: "archive"))
      point.registerLazily(ArchiveService.self, delivery: queue) { $0 }
      point.register(window)
      point.registerLazily(BadgeService.self) { $0 }
      expect(
        "\(point.explain("onAddMsg:"))",
        equals: """
          onAddMsg: of ExtensionPoint<MessageExtension>, 3 of 3 registrations
          target          receives  row or reason           context
          ArchiveService  yes       created by the message  queue archive
          ChatWindow      yes       table of ChatWindow     direct
          BadgeService    yes       created by the message  direct
          """)
      let unseen = point.explain("unseen")
      expect(unseen.receivers.map(\.target), equals: ["ArchiveService", "ChatWindow"])
      expect(unseen.entries.map(\.reason), equals: [nil, nil, .doesNotRespond])
      expect(point.explain("onEnter:").entries.map(\.reason), equals: [.outOfScope, .outOfScope, .outOfScope])
      let outer = MulticastProxy<any MessageReceiver>()
      outer.add(point)
      expect(outer.explain("unseen").receivers.map(\.target), equals: ["ArchiveService", "ChatWindow"])
      expect(journal.all.isEmpty && services.existing(ArchiveService.self) == nil)
    }

    @Test("an explanation lists an observer once if it is registered before its class is")
    func explainedOnce() throws {
      let archive = try services.service(ArchiveService.self)
      point.register(archive)
      point.registerLazily(ArchiveService.self) { $0 }
      point.broadcast(.onAdd, "1")
      expect(point.explain(.onAdd).entries.map(\.row), equals: ["table of ArchiveService"])
    }

    @Test("a message during which a logout happens does not recreate the observer")
    func logOutInBetween() throws {
      let services = services
      let first = point.observers.on(.onAdd) { text in if text == "1" { services.clearData() } }
      point.registerLazily(ArchiveService.self) { $0 }
      let summary = point.broadcast(.onAdd, "1")
      expect(summary.delivered == 1 && summary.skipped == 1, "the archive went before its turn")
      expect(journal.all, equals: ["archive made"])
      expect(point.broadcast(.onAdd, "2").delivered, equals: 2)
      try expect(services.service(.journal).all, equals: ["archive made", "archive add 2"])
      first.cancel()
    }

    @Test("a lazy observer that unregisters receives nothing until its service is recreated")
    func unregisters() throws {
      point.registerLazily(ArchiveService.self) { $0 }
      point.broadcast(.onAdd, "1")
      let archive = try services.service(ArchiveService.self)
      expect(point.unregister(archive))
      services.remove(ServiceKey("nothing") { _ in 0 })
      services.remove(ServiceKey<Journal>.journal)
      expect(point.broadcast(.onAdd, "2").nobodyResponded)
      services.remove(ArchiveService.self)
      let journal = try services.service(.journal)
      point.broadcast(.onAdd, "3")
      expect(journal.all, equals: ["archive made", "archive add 3"])
    }

    @Test("a point responds for a lazy observer only if the message would create it or reach it")
    func answers() throws {
      let outer = MulticastProxy<any MessageReceiver>()
      outer.add(point)
      func answers() -> [Bool] {
        [point.responds(to: "onAddMsg:"), outer.responds(to: "onAddMsg:"), !point.lazyObservers.isEmpty]
      }
      point.registerLazily(ArchiveService.self) { $0 }
      expect(answers(), equals: [true, true, true])
      point.broadcast(.onAdd, "1")
      expect(answers(), equals: [true, true, false])
      let archive = try services.service(ArchiveService.self)
      point.observers.mute(archive)
      expect(answers() == [false, false, false] && point.broadcast(.onAdd, "2").nobodyResponded)
      point.observers.unmute(archive)
      point.unregister(archive)
      expect(answers() == [false, false, false] && point.broadcast(.onAdd, "3").nobodyResponded)
      // The test retains the old one, but the next message creates another.
      services.remove(ArchiveService.self)
      expect(answers(), equals: [true, true, true])
      expect(try services.service(ArchiveService.self) !== archive)
      expect(answers() == [true, true, true] && point.broadcast(.onAdd, "4").delivered == 1)
      expect(answers(), equals: [true, true, false])
    }

    @Test("a lazy registration can be canceled, before and after it created an observer")
    func takenBack() throws {
      point.registerLazily(ArchiveService.self) { $0 }
      expect(point.unregisterLazily(ArchiveService.self))
      expect(!point.unregisterLazily(ArchiveService.self))
      expect(point.broadcast(.onAdd, "1").nobodyResponded)
      point.registerLazily(ArchiveService.self) { $0 }
      point.broadcast(.onAdd, "2")
      expect(point.unregisterLazily(ArchiveService.self))
      expect(point.broadcast(.onAdd, "3").nobodyResponded)
      expect(journal.all, equals: ["archive made", "archive add 2"])
    }

    @Test("a lazy registration that is canceled while its observer is created leaves no observer")
    func takenBackMeanwhile() throws {
      let point = point
      let table = SelectorTable(for: ChatWindow.self) { Responds(to: .onAdd) { (_: ChatWindow, _: String) in } }
      let name = ServiceKey<ChatWindow>("window") { [journal] _ in ChatWindow("w", journal) }
      let key = ServiceKey<ChatWindow>("window") { [journal] _ in
        point.unregisterLazily(name)
        return ChatWindow("w", journal)
      }
      point.registerLazily(key, table: table) { $0 }
      expect(point.broadcast(.onAdd, "1").nobodyResponded)
      expect(point.broadcast(.onAdd, "2").nobodyResponded)
      expect(point.observers.count, equals: 0)
      expect(services.existing(key) != nil)
    }

    @Test("a lazy registration that was replaced while it created its observer does not take it from the new one")
    func lateMark() {
      let point = point
      let again = Locked(true)
      point.registerLazily(ArchiveService.self) { archive in
        if again.withLock({ again in
          defer { again = false }
          return again
        }) {
          point.unregisterLazily(ArchiveService.self)
          point.registerLazily(ArchiveService.self) { $0 }
          point.broadcast(.onAdd, "inner")
        }
        return archive
      }
      point.broadcast(.onAdd, "outer")
      point.broadcast(.onAdd, "next")
      expect(journal.all, equals: ["archive made"] + ["inner", "outer", "next"].map { "archive add \($0)" })
    }

    @Test("a message that a service sends during its creation does not reach the service itself")
    func sendsWhileMade() throws {
      let point = point
      let failures = Journal()
      point.observers.onError = { failures.write("\($0)") }
      let table = SelectorTable(for: ChatWindow.self) { Responds(to: .onAdd) { (_: ChatWindow, _: String) in } }
      let key = ServiceKey("loud") { [journal] _ in
        point.broadcast(.onAdd, "from within")
        return ChatWindow("loud", journal)
      }
      point.registerLazily(key, table: table) { $0 }
      point.broadcast(.onAdd, "from outside")
      expect(journal.all, equals: ["loud add from outside"])
      services.remove(key)
      _ = try services.service(key)
      point.broadcast(.onAdd, "again")
      expect(journal.all, equals: ["loud add from outside", "loud add again"])
      expect(failures.all.isEmpty)
    }

    @Test("a message sent while a service is mapped to an observer reaches only the other observers")
    func sendsWhileMapped() {
      let (point, window) = (point, ChatWindow("w", journal))
      defer { withExtendedLifetime(window) {} }
      point.register(window)
      point.registerLazily(ArchiveService.self) { archive in
        point.broadcast(.onAdd, "from within")
        return archive
      }
      point.broadcast(.onAdd, "x")
      expect(journal.all, equals: ["archive made", "w add from within", "w add x", "archive add x"])
    }

    @Test("an observer must be an object; a service that is mapped to a value fails the message")
    func values() throws {
      struct Note: Wording { func say(_ word: String) {} }
      let point = ExtensionPoint<any Wording>(table: wordTable, services: services)
      expect(point.register(Note()) == nil)
      let key = ServiceKey("note") { _ in 1 }
      point.registerLazily(key, table: wordTable) { _ in Note() }
      var call = Invocation("say:", arguments: [ArgumentBox("x")])
      let report = try point.forward(&call)
      expect(
        report.failures.map { "\($0.error)" },
        equals: ["not an object: the observer made from 'note' is a value; map the service to an object"])
      expect(services.existing(key) == 1 && point.lazyObservers == ["note"])
    }

    @Test("typed calls and awaited messages count observers whose creation failed and report them to onError")
    func failuresElsewhere() async throws {
      let failures = Journal()
      point.observers.onError = { failures.write("\($0)") }
      point.registerLazily(BrokenService.self) { $0 }
      point.registerLazily(ArchiveService.self) { $0 }
      expect(point.broadcast { $0.onAddMsg("1") }.failed, equals: 1)
      expect(point.broadcast(for: "onAddMsg:") { $0.onAddMsg("2") }.failed, equals: 1)
      let told = ["typedCall", "onAddMsg:"].map { "'\($0)' failed in BrokenService: refused by broken" }
      expect(failures.take(), equals: told)
      let report = try await point.forwardAndWait(Invocation("onAddMsg:", arguments: [ArgumentBox("3")]))
      expect(report.answers.count == 1 && report.failures.map { "\($0.error)" } == ["refused by broken"])
      let unstated = await #expect(throws: MessageError.self) { try await point.forwardAndWait(Invocation("onEnter:")) }
      expect(unstated?.code, equals: .unrecognizedSelector)
      // A send to the point as one receiver throws one error, and onError gets the other.
      let window = ChatWindow("w", journal)
      window.whenAdded.withLock { $0 = { _ in throw TargetError(name: "w") } }
      point.register(window)
      #expect(throws: TargetError(name: "w")) { try point.send(.onAdd, "4") }
      expect(failures.all, equals: ["'onAddMsg:' failed in BrokenService: refused by broken"])
      _ = journal.take()
      window.whenAdded.withLock { $0 = nil }
      #expect(throws: TargetError(name: "broken")) { let _: Void = try point.dynamic.onAddMsg("5") }
      expect(journal.all, equals: ["archive add 5", "w add 5"])
    }

    @Test("a point for any receiver registers a class without a mapping closure")
    func anyReceiver() {
      let point = ExtensionPoint<any MessageReceiver>(selectors: messageSelectors, services: services)
      expect(point.registerLazily(ArchiveService.self))
      expect(point.broadcast(.onAdd, "x").delivered, equals: 1)
      expect(journal.all, equals: ["archive made", "archive add x"])
    }

    @Test("a typed call without a selector creates every lazy observer, and one with a selector only matching ones")
    func typedCalls() {
      point.registerLazily(ArchiveService.self) { $0 }
      point.broadcast(for: "onDeleteMsg:") { $0.onAddMsg("x") }
      expect(journal.all.isEmpty)
      point.broadcast { $0.onAddMsg("y") }
      expect(journal.all, equals: ["archive made", "archive add y"])
    }

    @Test("concurrent messages create the observer once, and it receives all of them")
    func threads() {
      let point = point
      point.registerLazily(ArchiveService.self) { $0 }
      let ended = onThreads(16) { _ in
        for _ in 0..<50 { point.broadcast(.onAdd, "x") }
      }
      expect(ended)
      expect(journal.all.filter { $0 == "archive made" }.count, equals: 1)
      expect(journal.all.filter { $0 == "archive add x" }.count, equals: 16 * 50)
    }

    @Test("concurrent messages, logouts, registrations and removals do not hang or lose a registration")
    func stress() {
      let (point, services, journal) = (point, services, journal)
      point.observers.onError = { journal.write("\($0)") }
      point.registerLazily(ArchiveService.self) { $0 }
      let steady = ChatWindow("steady", Journal())
      point.register(steady)
      let ended = onThreads(16) { thread in
        let own = ChatWindow("own", Journal())
        for step in 0..<100 {
          switch thread % 4 {
          case 0: services.clearData()
          case 1:
            point.register(own)
            point.unregister(own)
          case 2 where step % 10 == 0:
            point.unregisterLazily(ArchiveService.self)
            point.registerLazily(ArchiveService.self) { $0 }
          default: point.broadcast(.onAdd, "x")
          }
        }
      }
      expect(ended)
      expect(journal.all.allSatisfy { $0.hasPrefix("archive") })
      expect(steady.journal.all.count, equals: 4 * 100 + 4 * 90)
      point.registerLazily(ArchiveService.self) { $0 }
      expect(point.broadcast(.onAdd, "last").delivered, equals: 2)
    }

    @Test(
      "adding and removing lazy observers, in any order, takes linear time",
      .enabled(if: Bounds.areFull))
    func growth() throws {
      let table = SelectorTable(for: ArchiveService.self) { Responds(to: .onAdd) { (_: ArchiveService, _: String) in } }
      let growing = Growing("lazy observers") { count in
        let point = ExtensionPoint<any MessageExtension>()
        let keys = (0..<count).map { ServiceKey("archive \($0)") { try ArchiveService(in: $0) } }
        return {
          for round in 0..<3 {
            for key in keys { expect(point.registerLazily(key, table: table) { $0 }) }
            for key in keys.inThreeOrders[round] { expect(point.unregisterLazily(key)) }
          }
        }
      }
      try growing.expectLinear()
    }
  }
}
