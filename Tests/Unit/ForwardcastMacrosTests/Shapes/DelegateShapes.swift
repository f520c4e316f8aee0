// DelegateShapes.swift: protocols as they occur in packages, unchanged.

import Forwardcast
import Foundation
import TestSupport
import Testing

nonisolated final class Page {
  var number: Int
  init(_ number: Int) { self.number = number }
}

// MARK: Asynchronous requirements and values that are not Sendable

@Forwarded nonisolated protocol PageStore: AnyObject, Sendable {
  func retrieve() async -> Page?
  func page(_ number: Int) async throws -> Page
  func count(_ page: Page) async -> Int?
  var current: Page? { get async }
}

@Forwarded nonisolated protocol PageLoader: AnyObject {
  @Answer(otherwise: 0) func load(_ page: Page) async throws -> Int
  func next() async -> Page?
  nonisolated(nonsending) func local(_ page: Page) async -> Page?
}

@MainActor @Forwarded protocol PageScreen: AnyObject, Sendable {
  func show(_ page: Page) async -> Page?
}

nonisolated final class Pages: PageStore, PageLoader {
  func retrieve() async -> Page? { Page(1) }
  func page(_ number: Int) async throws -> Page { Page(number) }
  func count(_ page: Page) async -> Int? { page.number }
  var current: Page? { get async { Page(4) } }
  func load(_ page: Page) async throws -> Int {
    page.number += 1
    return page.number
  }
  func next() async -> Page? { Page(6) }
  nonisolated(nonsending) func local(_ page: Page) async -> Page? { page }
}

@Suite("Asynchronous requirements")
struct SuspendingDelegateShapes {
  @Test("a result that is not Sendable is returned from direct and queued targets")
  nonisolated func answers() async throws {
    let (proxy, pages) = (PageStoreProxy(), Pages())
    proxy.onError = { Issue.record("\($0)") }
    for delivery in [Delivery.direct, .queue(DispatchQueue(label: "pages"))] {
      let registration = proxy.add(pages, delivery: delivery)
      await expect(proxy.retrieve()?.number, equals: 1)
      try await expect(proxy.page(3).number, equals: 3)
      await expect(proxy.current?.number, equals: 4)
      registration.cancel()
    }
    proxy.add(pages)
    await expect(proxy.count(Page(5)), equals: 5)
  }

  @Test("a protocol that is not Sendable may have async requirements with arguments and results that are not either")
  nonisolated func unshared() async throws {
    let (proxy, pages) = (PageLoaderProxy(), Pages())
    proxy.add(pages)
    try await expect(proxy.load(Page(1)), equals: 2)
    await expect(proxy.next()?.number, equals: 6)
    await expect(proxy.local(Page(7))?.number, equals: 7)
  }

  @Test("a target that is not Sendable is called only on its sender's actor")
  @MainActor func staysOnItsActor() async throws {
    let (proxy, pages) = (PageLoaderProxy(), Pages())
    proxy.add(pages)
    let error = await #expect(throws: MessageError.self) {
      try await proxy.multicast.collectAndWait(PageLoaderProxy.Messages.next, returning: .last)
    }
    expect(error?.code, equals: .isolationMismatch)
    await expect(proxy.local(Page(7))?.number, equals: 7)
  }

  @Test("arguments and results that are not Sendable stay on their actor")
  @MainActor func actors() async {
    final class Screen: PageScreen {
      func show(_ page: Page) async -> Page? { page }
    }
    let (proxy, screen) = (PageScreenProxy(), Screen())
    proxy.add(screen)
    let page = Page(2)
    expect(await proxy.show(page) === page)
  }
}

// MARK: Protocols nested in types

nonisolated enum Chat {
  struct Message: Equatable { var text = "" }
  struct Failure: Error {}
  protocol Sticker {}
  enum Decision { case allow, deny }

  @Forwarded nonisolated protocol RoomDelegate: AnyObject {
    func received(_ message: Message)
    func all(_ messages: [Message], then done: @escaping (Message) -> Void) throws(Failure)
    func stick(_ one: some Sticker, _ other: any Sticker) -> (any Sticker)?
    func draft() -> Message!
    @Answer<Decision>(otherwise: .deny) func mayJoin(_ message: borrowing Message) -> Decision
    @Answer(.reduce(Decision.allow) { $1 }) func mayLeave() -> Decision
    var title: Message? { get set }
    subscript(place: Int) -> Message? { get }
  }

  @Forwarded(inheriting: (any RoomDelegate).self) nonisolated protocol ModeratorDelegate: RoomDelegate {
    func removed(_ message: Message)
  }
}

