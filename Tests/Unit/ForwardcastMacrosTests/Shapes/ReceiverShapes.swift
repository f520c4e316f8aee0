// ReceiverShapes.swift: classes and actors with a table that @Receiver writes.

import Forwardcast
import TestSupport
import Testing

@Receiver nonisolated final class Console {
  let log = Log()
  @Message func restart(_ delay: Int) -> Bool { delay > 1 }
  @Message("volume") var loudness: Int {
    get { 3 }
    set { log.note("\(newValue)") }
  }
  @Message func hidden() {}
  func unmarked() {}
}

@Receiver nonisolated final class MarkedShapes {
  @Message var volume: Int = 3 { didSet { changes += 1 } }
  @Message private(set) var changes: Int = 0
  @Message let fixed: String = "}"
  @Message lazy var lazily: [Int] = { [1, 2] }()
  @Message var computed: Int {
    get { volume * 2 }
    set { volume = newValue / 2 }
  }
  @Message subscript(index: Int) -> Int {
    get { index }
    set { volume = newValue + index }
  }
  @Message private func secret(_ a: Int, with b: String) -> String { "\(a)\(b)" }
  @Message func risky() throws(LoadError) -> Int { throw .gone }
  @Message("pick:or:") func select(_ a: Int, _ b: Int) -> Int { a < b ? a : b }
  @Message func draw(_ shape: some Paintable) -> String { shape.paint }
  func variadic(_ numbers: Int...) {}
}

@Receiver(.allMembers) nonisolated class AllShapes {
  var name: String = "all"
  func act(_ x: Int, to y: Int) -> Int { x + y }
  private func hidden() {}
  fileprivate func hiddenToo() {}
  static func make() -> Int { 1 }
  class func makeToo() -> Int { 1 }
  init() {}
  deinit {}
  enum Inner { case a }
  #if os(Windows)
    func system(_ x: Int) -> Int { 1 }
  #else
    func system(_ x: String) -> String { "\(x)\("}")" }
  #endif
  func regular(_ text: String) -> Bool {
    let odd = #/}{"/#
    return text.contains(odd)
  }
}

@Receiver(inheriting: AllShapes.self) nonisolated class SubShapes: AllShapes {
  @Message func more() -> Int { 1 }
  override func act(_ x: Int, to y: Int) -> Int { x * y }
}
@Receiver(inheriting: SubShapes.self) nonisolated final class LastShapes: SubShapes {
  @Message func last() -> Int { 2 }
}

@Receiver nonisolated final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
  @Message func put(_ value: Value) { self.value = value }
  @Message func get() -> Value { value }
}

nonisolated enum Around<Value> { @Receiver final class Inside { @Message func act() -> Int { 7 } } }

@MainActor @Receiver final class MainReceiver {
  @Message var label: String = ""
  @Message func show(_ x: Int) -> Int { MainActor.assertIsolated(); return x }
  @Message nonisolated func anywhere() -> Int { 5 }
  @Message func load() async throws -> Int { 6 }
}

@Receiver nonisolated final class PartlyMain {
  @Message @MainActor func show(_ x: Int) -> Int { MainActor.assertIsolated(); return x }
  @Message func plain() -> Int { 1 }
}

@StoreActor @Receiver final class StoreReceiver {
  @Message func store(_ x: Int) -> Int { StoreActor.shared.assertIsolated(); return x }
}

@Receiver actor LedgerReceiver {
  var sum = 0
  @Message func add(_ x: Int) -> Int {
    sum += x
    return sum
  }
  @Message nonisolated func name() -> String { "ledger" }
  @Message func slow() async -> Int { sum }
  @Message var total: Int { sum }
  @Message let fixed: Int = 3
  @Message var settable: Int = 4
}

@Receiver public class PublicReceiver {
  public init() {}
  @Message public func act() -> Int { 1 }
}
@Receiver open class OpenReceiver {
  public init() {}
  @Message open func act() -> Int { 1 }
}
@Receiver package final class PackageReceiver { @Message package func act() -> Int { 1 } }
private enum Holder { @Receiver fileprivate final class Nested { @Message func act() -> Int { 1 } } }

