// ArgumentShapes.swift: supported kinds of arguments.

import Forwardcast
import TestSupport
import Testing

@Forwarded protocol NoArguments: AnyObject { func ping() }

@Forwarded protocol Labels: AnyObject {
  func plain(_ a: Int)
  func labelled(a: Int, b: Int)
  func mixed(_ a: Int, for b: Int, _ c: Int)
}

@Forwarded protocol Twelve: AnyObject {
  func all(
    _ a: Int, b: String, _ c: Double, d: [Int], e: Int?, f: (Int, Int), g: Bool, h: Color, i: any Paintable, j: UInt8,
    k: Character, l: [String: [Int]])
}

@Forwarded protocol Escaping: AnyObject {
  func run(_ body: @escaping () -> Void)
  func later(_ body: @escaping @Sendable (Int) -> Int, done: (() -> Void)?)
  func check(then body: @escaping (Result<Int, any Error>) throws -> Bool)
}

@Forwarded protocol Tuples: AnyObject {
  func pair(_ both: (left: Int, right: String))
  func optional(_ pair: (Int, Int)?)
}

@Forwarded protocol Optionals: AnyObject {
  func some(_ a: Int?, _ b: [Int?]?, _ c: Int??)
  func implicit(_ a: String!)
}

@Forwarded protocol Existentials: AnyObject {
  func draw(_ a: any Paintable, _ b: (any Paintable)?, _ c: [any Paintable])
}

@Forwarded protocol Somes: AnyObject {
  func draw(_ shape: some Paintable, at place: Int)
  func both(_ left: some Paintable, _ right: some Paintable & Sendable)
}

@Forwarded protocol Generics: AnyObject {
  func set<Value>(_ value: Value, for key: String)
  func fill<Shape: Paintable, Number>(with shape: Shape, _ number: Number) async -> String?
  where Number: Numeric & Sendable
}

@Forwarded protocol Owned: AnyObject {
  func keep(_ color: consuming Color, _ name: borrowing String)
}

@Forwarded protocol Backticks: AnyObject {
  func `default`(_ `in`: Int, for loop: Int)
  func `repeat`(`inout` a: Int)
  @Answer(.sum) var `class`: Int { get }
}

@Forwarded protocol Scripts: AnyObject {
  func 你好(_ 世界: Int)
  func café(à ñ: Int)
  func 🎉(_ 🎈: String)
}

@Forwarded protocol OwnNames: AnyObject {
  func send(_ multicast: Int, _ Messages: Int, target: Int, answer: Int, policy: Int) throws -> Int
  func type(_ Output: Int, Forwardcast: Int, newValue: Int, value: Int)
}

@Forwarded protocol ModuleNames: AnyObject {
  func move(_ a: Swift.Int, _ b: Swift.Array<Swift.Optional<Swift.Int>>) -> Swift.Int?
}

@Forwarded protocol Metatypes: AnyObject { func make(_ type: Int.Type, _ other: any Paintable.Type, _ any: Any) }

private final class ArgumentTarget: NoArguments, Labels, Twelve, Tuples, Optionals, Existentials, Somes, Owned {
  var log: [String] = []
  func ping() { log.append("ping") }
  func plain(_ a: Int) { log.append("plain \(a)") }
  func labelled(a: Int, b: Int) { log.append("labelled \(a) \(b)") }
  func mixed(_ a: Int, for b: Int, _ c: Int) { log.append("mixed \(a) \(b) \(c)") }
  func all(
    _ a: Int, b: String, _ c: Double, d: [Int], e: Int?, f: (Int, Int), g: Bool, h: Color, i: any Paintable, j: UInt8,
    k: Character, l: [String: [Int]]
  ) { log.append("\(a)\(b)\(c)\(d)\(e ?? 0)\(f)\(g)\(h.shade)\(i.paint)\(j)\(k)\(l)") }
  func pair(_ both: (left: Int, right: String)) { log.append("pair \(both.left) \(both.right)") }
  func optional(_ pair: (Int, Int)?) { log.append("optional \(pair?.0 ?? 0)") }
  func some(_ a: Int?, _ b: [Int?]?, _ c: Int??) { log.append("some \(a == nil) \(b?.count ?? -1) \(c == nil)") }
  func implicit(_ a: String!) { log.append("implicit \(a ?? "nil")") }
  func draw(_ a: any Paintable, _ b: (any Paintable)?, _ c: [any Paintable]) {
    log.append("draw \(a.paint) \(b?.paint ?? "nil") \(c.count)")
  }
  func draw(_ shape: some Paintable, at place: Int) { log.append("draw \(type(of: shape)) \(place)") }
  func both(_ left: some Paintable, _ right: some Paintable & Sendable) {
    log.append("both \(left.paint) \(right.paint)")
  }
  func keep(_ color: consuming Color, _ name: borrowing String) { log.append("keep \(color.shade) \(copy name)") }
}