extension Chat {
  @Forwarded nonisolated protocol ArchiveDelegate: AnyObject { func archived(_ message: Message) -> Decision? }
}

@Suite("Protocols nested in types")
struct NestedDelegateShapes {
  nonisolated struct Star: Chat.Sticker {}

  nonisolated final class Moderator: Chat.ModeratorDelegate, Chat.ArchiveDelegate {
    var log: [String] = []
    var title: Chat.Message?
    func received(_ message: Chat.Message) { log.append(message.text) }
    func all(_ messages: [Chat.Message], then done: @escaping (Chat.Message) -> Void) throws(Chat.Failure) {
      guard let last = messages.last else { throw Chat.Failure() }
      done(last)
    }
    func stick(_ one: some Chat.Sticker, _ other: any Chat.Sticker) -> (any Chat.Sticker)? { one }
    func draft() -> Chat.Message! { Chat.Message(text: "draft") }
    func mayJoin(_ message: borrowing Chat.Message) -> Chat.Decision { .allow }
    func mayLeave() -> Chat.Decision { .deny }
    subscript(place: Int) -> Chat.Message? { Chat.Message(text: "\(place)") }
    func removed(_ message: Chat.Message) { log.append("removed \(message.text)") }
    func archived(_ message: Chat.Message) -> Chat.Decision? { .allow }
  }

  @Test("requirements of a nested protocol, and of one that refines it, may use members of the enclosing type")
  func nested() throws {
    let (proxy, target) = (Chat.ModeratorDelegateProxy(), Moderator())
    expect(proxy.mayJoin(Chat.Message()), equals: .deny)
    expect(proxy.mayLeave(), equals: .allow)
    proxy.add(target)
    let room: any Chat.RoomDelegate = proxy
    room.received(Chat.Message(text: "a"))
    proxy.removed(Chat.Message(text: "b"))
    var last: Chat.Message?
    try room.all([Chat.Message(text: "c")]) { last = $0 }
    expect(last?.text, equals: "c")
    #expect(throws: Chat.Failure.self) { try room.all([]) { _ in } }
    expect(room.stick(Star(), Star()) is Star)
    expect(room.draft().text, equals: "draft")
    expect(room.mayJoin(Chat.Message()), equals: .allow)
    expect(room.mayLeave(), equals: .deny)
    room.title = Chat.Message(text: "t")
    expect(target.title?.text, equals: "t")
    expect(room[3]?.text, equals: "3")
    try expect(proxy.mayLeave(returning: .all), equals: [.deny])
    expect(target.log, equals: ["a", "removed b"])
    let archive = Chat.ArchiveDelegateProxy()
    archive.add(target)
    expect(archive.archived(Chat.Message()), equals: .allow)
  }
}

// MARK: Parents, actors, availability

@Forwarded nonisolated protocol SessionDelegate: NSObjectProtocol {
  func began(_ name: String)
}

@globalActor actor Audio { static let shared = Audio() }

@Audio @Forwarded(isolatedTo: Audio.self) protocol PlayerDelegate: AnyObject {
  func played(_ page: Page) -> Int?
  func ended(_ page: Page) async -> Page?
}

@Forwarded(isolatedTo: Audio.self) nonisolated protocol MixerDelegate: AnyObject {
  @Audio func mixed(_ level: Int)
  func other(_ level: Int)
}

@Receiver(isolatedTo: Audio.self) @Audio final class Tuner {
  @Message var level = 1
  @Message func tune(_ level: Int) { self.level = level }
}

@Forwarded nonisolated protocol DatedDelegate: AnyObject {
  @available(macOS 10.15, *) @available(iOS 13, *) func both(_ x: Int)
  @available(macOS, introduced: 10.15) @available(iOS, introduced: 13, message: "later") func introduced(_ x: Int)
}

@Forwarded nonisolated protocol OddlyWritten: AnyObject {
  typealias Number = Int
  func nothing() -> (
  )
  func brackets() -> (Void)
  func own(_ x: Number) -> Number?
}