@Suite("Shapes of receivers")
struct ReceiverShapes {
  @Test("only marked members of a class are messages")
  func marked() throws {
    let target = MarkedShapes()
    try expect(target.ask("volume", returning: Int.self), equals: 3)
    try target.ask("setVolume:", 8)
    expect(target.volume, equals: 8)
    try expect(target.ask("changes", returning: Int.self), equals: 1)
    expect(!target.responds(to: "setChanges:"))
    try expect(target.ask("fixed", returning: String.self), equals: "}")
    expect(!target.responds(to: "setFixed:"))
    try expect(target.ask("lazily", returning: [Int].self), equals: [1, 2])
    try target.ask("setComputed:", 20)
    try expect(target.ask("computed", returning: Int.self), equals: 20)
    try expect(target.ask("subscript:", 4, returning: Int.self), equals: 4)
    try target.ask("setSubscript::", 5, 6)
    expect(target.volume, equals: 11)
    try expect(target.ask("secret:with:", 1, "b", returning: String.self), equals: "1b")
    try expect(target.ask("pick:or:", 3, 2, returning: Int.self), equals: 2)
    #expect(throws: LoadError.gone) { try target.ask("risky", returning: Int.self) }
    expect(!target.responds(to: "select::") && !target.responds(to: "variadic:"))
    expect(MarkedShapes.selectorTable.refusals.isEmpty)
  }

  @Test("with allMembers, every member that is not hidden is a message")
  func all() throws {
    let target = AllShapes()
    try expect(target.ask("act:to:", 1, 2, returning: Int.self), equals: 3)
    try expect(target.ask("name", returning: String.self), equals: "all")
    try expect(target.ask("system:", "s", returning: String.self), equals: "s}")
    for name in ["hidden", "hiddenToo", "make", "makeToo"] {
      expect(!target.responds(to: try MessageSelector(name)), "\(name)")
    }
  }

  @Test("a subclass inherits the table of its superclass")
  func inherited() throws {
    let target = LastShapes()
    try expect(target.ask("act:to:", 3, 4, returning: Int.self), equals: 12)
    try expect(target.ask("more", returning: Int.self), equals: 1)
    try expect(target.ask("last", returning: Int.self), equals: 2)
    expect(!SubShapes().responds(to: "last"))
    expect(!AllShapes().responds(to: "more"))
  }

  @Test("a generic class has a table for each specialization")
  func generic() throws {
    let (number, text) = (Box(1), Box("a"))
    try number.ask("put:", 5)
    try text.ask("put:", "b")
    try expect(number.ask("get", returning: Int.self), equals: 5)
    try expect(text.ask("get", returning: String.self), equals: "b")
    expect(Box<Int>.selectorTable.signature(for: "get") != Box<String>.selectorTable.signature(for: "get"))
    try expect(Around<Int>.Inside().ask("act", returning: Int.self), equals: 7)
  }

  @Test("a main-actor class answers on the main actor")
  @MainActor func main() async throws {
    let target = MainReceiver()
    try expect(target.ask("show:", 2, returning: Int.self), equals: 2)
    try target.ask("setLabel:", "l")
    expect(target.label, equals: "l")
    try expect(target.ask("anywhere", returning: Int.self), equals: 5)
    try expect(PartlyMain().ask("show:", 3, returning: Int.self), equals: 3)
    try expect(PartlyMain().ask("plain", returning: Int.self), equals: 1)
    let anything = MulticastProxy<any MessageReceiver>()
    anything.add(target)
    try await expect(anything.collectAndWait(Message<() -> Int>("load"), returning: .all), equals: [6])
  }

  @Test("a message to a main-actor method from elsewhere is an error")
  nonisolated func awayFromMain() async throws {
    let error = try #require(throws: MessageError.self) { try PartlyMain().ask("show:", 3, returning: Int.self) }
    expect(error.code, equals: .isolationMismatch)
  }

  @Test("a receiver may be on a custom global actor")
  @StoreActor func store() throws {
    let target = StoreReceiver()
    try expect(withHeldActor({ try target.ask("store:", 3, returning: Int.self) }), equals: 3)
    #expect(throws: MessageError.self) { try target.ask("store:", 3, returning: Int.self) }
  }

  @Test("an actor answers in its own isolation")
  func actors() async throws {
    let ledger = LedgerReceiver()
    let ledgers = MulticastProxy<any MessageReceiver & Sendable>()
    ledgers.add(ledger, delivery: .actor(ledger))
    try await expect(ledgers.collectAndWait(Message<(Int) -> Int>("add:"), 4, returning: .last), equals: 4)
    try await expect(ledgers.collectAndWait(Message<() -> Int>("slow"), returning: .last), equals: 4)
    try await expect(ledgers.collectAndWait(Message<() -> Int>("total"), returning: .last), equals: 4)
    try await ledgers.collectAndWait(Message<(Int) -> Void>("setSettable:"), 9, returning: .last)
    await expect(ledger.settable, equals: 9)
    try expect(ledger.ask("name", returning: String.self), equals: "ledger")
    try expect(ledger.ask("fixed", returning: Int.self), equals: 3)
  }

  @Test("receivers may have every access level")
  func access() throws {
    let receivers: [any MessageReceiver] = [PublicReceiver(), OpenReceiver(), PackageReceiver(), Holder.Nested()]
    for receiver in receivers { expect(receiver.responds(to: "act")) }
    expect(!Console().responds(to: "unmarked"))
  }
}