private final class NamedTarget: Backticks, Scripts, OwnNames, ModuleNames, Metatypes {
  var log: [String] = []
  func `default`(_ `in`: Int, for loop: Int) { log.append("default \(`in`) \(loop)") }
  func `repeat`(`inout` a: Int) { log.append("repeat \(a)") }
  var `class`: Int { 3 }
  func 你好(_ 世界: Int) { log.append("你好 \(世界)") }
  func café(à ñ: Int) { log.append("café \(ñ)") }
  func 🎉(_ 🎈: String) { log.append(🎈) }
  func send(_ multicast: Int, _ Messages: Int, target: Int, answer: Int, policy: Int) throws -> Int {
    multicast + Messages * 10 + target * 100 + answer * 1000 + policy * 10000
  }
  func type(_ Output: Int, Forwardcast: Int, newValue: Int, value: Int) {
    log.append("\(Output)\(Forwardcast)\(newValue)\(value)")
  }
  func move(_ a: Swift.Int, _ b: Swift.Array<Swift.Optional<Swift.Int>>) -> Swift.Int? { a + b.count }
  func make(_ type: Int.Type, _ other: any Paintable.Type, _ any: Any) { log.append("\(type) \(other) \(any)") }
}

@Suite("Shapes of arguments")
struct ArgumentShapes {
  private let target = ArgumentTarget()
  private let named = NamedTarget()

  @Test("a requirement without arguments is forwarded")
  func noArguments() {
    let proxy = NoArgumentsProxy()
    proxy.add(target)
    proxy.add(ArgumentTarget(), ownership: .strong)
    proxy.ping()
    proxy.dynamic.ping()
    expect(target.log, equals: ["ping", "ping"])
    expect(proxy.count, equals: 2)
  }

  @Test("labeled and unlabeled arguments are forwarded")
  func labels() {
    let proxy = LabelsProxy()
    proxy.add(target)
    proxy.plain(1)
    proxy.labelled(a: 1, b: 2)
    proxy.mixed(1, for: 2, 3)
    proxy.broadcast(LabelsProxy.Messages.mixed, 4, 5, 6)
    expect(target.log, equals: ["plain 1", "labelled 1 2", "mixed 1 2 3", "mixed 4 5 6"])
    for selector in ["plain:", "labelledWithA:b:", "mixed:for::"] as [MessageSelector] {
      expect(proxy.responds(to: selector))
    }
  }

  @Test("twelve arguments of different types are forwarded")
  func twelve() {
    let proxy = TwelveProxy()
    proxy.add(target)
    proxy.all(1, b: "b", 2, d: [3], e: nil, f: (4, 5), g: true, h: .red, i: Dot(), j: 6, k: "k", l: ["l": [7]])
    expect(target.log, equals: ["1b2.0[3]0(4, 5)true1dot6k[\"l\": [7]]"])
  }

  @Test("escaping, Sendable and optional closures are forwarded")
  func closures() {
    final class Target: Escaping {
      var called = 0
      func run(_ body: @escaping () -> Void) { body() }
      func later(_ body: @escaping @Sendable (Int) -> Int, done: (() -> Void)?) {
        called += body(20)
        done?()
      }
      func check(then body: @escaping (Result<Int, any Error>) throws -> Bool) {
        do { if try body(.success(1)) { called += 100 } } catch { called += 1000 }
      }
    }
    let (proxy, target) = (EscapingProxy(), Target())
    proxy.add(target)
    var ran = 0
    proxy.run { ran += 1 }
    proxy.later({ $0 + 1 }) { ran += 1 }
    proxy.later({ $0 }, done: nil)
    proxy.check { try $0.get() == 1 }
    proxy.check { _ in throw LoadError.gone }
    expect(ran, equals: 2)
    expect(target.called, equals: 21 + 20 + 100 + 1000)
  }