@Suite("Parent protocols, actors and unusual spellings")
struct SpellingDelegateShapes {
  @Test("a protocol that inherits NSObjectProtocol has a class based on NSObject")
  func objects() {
    final class Target: NSObject, SessionDelegate {
      var names: [String] = []
      func began(_ name: String) { names.append(name) }
    }
    let (proxy, target) = (SessionDelegateProxy(), Target())
    proxy.add(target)
    proxy.began("a")
    expect(target.names, equals: ["a"])
    expect((proxy as AnyObject) is NSObject)
  }

  @Audio final class Player: PlayerDelegate {
    func played(_ page: Page) -> Int? { page.number }
    func ended(_ page: Page) async -> Page? { page }
  }

  @Test("a protocol may be on a global actor of any name if it is stated")
  @Audio func actors() async throws {
    let (proxy, player) = (PlayerDelegateProxy(), Player())
    proxy.add(player)
    let page = Page(3)
    expect(proxy.played(page), equals: 3)
    expect(await proxy.ended(page) === page)
    let mixer = MixerDelegateProxy()
    var levels: [Int] = []
    mixer.on(MixerDelegateProxy.Messages.mixed) { levels.append($0) }
    mixer.on(MixerDelegateProxy.Messages.other) { levels.append($0) }
    mixer.mixed(1)
    mixer.other(2)
    expect(levels, equals: [1, 2])
    let tuner = Tuner()
    try withHeldActor { try tuner.ask("tune:", 5) }
    expect(tuner.level, equals: 5)
  }

  @Test("availability of several platforms and every spelling of Void are accepted")
  func spellings() {
    final class Target: DatedDelegate, OddlyWritten {
      var log: [Int] = []
      func both(_ x: Int) { log.append(x) }
      func introduced(_ x: Int) { log.append(x) }
      func nothing() { log.append(3) }
      func brackets() { log.append(4) }
      func own(_ x: Int) -> Int? { x }
    }
    let (dated, odd, target) = (DatedDelegateProxy(), OddlyWrittenProxy(), Target())
    dated.add(target)
    odd.add(target)
    dated.both(1)
    dated.introduced(2)
    odd.nothing()
    odd.brackets()
    expect(odd.own(5), equals: 5)
    expect(target.log, equals: [1, 2, 3, 4])
  }
}

// MARK: Parents that the attribute cannot see

@MainActor protocol MainParent: AnyObject {}
nonisolated protocol PlainParent: AnyObject {}

@Forwarded protocol MainChildDelegate: MainParent {
  func changed(_ page: Page, in: Int) -> Int?
  var page: Page? { get set }
  func load(_ page: Page) async -> Page?
  func check() throws -> Int
}

@MainActor @Forwarded protocol MainTeller: AnyObject { func told(_ page: Page) -> Int? }
@Forwarded(inheriting: (any MainTeller).self) protocol MainHeir: MainTeller {
  func heard(_ page: Page) -> Int?
  func load(_ page: Page) async -> Page?
}

@Forwarded nonisolated protocol StatedChildDelegate: PlainParent { func changed(_ page: Page) -> Int? }
@Forwarded protocol PlainChildDelegate: PlainParent { func changed(_ page: Page) -> Int? }

@Suite("Parents that the attribute cannot see")
struct ParentDelegateShapes {
  @MainActor final class Target: MainChildDelegate {
    var page: Page?
    func changed(_ page: Page, in: Int) -> Int? {
      MainActor.assertIsolated()
      return page.number
    }
    func load(_ page: Page) async -> Page? { page }
    func check() throws -> Int { throw LoadError.late }
  }

  @Test("the generated class and its rows are on the actor of a parent")
  @MainActor func actors() async throws {
    let (proxy, target) = (MainChildDelegateProxy(), Target())
    proxy.add(target)
    let page = Page(3)
    expect(proxy.changed(page, in: 1), equals: 3)
    proxy.page = page
    expect(target.page === page && proxy.page === page)
    expect(await proxy.load(page) === page)
    #expect(throws: LoadError.late) { try proxy.check() }
    var heard = 0
    proxy.on(MainChildDelegateProxy.Messages.changed) { page, _ in
      heard = page.number
      return 9
    }
    expect(proxy.changed(page, in: 1) == 9 && heard == 3)
  }

