// IsolationShapes.swift: actors, async requirements and Sendable protocols.

import Forwardcast
import TestSupport
import Testing

@MainActor @Forwarded protocol MainShape: AnyObject {
  func show(_ text: String)
  @Answer(.sum) var rows: Int { get set }
  func check() throws
  func load(_ x: Int) async throws -> Int
}

@MainActor @Forwarded protocol SharedMainShape: AnyObject, Sendable {
  func show(_ text: String)
  nonisolated func note(_ x: Int)
  func load() async -> Int?
}

@Forwarded nonisolated protocol MainMembers: AnyObject {
  @MainActor func show(_ x: Int)
  @MainActor var title: String? { get set }
  func other()
}

@StoreActor @Forwarded protocol StoreShape: AnyObject {
  func store(_ x: Int)
  @Answer(.sum) var pages: Int { get set }
  func check() throws -> Int
  @Answer(.sum) func typed() throws(LoadError) -> Int
  func load() async -> Int?
}

@StoreActor @Forwarded protocol SharedStoreShape: AnyObject, Sendable {
  func store(_ x: Int)
  nonisolated func note(_ x: Int)
}

@Forwarded nonisolated protocol StoreMembers: AnyObject {
  @StoreActor func store(_ x: Int)
  func other(_ x: Int)
}

@Forwarded nonisolated protocol SharedShape: AnyObject, Sendable {
  func ping(_ n: Int)
  func unread() async -> Int?
  func more() async throws -> Int
  @Answer(.sum) func typed() async throws(LoadError) -> Int
  func quiet(_ n: Int) async
  func risky() async throws
  var state: Int? { get async throws }
}

@Forwarded nonisolated protocol ActorShape: AnyObject, Sendable {
  func add(_ n: Int) async
  @Answer(.sum) func total() async -> Int
}

@Forwarded nonisolated protocol LocalSuspending: AnyObject {
  nonisolated(nonsending) func load(_ log: LocalLog) async -> Int?
  nonisolated(nonsending) func store(_ x: Int) async throws
}

@Forwarded nonisolated protocol LocalShape: AnyObject { func unread(_ n: Int) }

nonisolated final class LocalLog { var lines: [String] = [] }

@Suite("Shapes of isolation")
struct IsolationShapes {
  @MainActor final class Window: MainShape {
    var text = ""
    var rows = 2
    func show(_ text: String) {
      MainActor.assertIsolated()
      self.text = text
    }
    func check() throws { throw LoadError.late }
    func load(_ x: Int) async throws -> Int {
      MainActor.assertIsolated()
      return x + rows
    }
  }

  @Test("a main-actor protocol is called directly on the main actor, and its async requirements suspend there")
  @MainActor func main() async throws {
    let proxy = MainShapeProxy()
    let (first, second) = (Window(), Window())
    proxy.add(first)
    proxy.add(second)
    proxy.show("x")
    expect(first.text == "x" && second.text == "x")
    proxy.rows = 3
    expect(proxy.rows, equals: 6)
    #expect(throws: LoadError.late) { try proxy.check() }
    try await expect(proxy.load(4), equals: 7)
    try await expect(proxy.load(4, returning: .sum), equals: 14)
    var heard = ""
    proxy.on(MainShapeProxy.Messages.show) { heard = $0 }
    proxy.show("y")
    expect(heard, equals: "y")
  }

  @MainActor final class SharedWindow: SharedMainShape {
    let log = Log()
    func show(_ text: String) { log.note(text) }
    nonisolated func note(_ x: Int) { log.note("\(x)") }
    func load() async -> Int? {
      MainActor.assertIsolated()
      return 5
    }
  }

  @Test("a Sendable main-actor protocol may have nonisolated requirements")
  nonisolated func sharedMain() async {
    let (proxy, target) = await MainActor.run { (SharedMainShapeProxy(), SharedWindow()) }
    proxy.add(target)
    proxy.note(1)
    await proxy.show("s")
    let loaded = await proxy.load()
    expect(loaded, equals: 5)
    expect(target.log.lines, equals: ["1", "s"])
  }

