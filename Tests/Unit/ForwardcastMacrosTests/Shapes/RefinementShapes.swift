// RefinementShapes.swift: refined and copied protocols, base classes and nested proxies.

import Forwardcast
import TestSupport
import Testing

@Forwarded protocol First: AnyObject {
  func first(_ x: Int)
  @Answer(.sum) var number: Int { get set }
  func risky() throws -> Int
}
@Forwarded(inheriting: (any First).self) protocol Second: First { func second() -> String? }
@Forwarded(inheriting: (any Second).self) protocol Third: Second { func third(_ x: String) }

@Forwarded protocol Side: AnyObject { func side() -> Int? }
@Forwarded(inheriting: (any First).self, (any Side).self) protocol Both: First, Side { func both() }

@Forwarded(inheriting: (any First).self, (any Side).self) protocol Listed<Item>: First, Side {
  associatedtype Item
  func listed(_ item: Item)
}

@Forwarded protocol Feed<Item>: AnyObject {
  associatedtype Item: Hashable
  func received(_ item: Item)
  func next(_ item: Item) async throws -> Item?
}
// The associated type's argument: by name, as a type in three forms, and by both.
@Forwarded(inheriting: (any Feed).self) protocol NamedFeed<Item>: Feed where Item: Hashable { func named(_ item: Item) }
@Forwarded(inheriting: (any Feed).self, (any Side).self) protocol EqualFeed: Feed, Side where Item == Int {
  func equal()
}
@Forwarded(inheriting: (any Feed<Int>).self) protocol ArgumentFeed: Feed where Item == Int { func argument() }
@Forwarded(inheriting: (any Feed).self) protocol ParentFeed: Feed<Int> { func parent() }
@Forwarded(inheriting: (any NamedFeed).self) protocol LaterFeed: NamedFeed where Item == Int { func later() }

protocol Foreign: AnyObject {
  func foreign(_ x: Int)
  func answer() -> Int?
}
@Forwarded(as: (any Foreign).self) protocol ForeignCopy: AnyObject {
  func foreign(_ x: Int)
  func answer() -> Int?
}
@Forwarded protocol Again: Foreign {
  func foreign(_ x: Int)
  func answer() -> Int?
  func more()
}

@MainActor @Forwarded protocol MainFirst: AnyObject { func first(_ x: Int) -> Int? }
@MainActor @Forwarded(inheriting: (any MainFirst).self) protocol MainSecond: MainFirst { func second() -> Int? }

@Forwarded nonisolated protocol SharedFirst: AnyObject, Sendable { func first() async throws -> Int }
@Forwarded(inheriting: (any SharedFirst).self) nonisolated protocol SharedSecond: SharedFirst { func second(_ x: Int) }

@MainActor @Forwarded protocol SharedMain: Sendable { func first(_ x: Int) async -> Int? }
@MainActor @Forwarded(inheriting: (any SharedMain).self) protocol SharedMainSecond: SharedMain { func second(_ x: Int) }

nonisolated open class Root {
  public var isRoot = true
  public init() {}
}
@Forwarded(base: Root.self) nonisolated protocol Based: AnyObject { func act() -> Int? }

@Suite("Shapes of refinement")
struct RefinementShapes {
  final class Deep: Third {
    var log: [String] = []
    var number = 4
    func first(_ x: Int) { log.append("first \(x)") }
    func risky() throws -> Int { throw LoadError.gone }
    func second() -> String? { "two" }
    func third(_ x: String) { log.append(x) }
  }

  @Test("a protocol may refine through three levels, and its proxy conforms to each of them")
  func levels() throws {
    let (proxy, target) = (ThirdProxy(), Deep())
    proxy.add(target)
    let (asFirst, asSecond): (any First, any Second) = (proxy, proxy)
    asFirst.first(1)
    asSecond.first(2)
    proxy.third("3")
    proxy.number = 6
    expect(target.log, equals: ["first 1", "first 2", "3"])
    expect(proxy.number, equals: 6)
    expect(asSecond.second(), equals: "two")
    #expect(throws: LoadError.gone) { try asFirst.risky() }
    try expect(proxy.number(returning: .all), equals: [6])
    proxy.broadcast(FirstProxy.Messages.first, 9)
    expect(target.log.last, equals: "first 9")
    expect(proxy.responds(to: "first:") && proxy.responds(to: "second") && proxy.responds(to: "third:"))
  }

  @Test("a protocol may refine two protocols")
  func both() {
    final class Target: Both {
      var log: [String] = []
      var number = 1
      func first(_ x: Int) { log.append("first \(x)") }
      func risky() throws -> Int { 1 }
      func side() -> Int? { 5 }
      func both() { log.append("both") }
    }
    let (proxy, target) = (BothProxy(), Target())
    proxy.add(target)
    (proxy as any First).first(1)
    proxy.both()
    expect((proxy as any Side).side(), equals: 5)
    expect(target.log, equals: ["first 1", "both"])
  }

  @Test("a generic class has the requirements of two refined protocols")
  func generic() {
    final class Target: Listed {
      var log: [String] = []
      var number = 1
      func first(_ x: Int) { log.append("first \(x)") }
      func risky() throws -> Int { 0 }
      func side() -> Int? { 8 }
      func listed(_ item: String) { log.append("listed \(item)") }
    }
    let (proxy, target) = (ListedProxy<String>(), Target())
    proxy.add(target)
    proxy.listed("a")
    (proxy as any First).first(2)
    expect((proxy as any Side).side(), equals: 8)
    expect(target.log, equals: ["listed a", "first 2"])
  }