  @MainActor final class Heir: MainHeir {
    func told(_ page: Page) -> Int? { page.number }
    func heard(_ page: Page) -> Int? { page.number + 1 }
    func load(_ page: Page) async -> Page? { page }
  }

  @Test("a protocol that refines one on an actor is on that actor, and its class has the parent's requirements")
  @MainActor func heirs() async {
    let (proxy, target) = (MainHeirProxy(), Heir())
    proxy.add(target)
    let (page, teller): (Page, any MainTeller) = (Page(3), proxy)
    expect(teller.told(page) == 3 && proxy.heard(page) == 4)
    expect(await proxy.load(page) === page)
  }

  @Test("a parent without an actor leaves the class nonisolated")
  func plain() {
    let proxy = StatedChildDelegateProxy()
    proxy.on(StatedChildDelegateProxy.Messages.changed) { $0.number }
    expect(proxy.changed(Page(2)), equals: 2)
  }
}

// MARK: Empty values

nonisolated struct Style: Equatable { var name = "" }

@Forwarded(otherwise: .emptyValues) nonisolated protocol ListSource: AnyObject {
  func numberOfRows(in section: Int) -> Int
  func title(_ row: Int) -> String
  func mayEdit() -> Bool
  func rows() -> [Int]
  func names() -> [String: Int]
  func marks() -> Set<Int>
  func place() -> (row: Int, Double)
  func size() -> CGSize
  var height: Double { get set }
  func load() throws -> Int
  @Answer(otherwise: 9) func own() -> Int
  @Answer<Style>(.first, otherwise: .init(name: "plain")) func style() -> Style
}

@Forwarded(otherwise: .emptyValuesOrTrap) nonisolated protocol CellSource: AnyObject {
  func numberOfRows() -> Int
  func style(_ row: Int) -> Style
}

@Suite("Empty values")
struct SilentDelegateShapes {
  @Test("without targets, a requirement returns an empty value, the stated value, or throws an error")
  func emptyValues() {
    let source = ListSourceProxy()
    expect(source.numberOfRows(in: 0), equals: 0)
    expect(source.title(0).isEmpty)
    expect(!source.mayEdit())
    expect(source.rows().isEmpty && source.names().isEmpty && source.marks().isEmpty)
    expect(source.place() == (row: 0, 0))
    expect(source.size(), equals: .zero)
    expect(source.height, equals: 0)
    #expect(throws: MessageError.self) { try source.load() }
    expect(source.own(), equals: 9)
    expect(source.style(), equals: Style(name: "plain"))
    source.on(ListSourceProxy.Messages.numberOfRows) { _ in 4 }
    source.on(ListSourceProxy.Messages.size) { CGSize(width: 1, height: 2) }
    expect(source.numberOfRows(in: 0), equals: 4)
    expect(source.size().height, equals: 2)
  }

  @Test("a result without an empty value comes from a target, and without targets the process ends")
  func traps() async {
    let source = CellSourceProxy()
    expect(source.numberOfRows(), equals: 0)
    source.on(CellSourceProxy.Messages.style) { _ in Style(name: "bold") }
    expect(source.style(0).name, equals: "bold")
    await #expect(processExitsWith: .failure) { _ = CellSourceProxy().style(0) }
  }
}

// MARK: Associated types

@Forwarded nonisolated protocol FeedDelegate<Item>: AnyObject {
  associatedtype Item
  func received(_ item: Item)
  func all(_ items: [Item]) throws -> Int
  var last: Item? { get set }
}

@Forwarded nonisolated protocol GroupDelegate<Key, Members>: AnyObject, Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Members: Collection where Members.Element == Key
  func members(of key: Key) -> Members?
  func key() async -> Key?
}

@Forwarded nonisolated protocol ShelfDelegate<Item> where Item: AnyObject {
  associatedtype Item
  func put(_ item: Item) -> Int?
}

@Suite("Associated types")
struct AssociatedDelegateShapes {
  nonisolated final class Numbers: FeedDelegate {
    var items: [Int] = []
    var last: Int?
    func received(_ item: Int) { items.append(item) }
    func all(_ items: [Int]) throws -> Int { items.count }
  }