  @Test("a nonisolated protocol may have main-actor requirements")
  @MainActor func mainMembers() {
    final class Target: MainMembers {
      @MainActor var shown = 0
      @MainActor var title: String?
      nonisolated func other() {}
      nonisolated init() {}
      @MainActor func show(_ x: Int) { shown = x }
    }
    let (proxy, target) = (MainMembersProxy(), Target())
    proxy.add(target)
    proxy.show(3)
    proxy.title = "t"
    proxy.other()
    expect(target.shown, equals: 3)
    expect(proxy.title, equals: "t")
  }

  @StoreActor final class Archive: StoreShape {
    var stored: [Int] = []
    var pages: Int {
      get { stored.count }
      set { stored = Array(repeating: 0, count: newValue) }
    }
    func store(_ x: Int) {
      StoreActor.shared.assertIsolated()
      stored.append(x)
    }
    func check() throws -> Int { 5 }
    func typed() throws(LoadError) -> Int { if stored.count > 3 { throw .gone } else { 2 } }
    func load() async -> Int? {
      StoreActor.shared.assertIsolated()
      return 7
    }
  }

  @Test("a protocol may be on a custom global actor")
  @StoreActor func store() async throws {
    let (proxy, target) = (StoreShapeProxy(), Archive())
    proxy.add(target)
    proxy.store(1)
    proxy.store(2)
    expect(target.stored, equals: [1, 2])
    expect(proxy.pages, equals: 2)
    try expect(proxy.check(), equals: 5)
    try expect(proxy.check(returning: .all), equals: [5])
    try expect(proxy.typed(), equals: 2)
    let loaded = await proxy.load()
    expect(loaded, equals: 7)
    proxy.pages = 4
    #expect(throws: LoadError.gone) { try proxy.typed() }
    var heard = 0
    proxy.on(StoreShapeProxy.Messages.store) { heard += $0 }
    proxy.store(9)
    expect(heard, equals: 9)
  }

  @StoreActor final class SharedArchive: SharedStoreShape {
    let log = Log()
    func store(_ x: Int) {
      StoreActor.shared.assertIsolated()
      log.note("store \(x)")
    }
    nonisolated func note(_ x: Int) { log.note("note \(x)") }
  }

  @Test("a message from outside its global actor is an error, and a delivery on the actor runs it")
  nonisolated func sharedStore() async throws {
    let (proxy, target) = await { @StoreActor in (SharedStoreShapeProxy(), SharedArchive()) }()
    let failures = Failures()
    proxy.onError = { failures.note($0) }
    let direct = proxy.add(target)
    proxy.note(1)
    await proxy.store(2)
    proxy.multicast.broadcast(SharedStoreShapeProxy.Messages.store, 3)
    expect((failures.errors.first as? MessageError)?.code, equals: .isolationMismatch)
    direct.cancel()
    proxy.add(target, delivery: .actor(StoreActor.shared))
    proxy.multicast.broadcast(SharedStoreShapeProxy.Messages.store, 4)
    try await proxy.drain()
    expect(target.log.lines, equals: ["note 1", "store 2", "store 4"])
  }

  @Test("a nonisolated protocol may have requirements on a global actor")
  @StoreActor func storeMembers() {
    final class Target: StoreMembers {
      @StoreActor var stored = 0
      nonisolated let log = Log()
      nonisolated init() {}
      @StoreActor func store(_ x: Int) { stored += x }
      nonisolated func other(_ x: Int) { log.note("\(x)") }
    }
    let (proxy, target) = (StoreMembersProxy(), Target())
    proxy.add(target)
    proxy.store(3)
    proxy.other(4)
    expect(target.stored, equals: 3)
    expect(target.log.lines, equals: ["4"])
  }

  nonisolated final class Member: SharedShape {
    let log = Log()
    let count: Int?
    init(_ count: Int?) { self.count = count }
    func ping(_ n: Int) { log.note("ping \(n)") }
    func unread() async -> Int? { count }
    func more() async throws -> Int { count ?? 0 }
    func typed() async throws(LoadError) -> Int {
      guard let count else { throw .gone }
      return count
    }
    func quiet(_ n: Int) async { log.note("quiet \(n)") }
    func risky() async throws { throw LoadError.late }
    var state: Int? { get async throws { count } }
  }