  @Test("tuples are forwarded as arguments")
  func tuples() {
    let proxy = TuplesProxy()
    proxy.add(target)
    proxy.pair((left: 1, right: "r"))
    proxy.optional((2, 3))
    proxy.optional(nil)
    expect(target.log, equals: ["pair 1 r", "optional 2", "optional 0"])
  }

  @Test("optionals, nested optionals and implicitly unwrapped optionals are forwarded")
  func optionals() {
    let proxy = OptionalsProxy()
    proxy.add(target)
    proxy.some(nil, [1, nil], .some(nil))
    proxy.implicit("x")
    proxy.implicit(nil)
    expect(target.log, equals: ["some true 2 false", "implicit x", "implicit nil"])
  }

  @Test("existentials are forwarded alone, in optionals and in arrays")
  func existentials() {
    let proxy = ExistentialsProxy()
    proxy.add(target)
    proxy.draw(Dot(), nil, [Dot(), Dot()])
    expect(target.log, equals: ["draw dot nil 2"])
  }

  @Test("a 'some' argument is sent as 'any' and opened at the target")
  func somes() {
    let proxy = SomesProxy()
    proxy.add(target)
    proxy.draw(Dot(), at: 3)
    proxy.both(Dot(), Dot())
    proxy.broadcast(SomesProxy.Messages.draw, Dot(), 4)
    expect(target.log, equals: ["draw Dot 3", "both dot dot", "draw Dot 4"])
  }

  @Test("a generic parameter that only one argument uses keeps its type at the target")
  func generics() async {
    final class Target: Generics {
      var log: [String] = []
      func set<Value>(_ value: Value, for key: String) { log.append("\(key) \(Value.self) \([value].count)") }
      func fill<Shape: Paintable, Number: Numeric & Sendable>(with shape: Shape, _ number: Number) async -> String? {
        "\(Shape.self) \(number + number)"
      }
    }
    let (proxy, target) = (GenericsProxy(), Target())
    proxy.add(target)
    proxy.set(3, for: "a")
    (proxy as any Generics).set([Dot()], for: "b")
    proxy.broadcast(GenericsProxy.Messages.set, "x", "c")
    expect(target.log, equals: ["a Int 1", "b Array<Dot> 1", "c String 1"])
    expect(await proxy.fill(with: Dot(), 2), equals: "Dot 4")
  }

  @Test("copyable consuming and borrowing arguments are forwarded")
  func owned() {
    let proxy = OwnedProxy()
    proxy.add(target)
    proxy.keep(.red, "n")
    expect(target.log, equals: ["keep 1 n"])
  }

  @Test("requirements may have names in backticks")
  func backticks() {
    let proxy = BackticksProxy()
    proxy.add(named)
    proxy.default(1, for: 2)
    proxy.repeat(`inout`: 3)
    proxy.broadcast(BackticksProxy.Messages.default, 4, 5)
    expect(named.log, equals: ["default 1 2", "repeat 3", "default 4 5"])
    expect(proxy.class, equals: 3)
  }

  @Test("requirements may have names in any script")
  func scripts() {
    let proxy = ScriptsProxy()
    proxy.add(named)
    proxy.你好(1)
    proxy.café(à: 2)
    proxy.🎉("🎂")
    proxy.dynamic.你好(3)
    expect(named.log, equals: ["你好 1", "café 2", "🎂", "你好 3"])
  }

  @Test("arguments may be named like identifiers of the generated code")
  func ownNames() throws {
    let proxy = OwnNamesProxy()
    proxy.add(named)
    try expect(proxy.send(1, 2, target: 3, answer: 4, policy: 5), equals: 54321)
    try expect(proxy.send(1, 2, target: 3, answer: 4, policy: 5, returning: .all), equals: [54321])
    proxy.type(1, Forwardcast: 2, newValue: 3, value: 4)
    expect(named.log, equals: ["1234"])
  }

  @Test("types may be written with their module")
  func moduleNames() {
    let proxy = ModuleNamesProxy()
    proxy.add(named)
    expect(proxy.move(1, [nil, 2]), equals: 3)
  }

  @Test("metatypes and Any are forwarded")
  func metatypes() {
    let proxy = MetatypesProxy()
    proxy.add(named)
    proxy.make(Int.self, Dot.self, 7)
    expect(named.log, equals: ["Int Dot 7"])
  }
}