  @Test("a protocol with primary associated types has a generic class, also in optimized builds")
  func generic() async throws {
    let (proxy, target) = (FeedDelegateProxy<Int>(), Numbers())
    proxy.add(target)
    let named: any FeedDelegate<Int> = proxy
    named.received(1)
    proxy.broadcast(FeedDelegateProxy<Int>.Messages.received, 2)
    proxy.dynamic.received(3)
    named.last = 5
    expect(target.items, equals: [1, 2, 3])
    expect(named.last, equals: 5)
    try expect(named.all([1, 2]), equals: 2)
    try expect(proxy.all([1], returning: .sum), equals: 1)
    let texts = FeedDelegateProxy<String>()
    var heard: [String] = []
    texts.on(FeedDelegateProxy<String>.Messages.received) { heard.append($0) }
    texts.received("a")
    expect(heard, equals: ["a"])
    let groups = GroupDelegateProxy<Int, [Int]>()
    groups.on(GroupDelegateProxy<Int, [Int]>.Messages.members) { [$0, $0] }
    expect(groups.members(of: 3), equals: [3, 3])
    expect(await groups.key() == nil)
  }

  nonisolated final class Shelf: ShelfDelegate {
    func put(_ item: Numbers) -> Int? { item.items.count }
  }

  @Test("a class constraint of an associated type does not apply to the targets")
  func classItems() {
    let (proxy, target) = (ShelfDelegateProxy<Numbers>(), Shelf())
    proxy.add(target)
    expect(proxy.put(Numbers()), equals: 0)
    withExtendedLifetime(target) {}
  }
}

// MARK: Keys and receivers

@Forwarded nonisolated protocol BrokerDelegate: AnyObject {
  func broker(_ id: Int, didSend count: Int)
  func broker(_ id: Int, didFail reason: String)
  var state: Int? { get set }
  subscript(place: Int) -> String? { get set }
}

@Receiver(.allMembers) nonisolated final class Basket {
  var name = "basket"
  var count = 0x1F
  var price = -0.5
  var isOpen = true
  @Message var level = 1 { didSet { changes += 1 } }
  private var changes = 0
}

@Suite("Keys and untyped literals")
struct KeyDelegateShapes {
  @Test("overloads have keys of all their labels, and setters have keys")
  func keys() {
    let proxy = BrokerDelegateProxy()
    typealias Messages = BrokerDelegateProxy.Messages
    var heard: [String] = []
    proxy.on(Messages.brokerDidSend) { heard.append("\($0) \($1)") }
    proxy.on(Messages.brokerDidFail) { heard.append("\($0) \($1)") }
    proxy.on(Messages.setState) { heard.append("state \($0 ?? 0)") }
    proxy.on(Messages.setSubscript) { heard.append("\($1) \($0 ?? "")") }
    proxy.broker(1, didSend: 2)
    proxy.broker(1, didFail: "x")
    proxy.state = 3
    proxy[4] = "four"
    expect(heard, equals: ["1 2", "1 x", "state 3", "4 four"])
  }

  @Test("a property initialized with a literal has the literal's type")
  func literals() throws {
    let basket = Basket()
    try expect(basket.ask("name", returning: String.self), equals: "basket")
    try expect(basket.ask("count", returning: Int.self), equals: 31)
    try expect(basket.ask("price", returning: Double.self), equals: -0.5)
    expect(try basket.ask("isOpen", returning: Bool.self))
    try basket.ask("setLevel:", 4)
    expect(basket.level, equals: 4)
    try basket.ask("setName:", "cart")
    expect(basket.name, equals: "cart")
  }
}

// MARK: Targets that leave out requirements

@Forwarded(otherwise: .emptyValues) nonisolated protocol RowDelegate: AnyObject {
  func selected(_ row: Int)
  func height(ofRow row: Int) -> Double
}

extension RowDelegate {
  nonisolated func height(ofRow row: Int) -> Double { 0 }
}

@Suite("Targets that leave out requirements")
struct PartialDelegateShapes {
  nonisolated final class Short: RowDelegate, PartialTarget {
    static let unimplemented = [RowDelegateProxy.Messages.height.selector]
    nonisolated(unsafe) var rows: [Int] = []  // used by one test
    func selected(_ row: Int) { rows.append(row) }
  }
  nonisolated final class Tall: RowDelegate {
    func selected(_ row: Int) {}
    func height(ofRow row: Int) -> Double { 44 }
  }

