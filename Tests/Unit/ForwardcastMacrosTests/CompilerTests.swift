// CompilerTests.swift: what the compiler says of written text, in modules of all kinds.

import Foundation
import TestSupport
import Testing

@Suite("What the compiler says of written text", .enabled(if: Build.isThere, "it needs the library beside the tests"))
struct CompilerTests {
  @Test("a temporary that is added weakly gets a warning, and no other target does")
  func temporaries() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PageDelegate: AnyObject { func turned() }
        @Forwarded protocol SharedDelegate: AnyObject, Sendable { func turned() }
        @Forwarded @MainActor protocol ViewDelegate: AnyObject { func turned() }
        @Forwarded protocol ListDelegate<Item>: AnyObject { associatedtype Item; func turned(_ item: Item) }
        @Forwarded protocol AddingDelegate: AnyObject { func add(_ delegate: any AddingDelegate) }
        final class Target: PageDelegate, SharedDelegate, AddingDelegate {
          func turned() {}
          func add(_ delegate: any AddingDelegate) {}
        }
        final class View: ViewDelegate { func turned() {} }
        final class List: ListDelegate { func turned(_ item: Int) {} }
        func shared() -> SharedDelegateProxy { SharedDelegateProxy() }

        @MainActor func work() {
          let (pages, views, lists) = (PageDelegateProxy(), ViewDelegateProxy(), ListDelegateProxy<Int>())
          pages.add(Target())  // warned
          shared().add(Target())  // warned
          views.add(View())  // warned
          lists.add(List())  // warned
          pages.add(Target(), ownership: .strong)
          let target = Target()
          pages.add(target)
          pages.add(target, priority: 1)
          AddingDelegateProxy().add(target)
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: (.*)/)?.output }
    expect(lines.map(\.1), equals: ["17", "18", "19", "20"], "\(said)")
    expect(lines.allSatisfy { $0.2.hasPrefix("warning: weak reference will always be nil") }, "\(said)")
  }

  @Test("names of the standard library that a type gives to its own are those in a protocol inside of it")
  func ownNames() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        enum Game {
          enum Error: Swift.Error { case lost }
          struct Character {}
          @Forwarded protocol Delegate: AnyObject {
            func failed(_ error: Error)
            func moved(_ all: [Character]) -> Character?
          }
        }
        func work(_ game: Game.DelegateProxy) {
          game.failed(.lost)
          _ = game.moved([Game.Character()])
        }
        """, ["-swift-version", "6"])
    expect(said, equals: "")
  }

  @Test("a constraint of an associated type may stand in either 'where' clause")
  func constraints() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol Cache<Key, Item>: AnyObject where Key: Hashable {
          associatedtype Key
          associatedtype Item where Item: Comparable, Item: Sendable
          func items(_ key: Key) -> [Key: Item]?
        }
        @Forwarded protocol Keeper<Key>: AnyObject where Key: AnyObject {
          associatedtype Key
          func kept(_ key: Key) -> Key?
        }
        final class Lock {}
        func work() {
          _ = CacheProxy<Int, Int>().items(1)
          _ = KeeperProxy<Lock>().kept(Lock())
        }
        """, ["-swift-version", "6"])
    expect(said, equals: "")
  }

  @Test("one requirement that is refused is the only error, and the others are there")
  func refusals() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PageDelegate: AnyObject {
          func turned(_ page: Int)
          func set<T>(_ value: [T])
          func count() -> Int
        }
        @MainActor func work() {
          let pages = PageDelegateProxy()
          pages.turned(3)
          pages.on(PageDelegateProxy.Messages.turned) { _ in }
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: error:/)?.output.1 }
    expect(lines, equals: ["4", "5"], "\(said)")
    expect(!said.contains("macro expansion"), "\(said)")
  }

  @Test("whoever uses the common name of overloads is told the names of their keys")
  func overloads() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PageDelegate: AnyObject, Sendable {
          func page(_ id: Int, turned number: Int)
          func page(_ id: Int, closed reason: String)
        }
        func work() {
          let pages = PageDelegateProxy()
          pages.on(PageDelegateProxy.Messages.page) { id, number in }
          pages.broadcast(PageDelegateProxy.Messages.page, 1, 2)
          _ = pages.messages(for: PageDelegateProxy.Messages.page)
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: (.*)/)?.output }
    expect(lines.filter { $0.2.contains("'pageTurned', 'pageClosed'") }.map(\.1), equals: ["8", "9", "10"], "\(said)")
    expect(lines.count { $0.2.hasPrefix("error:") }, equals: 3, "\(said)")
  }

  @Test("what the attribute cannot see is told at the user's line, with what to write")
  func places() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @MainActor class View { init() {} }
        protocol Unmarked: AnyObject { func a() }

        /// A comment before the attribute.
        @Forwarded(inheriting: (any Unmarked).self)
        @available(macOS 15, *)
        protocol Refining: Unmarked { func b() }

        @Forwarded protocol Scrolled: Unmarked { func b() }
        @Forwarded protocol Feed<Item>: AnyObject { associatedtype Item: Hashable; func received(_ item: Item) }
        @Forwarded(inheriting: (any Feed).self) protocol Silent: Feed { func b() }
        @Forwarded(inheriting: (any Feed).self) protocol Unbound<Item>: Feed { func b() }
        enum Pages {
          @Forwarded protocol ViewSource: AnyObject {
            @Answer<View>(otherwise: View()) func view() -> View
          }
        }
        @Forwarded protocol ViewSource: AnyObject {
          func loaded()

          @Answer<View>(otherwise: View())
          func view() -> View
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: error: (.*)/)?.output }
    expect(!said.contains(/expansion @\w+:\d+:\d+: error:/), "\(said)")
    expect(Set(lines.map(\.1)), equals: ["6", "10", "12", "13", "16", "22"], "\(said)")
    expect(lines.contains { $0.1 == "6" && $0.2.hasPrefix("cannot find type 'UnmarkedProxyNamespace'") }, "\(said)")
    expect(said.contains("// The protocol needs '@Forwarded' itself."), "\(said)")
    expect(said.contains("does it not conform to 'Unmarked'? Say '@Forwarded(inheriting: (any Unmarked).self)'"))
    expect(said.contains("has the protocol of 'FeedProxy' associated types? Name them: 'protocol Silent<…>', or say"))
    expect(said.contains("what does 'Item' conform to? Say it again: 'protocol Unbound<Item>: … where Item: …'."))
    for line in ["12", "13"] { #expect(Set(lines.filter { $0.1 == line }.map(\.2)).count == 1, "\(said)") }
    for line in ["16", "22"] {
      expect(lines.contains { $0.1 == line && $0.2.contains("main actor-isolated initializer 'init()'") }, "\(said)")
    }
  }

  @Test("delegates as packages have them compile in modules of all kinds", arguments: Mode.all.sampled(each: 7))
  func modes(mode: Mode) throws {
    let said = try Build.said(
      of: """
        public import Foundation
        #if canImport(FoundationNetworking)
        public import FoundationNetworking
        #endif
        public import Forwardcast
        public struct User: Hashable {}
        public enum Section { case main }
        public struct Snapshot<Item: Hashable> {}
        extension Section: Hashable {}
        @MainActor public protocol Scrolling: AnyObject {}

        @Forwarded @MainActor public protocol ChatDelegate: AnyObject {
          func chat(_ id: Int, isTyping users: Set<User>)
          func chat(_ id: Int, read places: [User: Int])
          func counts() -> [Section: Int]?
          var snapshot: Snapshot<User>? { get set }
          func left(_ user: User)
        }
        @Forwarded(inheriting: (any ChatDelegate).self) @MainActor public protocol RoomDelegate: ChatDelegate {
          func opened(_ names: [String: Int])
        }
        @Forwarded(inheriting: (any ChatDelegate).self) public protocol GroupDelegate: ChatDelegate { func joined() }
        @Forwarded public protocol ListDelegate: Scrolling { func selected(_ row: Int) }
        enum Hidden { @Forwarded public protocol Moving: AnyObject { func moved(_ to: (x: Int, y: Section)) -> Int? } }
        @Forwarded(otherwise: .emptyValues) public nonisolated protocol Loading: AnyObject {
          func load(_ url: URL, isFresh: Bool) async throws -> Data
          func mayLoad() async -> Bool
        }
        @Forwarded public protocol FeedDelegate<Item>: AnyObject {
          associatedtype Item: Hashable, Identifiable
          func received(_ item: Item, from users: [User: Int])
        }
        @MainActor open class Screen { public init() {} }
        @Forwarded public protocol ScreenDelegate: Screen {
          func shown(_ row: Int) -> Int?
          func load(_ row: Int) async -> Int?
        }
        @Forwarded public protocol RowDelegate: FeedDelegate where Item == Row {
          func received(_ item: Row, from users: [User: Int])
        }
        public nonisolated struct Row: Hashable, Identifiable { public let id: Int }
        @Forwarded(inheriting: (any FeedDelegate).self)
        public protocol TimedDelegate<Item>: FeedDelegate where Item: Hashable & Identifiable {
          func ended(_ items: Set<Item>) async throws -> Item?
        }
        @Forwarded(inheriting: (any TimedDelegate).self) public protocol TableDelegate: TimedDelegate where Item == Row {
          func closed()
        }
        public protocol Linked { associatedtype Next; var next: Next? { get set } }
        @Forwarded public protocol EngineObserver: Linked, Sendable {
          associatedtype Next = any EngineObserver
          var next: (any EngineObserver)? { get set }
        }
        @Forwarded(otherwise: .emptyValues) public protocol FieldOutput: CustomStringConvertible, Sendable {
          func contains(_ key: Int) -> Bool
        }
        @Forwarded(inheriting: (any FieldOutput).self) public protocol RowOutput: FieldOutput { func ended() }
        @Forwarded(otherwise: .emptyValues) public nonisolated protocol NamedOutput: CustomStringConvertible {
          @Answer(otherwise: "none") var description: String { get }
        }
        @Forwarded(otherwise: .emptyValues) @MainActor public protocol Fetching: Sendable {
          var state: Int { get }
          func fetch(_ user: User) async
        }
        @Forwarded(inheriting: (any Fetching).self) @MainActor public protocol GapFetching: Fetching {
          func fetchGap(_ user: User) async throws
        }
        @Forwarded protocol Room: Sendable { var id: String? { get } }
        @Forwarded(inheriting: (any Room).self) protocol InvitedRoom: Room { func reject() async -> Int? }
        @Forwarded protocol OldRoom: Room { var id: String? { get }; func leave() }
        @Forwarded(otherwise: .emptyValues) protocol Keeping: AnyObject {
          func create<Object: Codable & Sendable>(key: String, value: Object) async throws
          func set<Object: Codable & Sendable>(_ value: Object) -> Bool
        }
        @Forwarded(inheriting: (any ChatDelegate).self, (any GroupDelegate).self)
        public protocol HistoryDelegate<Entry>: ChatDelegate, GroupDelegate {
          associatedtype Entry: Hashable
          func recorded(_ entries: Set<Entry>)
        }
        public enum Search {
          public protocol Asking {}
          @Forwarded(otherwise: .emptyValues) public protocol AskDelegate: AnyObject { func mayAsk() -> Bool }
          @Forwarded public protocol QueryDelegate<Query>: AnyObject {
            associatedtype Query: Hashable, Asking
            func asked(_ query: Query, _ all: Set<Query>, _ other: (any Asking)?)
            func answer() -> [Query]?
          }
        }
        @Forwarded @MainActor public protocol OldDelegate: AnyObject {
          @available(*, deprecated) func old(_ places: [User: Int])
          func loaded(_ done: @escaping(Result<Int, any Error>) -> Void, _ more: @escaping/* so */(Int)->Void)
          func ended(_ done: @escaping()->Void)
        }
        public nonisolated struct Style: Sendable { public init(isBold: Bool = false) {} }
        @Forwarded public nonisolated protocol StyleDelegate: AnyObject {
          @Answer<Style>(otherwise: Style()) func style() -> Style
          @Answer(otherwise: Style()) var plain: Style { get }
          @Answer<Style>(otherwise: .init(isBold: true)) func bold() -> Style
          @Answer(otherwise: []) func all() -> Set<Int>
          @Answer(otherwise: [:]) func places() -> [Int: Int]
          @Answer(otherwise: nil) func one() -> Int?
        }
        open nonisolated class Page { public init() {} }
        @Forwarded public nonisolated protocol PageDelegate: Page { func turned() }
        @Forwarded(inheriting: (any PageDelegate).self) public nonisolated protocol BookDelegate: PageDelegate, Numbered {
          func closed()
        }
        public nonisolated protocol Numbered {}
        @Forwarded public nonisolated protocol SessionDelegate: URLSessionDelegate { func ended() }
        @Forwarded public nonisolated protocol RootDelegate: NSObjectProtocol { func rooted() }
        @Forwarded(inheriting: (any RootDelegate).self, (any StyleDelegate).self)
        public nonisolated protocol LeafDelegate: RootDelegate, StyleDelegate { func left() }
        @Forwarded public nonisolated protocol StoreDelegate: AnyObject {
          func saved(_ id: Int)
          @NotForwarded func merge<Value>(_ value: Value)
          @NotForwarded static func make() -> Self
          @NotForwarded init(name: String)
        }
        extension StoreDelegateProxy {
          public nonisolated func merge<Value>(_ value: Value) { for target in multicast.targets { target.merge(value) } }
          public nonisolated static func make() -> StoreDelegateProxy { StoreDelegateProxy() }
          public nonisolated convenience init(name: String) { self.init() }
        }
        """, mode.arguments)
    for wrong in ["error:", "warning: cannot specialize", "warning: converting", "warning: extraneous"] {
      expect(!said.contains(wrong), "\(said)")
    }
  }
}