  @Test("an async requirement of a Sendable protocol waits for all targets, in order, on any context")
  func shared() async throws {
    let proxy = SharedShapeProxy()
    let (first, second) = (Member(1), Member(2))
    expect(await proxy.unread() == nil)
    await #expect(throws: MessageError.self) { try await proxy.more() }
    proxy.add(first)
    proxy.add(second, delivery: .mainActor)
    await expect(proxy.unread(), equals: 2)
    try await expect(proxy.more(), equals: 2)
    try await expect(proxy.typed(), equals: 3)
    try await expect(proxy.more(returning: .all), equals: [1, 2])
    try await expect(proxy.state, equals: 2)
    await proxy.quiet(5)
    await #expect(throws: LoadError.late) { try await proxy.risky() }
    proxy.add(Member(nil), ownership: .strong)
    await #expect(throws: LoadError.gone) { try await proxy.typed() }
    proxy.ping(6)
    try await proxy.drain()
    expect(first.log.lines, equals: ["quiet 5", "ping 6"])
    expect(second.log.lines, equals: ["quiet 5", "ping 6"])
  }

  actor Ledger: ActorShape {
    var sum = 0
    func add(_ n: Int) { sum += n }
    func total() -> Int { sum }
  }

  @Test("actors conform to a Sendable protocol with async requirements")
  func actors() async throws {
    let (proxy, ledger, other) = (ActorShapeProxy(), Ledger(), Ledger())
    proxy.add(ledger)
    proxy.add(other, delivery: .actor(other))
    await proxy.add(4)
    await expect(proxy.total(), equals: 8)
    try await expect(proxy.total(returning: .all), equals: [4, 4])
  }

  @Test("targets that are not Sendable are awaited one after another in the caller's isolation")
  @MainActor func localSuspending() async throws {
    nonisolated final class Target: LocalSuspending {
      let name: String
      init(_ name: String) { self.name = name }
      nonisolated(nonsending) func load(_ log: LocalLog) async -> Int? {
        MainActor.assertIsolated()
        log.lines.append("begin \(name)")
        await Task.yield()
        log.lines.append("end \(name)")
        return name.count
      }
      nonisolated(nonsending) func store(_ x: Int) async throws { if x < 0 { throw LoadError.gone } }
    }
    let proxy = LocalSuspendingProxy()
    let (a, b) = (Target("a"), Target("bb"))
    proxy.add(a)
    proxy.add(b)
    let log = LocalLog()
    await expect(proxy.load(log), equals: 2)
    expect(log.lines, equals: ["begin a", "end a", "begin bb", "end bb"])
    try await expect(proxy.load(log, returning: .all), equals: [1, 2])
    try await proxy.store(1)
    await #expect(throws: LoadError.gone) { try await proxy.store(-1) }
  }

  @MainActor final class View {
    var label = 0
    let local = LocalShapeProxy()
    let shared = SharedShapeProxy()
    init() {
      local.on(LocalShapeProxy.Messages.unread) { [weak self] in self?.label = $0 }
      shared.on(SharedShapeProxy.Messages.ping) { [weak self] in self?.label = $0 }
    }
  }

  @Test("closures written on the main actor run there, whichever thread sends")
  nonisolated func closures() async throws {
    let view = await View()
    await MainActor.run {
      view.local.unread(1)
      expect(view.label, equals: 1)
      view.shared.ping(2)
      expect(view.label, equals: 2)
    }
    view.shared.ping(3)
    try await view.shared.drain()
    await expect(view.label, equals: 3)
  }

  @Test("a main-actor class may be a target of a nonisolated protocol")
  @MainActor func mainTargets() {
    final class Label: @MainActor LocalShape {
      var text = ""
      func unread(_ n: Int) { text = "\(n)" }
    }
    let (proxy, label) = (LocalShapeProxy(), Label())
    proxy.add(label)
    proxy.unread(7)
    expect(label.text, equals: "7")
  }
}