  @Test("a target that leaves out a requirement receives no such message and does not respond to it")
  func partial() throws {
    let (proxy, short, tall) = (RowDelegateProxy(), Short(), Tall())
    proxy.add(short)
    proxy.selected(2)
    expect(short.rows, equals: [2])
    expect(proxy.responds(to: "selected:") && !proxy.responds(to: "heightOfRow:"))
    expect(proxy.height(ofRow: 0), equals: 0)
    proxy.add(tall)
    expect(proxy.responds(to: "heightOfRow:"))
    try expect(proxy.height(ofRow: 0, returning: .all), equals: [44])
  }

  nonisolated final class Misspelled: RowDelegate, PartialTarget {
    static let unimplemented: [MessageSelector] = ["hieghtOfRow:", "selected:"]
    func selected(_ row: Int) {}
  }

  @Test("a selector that a target lists as unimplemented, but its protocol does not have, is reported")
  func misspelled() {
    let (proxy, target) = (RowDelegateProxy(), Misspelled())
    let errors = Locked<[String]>([])
    proxy.onError = { failure in errors.withLock { $0.append("\(failure.error)") } }
    proxy.add(target)
    proxy.add(target)
    expect(
      errors.withLock { $0 },
      equals: [
        "unrecognized selector 'hieghtOfRow:' of Misspelled: 'unimplemented' lists this selector, but the protocol does "
          + "not have it; did you mean 'heightOfRow:'?"
      ])
    expect("\(proxy.multicast)".contains("1: heightOfRow:"), "\(proxy.multicast)")
    withExtendedLifetime(target) {}
  }
}

// MARK: Cached target casts

@Forwarded protocol PlacedDelegate: AnyObject {
  @Answer(otherwise: "") var title: String { get set }
  func none()
  func one(_ text: String) throws
  func two(_ text: String, _ number: Int)
  @Answer(.sum) func three(_ a: Int, _ b: Int, _ c: Int) -> Int
  func four(_ a: Int, _ b: Int, _ c: Int, _ d: [Int])
}

@Suite("Rows that cast their targets")
struct PlacedTargetShapes {
  /// A class for each kind.
  nonisolated final class Target<Kind>: PlacedDelegate {
    nonisolated(unsafe) var title = ""  // used by one test
    nonisolated(unsafe) var calls = ""
    func none() { calls += "0" }
    func one(_ text: String) throws {
      calls += text
      throw LoadError.gone
    }
    func two(_ text: String, _ number: Int) { calls += "\(text)\(number)" }
    func three(_ a: Int, _ b: Int, _ c: Int) -> Int { a * 100 + b * 10 + c }
    func four(_ a: Int, _ b: Int, _ c: Int, _ d: [Int]) { calls += "\(a)\(b)\(c)\(d)" }
  }

  /// Sends each message to a target of its own class, which nothing retains afterwards.
  private func send<Kind>(to kind: Kind.Type, _ proxy: PlacedDelegateProxy) {
    var target = Target<Kind>()
    let registration = proxy.add(target)
    for _ in 0..<2 {
      proxy.none()
      #expect(throws: LoadError.gone) { try proxy.one("1") }
      proxy.two("2", 2)
      expect(proxy.three(1, 2, 3), equals: 123)
      proxy.four(4, 4, 4, [4])
      proxy.title += "!"
    }
    registration.cancel()
    expect(target.calls, equals: "0122444[4]0122444[4]")
    expect(target.title, equals: "!!")
    expect(isKnownUniquelyReferenced(&target))
  }

  @Test("targets of more classes than a row caches are called as themselves, and none is retained")
  func classes() {
    let proxy = PlacedDelegateProxy()
    send(to: Int.self, proxy)
    send(to: Int8.self, proxy)
    send(to: Int16.self, proxy)
    send(to: Int32.self, proxy)
    send(to: UInt8.self, proxy)
    send(to: UInt16.self, proxy)
    send(to: UInt32.self, proxy)
    send(to: UInt.self, proxy)
    send(to: String.self, proxy)
    send(to: Bool.self, proxy)
    send(to: Int.self, proxy)
  }
}