/// What a module may be compiled with.
struct Mode: CustomTestStringConvertible {
  let testDescription: String
  let arguments: [String]

  private static let upcoming = [
    "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
  ]
  static let all = ["5", "6"].flatMap { version in
    [[], upcoming].flatMap { features in
      [[], ["-default-isolation", "MainActor"]].map { isolation in
        Mode(
          testDescription:
            "Swift \(version)\(features.isEmpty ? "" : ", upcoming")\(isolation.isEmpty ? "" : ", main actor")",
          arguments: ["-swift-version", version] + isolation + features.flatMap { ["-enable-upcoming-feature", $0] })
      }
    }
  }
}

/// The library as it was built with the tests.
enum Build {
  private static let folder = URL(filePath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
  private static let modules = folder.appending(path: "Modules")
  private static let attributes = folder.appending(path: "ForwardcastMacros-tool")

  static let isThere =
    Toolchain.root != nil
    && [modules.appending(path: "Forwardcast.swiftmodule"), attributes].allSatisfy {
      FileManager.default.fileExists(atPath: $0.path)
    }

  /// What the compiler says of a file that imports the library.
  static func said(of text: String, _ arguments: [String]) throws -> String {
    try Toolchain.said(
      of: text,
      [
        "-emit-sil", "-o", "/dev/null", "-module-name", "Written", "-parse-as-library", "-I", modules.path,
        "-load-plugin-executable", "\(attributes.path)#ForwardcastMacros",
      ] + arguments)
  }
}