  @Test("a refined protocol may have associated types, however they are bound")
  func associated() async throws {
    final class Target: EqualFeed, ArgumentFeed, ParentFeed, LaterFeed {
      var log: [String] = []
      func received(_ item: Int) { log.append("received \(item)") }
      func next(_ item: Int) async throws -> Int? { item + 1 }
      func named(_ item: Int) { log.append("named \(item)") }
      func side() -> Int? { 3 }
      func equal() { log.append("equal") }
      func argument() { log.append("argument") }
      func parent() { log.append("parent") }
      func later() { log.append("later") }
    }
    let target = Target()
    func use(_ proxy: some Feed<Int>, _ number: Int) async throws {
      proxy.received(number)
      try await expect(proxy.next(number), equals: number + 1)
    }
    let (named, equal, later) = (NamedFeedProxy<Int>(), EqualFeedProxy(), LaterFeedProxy())
    let (argument, parent) = (ArgumentFeedProxy(), ParentFeedProxy())
    named.add(target)
    equal.add(target)
    argument.add(target)
    parent.add(target)
    later.add(target)
    try await use(named, 1)
    named.named(1)
    try await use(equal, 2)
    equal.equal()
    try await use(argument, 3)
    argument.argument()
    try await use(parent, 4)
    parent.parent()
    try await use(later, 5)
    later.named(5)
    later.later()
    expect(
      target.log,
      equals: [
        "received 1", "named 1", "received 2", "equal", "received 3", "argument", "received 4", "parent", "received 5",
        "named 5", "later",
      ])
    expect((equal as any Side).side(), equals: 3)
    try await expect(named.next(1, returning: .all), equals: [2])
  }

  @MainActor final class SharedMainTarget: SharedMainSecond {
    let log = Log()
    func first(_ x: Int) async -> Int? { x + 1 }
    func second(_ x: Int) { log.note("\(x)") }
  }

  @Test("a protocol that is Sendable only through a refined one can be called from any thread")
  nonisolated func sharedElsewhere() async throws {
    let (proxy, target) = await MainActor.run { (SharedMainSecondProxy(), SharedMainTarget()) }
    proxy.add(target, delivery: .mainActor)
    proxy.broadcast(SharedMainSecondProxy.Messages.second, 5)
    try await proxy.drain()
    await expect((proxy as any SharedMain).first(1), equals: 2)
    expect(target.log.lines, equals: ["5"])
  }

  final class Stranger: Again {
    var log: [String] = []
    func foreign(_ x: Int) { log.append("\(x)") }
    func answer() -> Int? { 3 }
    func more() { log.append("more") }
  }

  @Test("the class of a copied protocol conforms to the original one")
  func copies() {
    let (proxy, target) = (ForeignCopyProxy(), Stranger())
    proxy.add(target)
    let foreign: any Foreign = proxy
    foreign.foreign(1)
    expect(foreign.answer(), equals: 3)
    expect(target.log, equals: ["1"])
  }

  @Test("requirements of a parent may be repeated")
  func again() {
    let (proxy, target) = (AgainProxy(), Stranger())
    proxy.add(target)
    (proxy as any Foreign).foreign(1)
    proxy.more()
    expect(target.log, equals: ["1", "more"])
  }

  @Test("a main-actor protocol may refine another one")
  @MainActor func main() {
    final class Target: MainSecond {
      func first(_ x: Int) -> Int? { x }
      func second() -> Int? { 2 }
    }
    let (proxy, target) = (MainSecondProxy(), Target())
    proxy.add(target)
    expect((proxy as any MainFirst).first(1), equals: 1)
    expect(proxy.second(), equals: 2)
  }

  nonisolated final class SharedTarget: SharedSecond {
    let log = Log()
    func first() async throws -> Int { 1 }
    func second(_ x: Int) { log.note("\(x)") }
  }

  @Test("a Sendable protocol may refine another one")
  func shared() async throws {
    let (proxy, target) = (SharedSecondProxy(), SharedTarget())
    proxy.add(target, delivery: .queue())
    proxy.second(5)
    try await expect((proxy as any SharedFirst).first(), equals: 1)
    try await proxy.drain()
    expect(target.log.lines, equals: ["5"])
  }

  @Test("the generated class may have a base class")
  func based() {
    final class Target: Based { func act() -> Int? { 1 } }
    let (proxy, target) = (BasedProxy(), Target())
    proxy.add(target)
    let root: Root = proxy
    expect(root.isRoot)
    expect(proxy.act(), equals: 1)
  }

  @Test("a proxy among the targets of another is transparent")
  func nested() throws {
    let (outer, inner) = (SecondProxy(), SecondProxy())
    let (first, second) = (Deep(), Deep())
    outer.add(first)
    outer.add(inner)
    inner.add(second)
    outer.first(1)
    expect(second.log, equals: ["first 1"])
    expect(outer.responds(to: "second"))
    inner.remove(second)
    outer.first(2)
    expect(first.log, equals: ["first 1", "first 2"])
    expect(second.log, equals: ["first 1"])
  }

  @Test("a typed broadcast reaches every target without a table")
  func typedCalls() {
    let proxy = MulticastProxy<any First>()
    let (first, second) = (Deep(), Deep())
    proxy.add(first)
    proxy.add(second)
    let summary = proxy.broadcast { $0.first(1) }
    expect(summary.delivered, equals: 2)
    expect(second.log, equals: ["first 1"])
  }

  @Test("the options of a generated class are those of its proxy")
  func options() {
    let proxy = FirstProxy(options: MulticastOptions(duplicates: .allowed, noResponder: .throw))
    let failures = Failures()
    proxy.onError = { failures.note($0) }
    proxy.first(1)
    expect((failures.errors.first as? MessageError)?.code, equals: .nobodyResponds)
    let target = Deep()
    proxy.add(target)
    proxy.add(target)
    proxy.first(2)
    expect(target.log, equals: ["first 2", "first 2"])
  }
}
