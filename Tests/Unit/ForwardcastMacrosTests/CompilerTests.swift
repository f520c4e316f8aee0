// CompilerTests.swift: the compiler's diagnostics of generated code, in modules of all kinds.

import Foundation
import TestSupport
import Testing

@Suite("Diagnostics of generated code", .enabled(if: Build.isThere, "it needs the library beside the tests"))
struct CompilerTests {
  @Test("only a temporary that is added weakly gets a warning")
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

  @Test("a requirement without a value for no target is one error, however the proxy is used")
  func silentRequirements() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        struct Account {}
        @Forwarded protocol LoginService: AnyObject {
          func account(named name: String) -> Account  // refused
          @Answer(.first) func size() -> Account  // refused
          func ping() -> Int?
        }
        func work(_ login: LoginServiceProxy) throws {
          let service: any LoginService = login
          let account = login.account(named: "ann")
          let sizes = try login.multicast.collect(LoginServiceProxy.Messages.size, returning: .all)
          print(service, account, sizes, login.ping() ?? 0)
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: error: (.*)/)?.output }
    expect(lines.map(\.1), equals: ["4", "5"], "\(said)")
    expect(lines.allSatisfy { $0.2.contains("there may be no target to return it") }, "\(said)")
  }

  /// Declarations that compile without a diagnostic, in one module.
  private static let accepted = [
    // In a nested protocol, a name means the enclosing type's member before the standard library's.
    """
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
    """,
    // A constraint of an associated type may be in either 'where' clause.
    """
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
    """,
    // A key has the full name of its requirement, and the name without labels if it is unique.
    """
    @Forwarded public protocol SettingsDelegate: AnyObject {
      func settingsDidChange(to value: Int)
      func page(_ id: Int, turned number: Int)
      func page()
      func link(up name: String)
      func linkUp()
      @Message("select:or:") func choose(_ a: Int, _ b: Int)
    }
    func work(_ proxy: SettingsDelegateProxy) {
      proxy.on(SettingsDelegateProxy.Messages.settingsDidChangeTo) { _ in }
      proxy.on(SettingsDelegateProxy.Messages.settingsDidChange) { _ in }
      proxy.on(SettingsDelegateProxy.Messages.pageTurned) { _, _ in }
      proxy.on(SettingsDelegateProxy.Messages.page) {}
      proxy.on(SettingsDelegateProxy.Messages.linkUp) {}
      proxy.on(SettingsDelegateProxy.Messages.link) { _ in }
      proxy.on(SettingsDelegateProxy.Messages.selectOr) { _, _ in }
      proxy.on(SettingsDelegateProxy.Messages.choose) { _, _ in }
    }
    """,
    // Shapes of real protocols and receivers compile without a diagnostic.
    """
    public struct Span: Sendable { public var length = 1 }
    @Forwarded public protocol Tracing: AnyObject { func ended(_ span: Span, in all: [Span]) -> Span? }
    @Forwarded public protocol Loading: AnyObject {
      @inlinable func load(_ id: Int)
      @inlinable var count: Int? { get }
    }
    @Forwarded protocol Feed<Item>: AnyObject { associatedtype Item: Hashable; func received(_ item: Item) }
    @Forwarded(inheriting: (any Feed).self) protocol Mixed<Other>: Feed where Item == Int, Other: Hashable {
      associatedtype Other
      func other(_ value: Other, with item: Item)
    }
    @Forwarded protocol Node: Hashable, AnyObject { func moved() }
    @Forwarded @MainActor protocol Row: Equatable, AnyObject { func moved() }
    @Forwarded protocol Named: Identifiable, AnyObject { func named() }
    @Forwarded protocol Seen: CustomDebugStringConvertible, AnyObject { func seen() }
    @Forwarded protocol Numbered: Identifiable, Comparable, AnyObject where ID == Int { func numbered() }
    extension NumberedProxy { var id: Int { 0 } }
    func < (a: NumberedProxy, b: NumberedProxy) -> Bool { false }
    @Forwarded protocol Stored: Codable, AnyObject { func stored() }
    extension StoredProxy {
      func encode(to encoder: any Encoder) throws {}
      convenience init(from decoder: any Decoder) throws { self.init() }
    }
    @Forwarded protocol Sorted: AnyObject { @NotForwarded static func == (a: Self, b: Self) -> Bool }
    extension Sorted { static func == (a: Self, b: Self) -> Bool { a === b } }

    func nodes(_ all: Set<NodeProxy>, _ mixed: MixedProxy<String>) -> Bool {
      mixed.received(1)
      mixed.other("a", with: 2)
      return all.contains(NodeProxy())
    }
    """,
    // Expressions in initial values, default arguments and attributes may contain commas, slashes and several lines.
    """
    @Receiver final class Locator {
      var places = Dictionary<String, Int>()
      let maker = { 1 } as @Sendable () -> Int
      var half: String { "\\(places.count/2)/\\(places.count/2)" }
      @Message func find(_ places: [String: Int] = Dictionary<String, Int>(), _ place: Int) {}
    }
    @Forwarded protocol Calculator: AnyObject {
      @Answer(.reduce(1, /)) func ratio() -> Double  // the quotient
      @Answer(
        otherwise: { (value: Int) -> Int in
          let double = value * 2
          return double
        }) func maker() -> (Int) -> Int
      func act(`2nd` value: Int)
    }
    enum Office {
      @Forwarded protocol Calculator: AnyObject {
        @Answer(
          otherwise: { (value: Int) -> Int in
            let double = value * 2
            return double
          }) func maker() -> (Int) -> Int
      }
    }
    """,
    // An extension's access applies to the declarations in it.
    """
    public enum Space { public enum Part {} }
    public extension Space {
      @Receiver final class Mover { @Message func move() {}; @Message public func stop() {} }
      @Forwarded protocol Moving: AnyObject { func moved(_ x: Int) -> Int? }
      struct Deep {
        @Receiver public final class Mover { @Message public func move() {} }
        @Forwarded protocol Moving: AnyObject { func moved(_ x: Int) -> Int? }
      }
    }
    fileprivate extension Space {
      @Receiver final class Sender { @Message func send() {} }
      @Forwarded protocol Sending: AnyObject { func sent(_ x: Int) -> Int? }
    }
    private extension Space.Part {
      @Receiver final class Sender { @Message func send() {} }
      @Forwarded protocol Sending: AnyObject { func sent(_ x: Int) -> Int? }
    }
    """,
    // A requirement may have a result builder, a superclass in its 'where' clause, and a parameter named like a type.
    """
    @resultBuilder enum Lines { static func buildBlock(_ lines: String...) -> [String] { lines } }
    @Forwarded protocol Printer: AnyObject {
      @Lines @Answer(.joined) func items() -> [String]
      @Lines var more: [String]? { get }
      func rows(@Lines _ rows: @escaping () -> [String])
    }
    open class Root { public init() {} }
    @Forwarded protocol Rooted where Self: Root { func rooted() }
    @Forwarded protocol Shared where Self: AnyObject, Self: Sendable { func shared() }
    @Forwarded protocol lowered: AnyObject { func find(_ loweredProxy: Int) -> Int? }
    enum outer { @Forwarded protocol Lowered: AnyObject { func find(_ outer: Int) -> Int? } }
    @Forwarded(otherwise: .emptyValuesOrTrap) protocol Inline: AnyObject { func three() -> [3 of Int] }
    func work(_ printer: PrinterProxy, _ root: RootedProxy, _ shared: SharedProxy) -> (Root, any Sendable) {
      printer.rows { "a"; "b" }
      return (root, shared)
    }
    """,
    // In a nested protocol, actors, result builders and constraints may be members of the enclosing type.
    """
    public enum Radio {
      @globalActor public actor StoreActor { public static let shared = StoreActor() }
      @globalActor public actor Sound { public static let shared = Sound() }
      @resultBuilder public enum Rows { public static func buildBlock(_ rows: Int...) -> [Int] { rows } }
      @resultBuilder public enum Many<T> { public static func buildBlock(_ all: T...) -> [T] { all } }
      public protocol Local {}
      public struct Value: Local {}
      @StoreActor @Forwarded public protocol Saving: AnyObject {
        func saved(_ x: Int) -> Int?
        func save() async throws -> Int
      }
      @Forwarded public protocol Mixing: AnyObject {
        @StoreActor func saved(_ x: Int) -> Int?
        @Radio.StoreActor func save() async throws -> Int
        @StoreActor var count: Int? { get set }
      }
      @Sound @Forwarded(isolatedTo: Sound.self) public protocol Playing: AnyObject { func played(_ x: Int) -> Int? }
      @Forwarded public protocol Filling<Item>: AnyObject where Item: Local {
        associatedtype Item
        func filled(_ x: Item) -> Item?
      }
      @Forwarded public protocol Sorting<Items, Key>: AnyObject where Key: Collection<Value> {
        associatedtype Items where Items: Collection, Items.Element: Local
        associatedtype Key
        func sorted(_ x: Items) -> Key?
        func all(@Many<Key> _ keys: @escaping () -> [Key])
      }
      @Forwarded public protocol Building: AnyObject {
        func rows(@Rows _ rows: @escaping () -> [Int])
        func many(@Many<Int> _ rows: @escaping () -> [Int])
      }
    }
    @Radio.StoreActor func work(
      _ saving: Radio.SavingProxy, _ building: Radio.BuildingProxy, _ sorting: Radio.SortingProxy<[Radio.Value], [Radio.Value]>
    ) async throws -> Int {
      building.rows { 1; 2 }
      building.many { 1; 2 }
      sorting.all { [Radio.Value()]; [Radio.Value()] }
      return try await (saving.saved(1) ?? 0) + saving.save()
    }
    """,
    // An actor of a single requirement may exist in some builds and versions only.
    """
    #if OLD_PLATFORM
    @globalActor actor PlanActor { static let shared = PlanActor() }
    #endif
    @available(macOS 99, *) @globalActor actor NewActor { static let shared = NewActor() }
    enum Platform {
      @Forwarded protocol Starting: Sendable {
        #if OLD_PLATFORM
        @PlanActor func plan(_ x: Int) async
        #endif
        @available(macOS 99, *) @NewActor func start(_ x: Int) async -> Int?
      }
    }
    """,
    // A member may be deprecated, limited to new versions, or unavailable on some platforms.
    ##"""
    @Forwarded protocol DeskDelegate: AnyObject {
      @available(macOS 99, *) @available(*, deprecated) func rose(_ height: Int)
    }
    @Receiver(.allMembers) class Desk {
      @available(tvOS, unavailable) func label() -> String { #"""# }
      @available(iOS, unavailable) @available(macCatalyst 14, *) var height: Int { get { 1 } set {} }
      @available(swift, obsoleted: 5) func stand() {}
      func sit() {}
    }
    """##,
    // A receiver may state the conformance. A nested receiver that states or inherits it may be private.
    """
    @Receiver class Engine { @Message func run() {} }
    struct Garage {
      @Receiver(inheriting: Engine.self) private final class Diesel: Engine { @Message func heat() {} }
      @Receiver private final class Electric: MessageReceiver { @Message func charge() {} }
      @Receiver private final class Hybrid: Identifiable & (Equatable & MessageReceiver) {
        @Message func switchOver() {}
        static func == (a: Hybrid, b: Hybrid) -> Bool { a === b }
      }
    }
    """,
    // A receiver's keys are visible where its messages are.
    """
    private struct Hidden {}
    @Receiver open class Heater {
      @Message public func heat(to level: Int) -> Bool { level > 1 }
      @Message var level = 3
      @Message fileprivate func hide(_ value: Hidden) {}
      @Message("choose:or:") func select(_ a: Int, _ b: String) {}
    }
    @Receiver(inheriting: Heater.self) final class Stove: Heater { @Message func bake() {} }
    @Receiver final class Box<Value> { @Message func put(_ value: Value, at place: Int) {} }
    @Receiver actor Ledger { @Message func add(_ amount: Int) -> Int { amount } }
    @Receiver final class Inbox { struct Messages {}; @Message func read() {} }

    func work(_ stove: Stove, _ box: Box<String>) throws {
      let isHot: Bool = try stove.send(Heater.Messages.heatTo, 80)
      try stove.send(Heater.Messages.setLevel, isHot ? 1 : 2)
      _ = try stove.send(Heater.Messages.heat, 80)
      try stove.send(Heater.Messages.chooseOr, 1, "a")
      try stove.send(Stove.Messages.bake)
      try box.send(Box<String>.Messages.putAt, "x", 1)
      _ = (Ledger.Messages.add, Inbox.Messages())
    }
    """,
  ]

  @Test("protocols and receivers of many shapes compile without a diagnostic")
  func accepted() throws {
    let text = (["import Forwardcast"] + Self.accepted).joined(separator: "\n")
    try expect(Build.said(of: text, ["-swift-version", "6"]), equals: "")
  }

  @Test("a refused requirement is the only error, and the other requirements are generated")
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

  @Test("the common name of overloads is the first one's key, with a warning that lists all keys")
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
    expect(lines.count { $0.2.hasPrefix("error:") }, equals: 0, "\(said)")
  }

  @Test("the error for a closure with too few parameters says that each argument needs one")
  func closureArity() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PriceListener: AnyObject, Sendable { func changed(_ id: Int, to price: Int) }
        @Forwarded protocol PageDelegate: AnyObject { func turned(_ page: Int) -> Int? }
        func work(_ prices: PriceListenerProxy, _ pages: PageDelegateProxy) {
          prices.on(PriceListenerProxy.Messages.changed) { id, _ in print(id) }
          pages.on(PageDelegateProxy.Messages.turned) { $0 }
          prices.on(PriceListenerProxy.Messages.changed) {}
          prices.on(PriceListenerProxy.Messages.changed) { id in print(id) }
          pages.on(PageDelegateProxy.Messages.turned) { 3 }
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap {
      $0.firstMatch(of: /swift:(\d+):\d+: (error|warning): (.*)/)?.output
    }
    expect(lines.map(\.1), equals: ["7", "8", "9"], "\(said)")
    expect(
      lines.allSatisfy { $0.3.contains("needs a parameter for each argument of the message; write '_'") }, "\(said)")
  }

  @Test("a closure with too many parameters, or one of another type, is refused with the reason")
  func closureParameters() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PriceListener: AnyObject, Sendable { func changed(_ id: Int, to price: Int) }
        @Forwarded protocol PageDelegate: AnyObject { func turned(_ page: Int) -> Int?; func closed() }
        typealias Prices = PriceListenerProxy.Messages
        typealias Pages = PageDelegateProxy.Messages
        func work(_ prices: PriceListenerProxy, _ pages: PageDelegateProxy) {
          pages.on(Pages.turned) { (page: Int) in page }
          pages.on(Pages.turned) { (page: Int) -> Int? in nil }
          prices.on(Prices.changed) { (id: Int, price: Int) in print(id, price) }
          pages.on(Pages.turned) { page, more in 3 }
          pages.on(Pages.closed) { page in print(page) }
          prices.on(Prices.changed) { id, price, more in print(id) }
          pages.on(Pages.turned) { (page: String) in 3 }
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap {
      $0.firstMatch(of: /swift:(\d+):\d+: (error|warning): (.*)/)?.output
    }
    expect(lines.map(\.1), equals: ["10", "11", "12", "13"], "\(said)")
    expect(lines.dropLast().allSatisfy { $0.3.contains("more parameters than the message has arguments") }, "\(said)")
    expect(lines.last?.3.contains("must have the type of the message's argument") == true, "\(said)")
  }

  @Test("a closure that suspends is refused with the form to use instead, and closures in async functions are not")
  func suspendingClosure() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PriceListener: AnyObject, Sendable { func changed(_ price: Int) }
        @Forwarded protocol PageDelegate: AnyObject { func turned(_ page: Int) -> Int? }
        func wait(_ n: Int) async {}
        func work(_ prices: PriceListenerProxy, _ pages: PageDelegateProxy) async {
          prices.on(PriceListenerProxy.Messages.changed) { print($0) }
          pages.on(PageDelegateProxy.Messages.turned, owner: pages) { _, page in page + 1 }
          prices.on(PriceListenerProxy.Messages.changed) { await wait($0) }
          pages.on(PageDelegateProxy.Messages.turned, owner: pages) { _, page in await wait(page); return page }
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap {
      $0.firstMatch(of: /swift:(\d+):\d+: (error|warning): (.*)/)?.output
    }
    expect(lines.map(\.1), equals: ["8", "9"], "\(said)")
    expect(lines.allSatisfy { $0.3.contains("a closure cannot suspend; add an object with an async") }, "\(said)")
  }

  @Test("an error that only the compiler can find is reported at the user's line with a fix")
  func located() throws {
    let cases: [(text: String, lines: Set<Substring>, advice: String)] = [
      (
        "typealias Completion = (Int) -> Void\n@Forwarded protocol A: AnyObject {\nfunc load(_ done: Completion)\n}",
        ["4"],
        "Is 'Completion' a closure? Write '@escaping Completion'."
      ),
      (
        "@Forwarded protocol A: AnyObject {\n@Answer(otherwise: \"none\") func count() -> Int\n}", ["3"],
        "cannot convert value of type 'String' to expected argument type 'Int'"
      ),
      (
        "@Receiver class A { @Message func a() {} }\n@Receiver\nfinal class B: A { @Message func b() {} }", ["3"],
        "Is 'A' a receiver? Write '@Receiver(inheriting: A.self)'."
      ),
      (
        "@Receiver class A { @Message func a() {} }\n@Receiver\nclass B: A { @Message func b() {} }", ["3"],
        "Is 'A' a receiver? Write '@Receiver(inheriting: A.self)'."
      ),
      (
        "@Forwarded\nprotocol A: Comparable, AnyObject { func a() }", ["2"],
        "Write 'func < (a: AProxy, b: AProxy) -> Bool { … }' at file scope."
      ),
      (
        "protocol A: AnyObject { func a() }\n@Forwarded\nprotocol B: A { func b() }", ["3"],
        "Mark 'A' '@Forwarded' too and write '@Forwarded(inheriting: (any A).self)' here"
      ),
      (
        "@Forwarded protocol A: AnyObject { func a() }\nfinal class B: A {}", ["3"],
        "Only 'AProxy' has this body. Implement the requirement in your class."
      ),
    ]
    for (text, lines, advice) in cases.sampled(each: 3) {
      let said = try Build.said(of: "import Forwardcast\n\(text)", ["-swift-version", "6"])
      let found = said.split(separator: "\n").compactMap {
        $0.firstMatch(of: /^[^`|]*swift:(\d+):\d+: error:/)?.output.1
      }
      expect(Set(found), equals: lines, "\(said)")
      expect(!said.contains(/expansion @\w+:\d+:\d+: error:/), "\(said)")
      expect(said.contains(advice), "\(said)")
    }
  }

  @Test("an error that the attribute cannot see is reported at the user's line with a fix")
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
    expect(said.contains("// Mark this protocol '@Forwarded' too."), "\(said)")
    expect(said.contains("Does it not conform to 'Unmarked'? Mark 'Unmarked' '@Forwarded' too"))
    expect(
      said.contains(
        "If the protocol of 'FeedProxy' has associated types, name them: 'protocol Silent<…>', or state them"))
    expect(said.contains("What does 'Item' conform to? Repeat it here: 'protocol Unbound<Item>: … where Item: …'."))
    for line in ["12", "13"] { #expect(Set(lines.filter { $0.1 == line }.map(\.2)).count == 1, "\(said)") }
    for line in ["16", "22"] {
      expect(lines.contains { $0.1 == line && $0.2.contains("main actor-isolated initializer 'init()'") }, "\(said)")
    }
  }

  /// Language modes and isolations, with the severity of a violation.
  private static let dialects: [(arguments: [String], severity: String)] = [("6", "error"), ("5", "warning")]
    .flatMap { mode, severity in
      [[], ["-default-isolation", "MainActor"]].map { (["-swift-version", mode] + $0, severity) }
    }
    .sampled(each: 3)

  /// A Sendable proxy, and values that must not be shared through it.
  private static let sharing = """
    import Forwardcast
    @Forwarded nonisolated protocol Listener: AnyObject, Sendable { func heard(_ n: Int) }
    nonisolated final class Box { var n = 0; func add(_ n: Int) { self.n += n } }
    nonisolated func heardAnywhere(_ n: Int) {}
    typealias Keys = ListenerProxy.Messages

    """

  @Test("a closure that any thread may call cannot capture values that are not Sendable")
  func captures() throws {
    let text =
      Self.sharing + """
        nonisolated func work(_ listeners: ListenerProxy, _ plain: MulticastProxy<any Listener>, _ box: Box) throws {
          listeners.on(Keys.heard) { box.n += $0 }
          plain.on(Keys.heard) { box.n += $0 }
          try listeners.before(Keys.heard) { box.n += $0 }
          try listeners.after(Keys.heard) { _, n in box.n += n }
          try listeners.around(Keys.heard) { box.n += 1; return try $0.proceed() }
          try listeners.around(Keys.heard, waiting: { box.n += 1; return try await $0.proceed() })
          try listeners.before { _ in box.n += 1 }
          try listeners.after { _, _ in box.n += 1 }
          try listeners.around { box.n += 1; return try $0.proceed() }
          try listeners.around(waiting: { box.n += 1; return try await $0.proceed() })
          listeners.on(Keys.heard) { _ in }
        }
        """
    for (arguments, severity) in Self.dialects {
      let said = try Build.said(of: text, arguments + (severity == "warning" ? ["-strict-concurrency=complete"] : []))
      expect(Self.places(of: severity, in: said, "capture of 'box'"), equals: (7...16).map(String.init), "\(said)")
    }
  }

  @Test("a function value that any thread may call must be Sendable: an error in Swift 6, a warning in Swift 5")
  func functionValues() throws {
    let text =
      Self.sharing + """
        nonisolated func work(
          _ listeners: ListenerProxy, _ plain: MulticastProxy<any Listener>, _ box: Box, _ f: @escaping (Int) -> Void,
          _ after: @escaping ([Void], Int) -> Void, _ around: @escaping (MessageCall<Void, Int>) -> [Void],
          _ waiting: nonisolated(nonsending) @escaping (WaitingMessageCall<Void, Int>) async -> [Void],
          _ boxed: @escaping (Invocation) -> Void, _ boxedAfter: @escaping ([ArgumentBox], Invocation) -> Void,
          _ boxedAround: @escaping (InvocationCall) -> [ArgumentBox]
        ) throws {
          listeners.on(Keys.heard, f)
          plain.on(Keys.heard, f)
          listeners.on(Keys.heard, box.add)
          try listeners.before(Keys.heard, f)
          try listeners.after(Keys.heard, after)
          try listeners.around(Keys.heard, around)
          try listeners.around(Keys.heard, waiting: waiting)
          try listeners.before(nil, boxed)
          try listeners.after(nil, boxedAfter)
          try listeners.around(nil, boxedAround)
        }
        nonisolated func work(_ listeners: ListenerProxy, _ f: @escaping @Sendable (Int) -> Void) throws {
          listeners.on(Keys.heard, f)
          try listeners.before(Keys.heard, f)
        }
        """
    for (arguments, severity) in Self.dialects {
      let said = try Build.said(of: text, arguments)
      // The compiler reports an error in a default argument at line 1, with a note at the call.
      expect(Self.places(of: severity, in: said, "any thread may call this function value"), equals: ["1"], "\(said)")
      let calls = Self.places(of: "note", in: said, "expanded code originates here")
      expect(calls, equals: (13...22).map(String.init), "\(said)")
      expect(said.contains(": error:"), equals: severity == "error", "\(said)")
    }
  }

  @Test("in Swift 6, main-actor and nonisolated functions can be passed by name")
  func functionReferences() throws {
    let text =
      Self.sharing + """
        @MainActor final class View {
          func show(_ n: Int) {}
          func listen(_ listeners: ListenerProxy, _ plain: MulticastProxy<any Listener>) throws {
            listeners.on(Keys.heard, show)
            plain.on(Keys.heard, show)
            listeners.on(Keys.heard, heardAnywhere)
            try listeners.before(Keys.heard, heardAnywhere)
          }
        }
        """
    for isolation in [["-default-isolation", "MainActor"], []].sampled(each: 2) {
      try expect(Build.said(of: text, ["-swift-version", "6"] + isolation), equals: "")
    }
  }

  @Test("a proxy that holds a main-actor closure cannot be sent to another actor")
  func sentAway() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol Listener: AnyObject { func heard(_ n: Int) }
        @MainActor final class View {
          var n = 0
          func work() {
            let listeners = ListenerProxy()
            listeners.on(ListenerProxy.Messages.heard) { self.n += $0 }
            Task.detached { listeners.heard(1) }
          }
        }
        """, ["-swift-version", "6"])
    expect(Self.places(of: "error", in: said, "risks causing data races"), equals: ["8"], "\(said)")
  }

  @Test("blocking calls are errors in asynchronous code, and each has an asynchronous form")
  func blocking() throws {
    let said = try Build.said(
      of: Self.sharing + """
        nonisolated func work(_ listeners: ListenerProxy) async throws {
          try listeners.drainBlocking(timeout: .seconds(1))
          _ = try listeners.collectBlocking(Keys.heard, 1, returning: .all, timeout: .seconds(1))
          _ = try listeners.forwardBlocking(Invocation("heard:"), timeout: .seconds(1))
          try await listeners.drain(timeout: .seconds(1))
          _ = try await listeners.collectAndWait(Keys.heard, 1, returning: .all, timeout: .seconds(1))
          _ = try await listeners.forwardAndWait(Invocation("heard:"), timeout: .seconds(1))
          try await listeners.broadcastWhenReady(Keys.heard, 1, timeout: .seconds(1))
        }
        nonisolated func work(_ listeners: ListenerProxy) throws {
          try listeners.drainBlocking(timeout: .seconds(1))
          _ = try listeners.collect(Keys.heard, 1, returning: .all, timeout: .seconds(1))
          _ = try listeners.forward(Invocation("heard:"), timeout: .seconds(1))
        }
        """, ["-swift-version", "6"])
    expect(
      Self.places(of: "error", in: said, "unavailable from asynchronous contexts"), equals: ["7", "8", "9"], "\(said)")
    expect(Self.places(of: "warning", in: said, "is deprecated"), equals: ["17", "18"], "\(said)")
  }

  /// The lines of diagnostics that contain `text`, each once.
  private static func places(of severity: String, in said: String, _ text: String) -> [String] {
    var lines: [String] = []
    for line in said.split(separator: "\n") {
      guard let found = line.firstMatch(of: /swift:(\d+):\d+: (\w+): (.*)/)?.output, found.2 == severity,
        found.3.contains(text), lines.last != String(found.1)
      else { continue }
      lines.append(String(found.1))
    }
    return lines
  }

  @Test(
    "delegates from real packages compile in modules of all kinds", arguments: Mode.all.reversed().sampled(each: 8))
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

/// The options of a module.
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

/// The library that was built with the tests.
enum Build {
  private static let folder = URL(filePath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
  private static let modules = folder.appending(path: "Modules")
  private static let attributes = folder.appending(path: "ForwardcastMacros-tool")

  static let isThere =
    Toolchain.root != nil
    && [modules.appending(path: "Forwardcast.swiftmodule"), attributes].allSatisfy {
      FileManager.default.fileExists(atPath: $0.path)
    }

  /// The compiler's diagnostics for a file that imports the library.
  static func said(of text: String, _ arguments: [String]) throws -> String {
    try Toolchain.said(
      of: text,
      [
        "-emit-sil", "-o", "/dev/null", "-module-name", "Written", "-parse-as-library", "-I", modules.path,
        "-load-plugin-executable", "\(attributes.path)#ForwardcastMacros",
      ] + arguments)
  }
}
