// MemberShapes.swift: properties, subscripts, names, #if, access levels.

import Forwardcast
import TestSupport
import Testing

@Forwarded protocol Properties: AnyObject {
  var name: String? { get set }
  @Answer(.sum) var size: Int { get }
  @Answer(otherwise: []) var list: [Int] { get set }
  var risky: Int? { get throws }
  var implicit: String! { get set }
  var handler: (() -> Void)? { get set }
}

@Forwarded protocol Subscripts: AnyObject {
  @Answer(.sum) subscript(index: Int) -> Int { get set }
  subscript(at row: Int, column column: Int) -> String? { get }
  @Message("keyed:") subscript(key: String) -> Double { get throws }
}

@Forwarded protocol Overloads: AnyObject {
  func mqtt(_ count: Int)
  func mqtt(_ count: Int, didReceiveMessage message: String, id: Int)
  func mqtt(_ count: Int, didPublish message: String)
  func mqtt()
}

@Forwarded protocol StatedSelectors: AnyObject {
  @Message("choose:or:") func select(_ a: Int, _ b: Int)
  @Message("choose:") func select(_ a: String)
  @Message("volume") var loudness: Int? { get set }
  @Message("cell:") subscript(index: Int) -> Int? { get set }
  @Message("odd") func `a name with blanks`()
}

@Forwarded protocol Conditions: AnyObject {
  func always()
  #if os(Windows)
    func system(_ name: Int)
  #elseif os(Linux) || os(macOS)
    func system(_ name: String)
    #if DEBUG || !DEBUG
      func nested() -> Int?
    #endif
  #else
    func system()
  #endif
}

@Forwarded protocol Availability: AnyObject {
  @available(*, deprecated, message: "no longer") func old(_ x: Int)
  @available(*, deprecated) var oldName: String? { get set }
  @available(macOS 16, iOS 19, tvOS 19, watchOS 12, visionOS 3, *) func new() -> Int?
  @available(swift 5.0) func swiftly() -> Int?
}

@Forwarded protocol Documented: AnyObject {
  /// Does it.
  ///
  /// - Parameter times: how often; "quoted" and `{ braces` too.
  func act(_ times: Int)  // } a comment /* and */ another
  /* a block { /* nested */ } */ func other( /* here */_ a: Int /* there */)
}

@Forwarded public protocol PublicShape: AnyObject {
  func act(_ x: Int) -> Int?
  var name: String? { get set }
}
@Forwarded package protocol PackageShape: AnyObject { func act(_ x: Int) -> Int? }
@Forwarded internal protocol InternalShape: AnyObject { func act(_ x: Int) -> Int? }
@Forwarded fileprivate protocol FileprivateShape: AnyObject { func act(_ x: Int) -> Int? }
@Forwarded private protocol PrivateShape: AnyObject { func act(_ x: Int) -> Int? }

enum Outer {
  @Forwarded protocol Nested: AnyObject { func act(_ x: Int) -> Int? }
  struct Inner {
    struct Size { var width = 1 }
    @Forwarded protocol Deep: AnyObject {
      typealias Number = Int
      typealias Pair<Other> = (size: Size, other: Other)
      func act(_ x: Number) -> Number?
      func pair(_ pair: Pair<Number>) -> Pair<Number>?
    }
  }
}

@Forwarded protocol Defaults: AnyObject {
  func required(_ x: Int) -> Int?
  func optional() -> Int?
}
extension Defaults {
  func optional() -> Int? { -1 }
  func twice(_ x: Int) -> Int { (required(x) ?? 0) * 2 }
}

@Forwarded protocol FacadeNames: AnyObject {
  func add(_ amount: Int)
  @Answer(.sum) var count: Int { get }
  var targets: [String]? { get }
  func remove(_ amount: Int)
  func broadcast(_ text: String)
  func collect(_ text: String) -> String?
}

@Forwarded protocol Aliases: AnyObject {
  typealias Number = Int
  func act(_ number: Number) -> Number?
}

@Forwarded protocol Empty: AnyObject {}

@Forwarded protocol Values {
  @Answer(otherwise: 0) var number: Int { get set }
  func act() -> Int?
}

@Forwarded protocol Composed: AnyObject, CustomStringConvertible { func act() -> Int? }
extension ComposedProxy { nonisolated var description: String { "composed" } }

@Suite("Shapes of members")
struct MemberShapes {
  private final class Everything: PublicShape, PackageShape, InternalShape, FileprivateShape, PrivateShape, Outer
      .Nested,
    Outer.Inner.Deep, Aliases
  {
    var name: String? = "n"
    func act(_ x: Int) -> Int? { x + 1 }
    func pair(_ pair: (size: Outer.Inner.Size, other: Int)) -> (size: Outer.Inner.Size, other: Int)? { pair }
  }

  @Test("properties are forwarded, including settable and throwing ones")
  func properties() throws {
    final class Target: Properties {
      var name: String?
      var size = 4
      var list: [Int] = [1]
      var risky: Int? { get throws { throw LoadError.late } }
      var implicit: String!
      var handler: (() -> Void)?
    }
    let proxy = PropertiesProxy()
    let (first, second) = (Target(), Target())
    expect(proxy.name == nil)
    expect(proxy.list, equals: [])
    proxy.add(first)
    proxy.add(second)
    proxy.name = "both"
    proxy.list = [5]
    proxy.list.append(6)
    proxy.implicit = "i"
    var ran = 0
    proxy.handler = { ran += 1 }
    proxy.handler?()
    expect(first.name == "both" && second.name == "both")
    expect(second.list, equals: [5, 6])
    expect(first.implicit, equals: "i")
    expect(proxy.implicit, equals: "i")
    expect(proxy.size, equals: 8)
    expect(ran, equals: 1)
    #expect(throws: LoadError.late) { try proxy.risky }
    try expect(proxy.name(returning: .all), equals: ["both", "both"])
    expect(proxy.responds(to: "setName:"))
    proxy.broadcast(PropertiesProxy.Messages.setList, [9])
    expect(first.list, equals: [9])
  }

  @Test("subscripts are forwarded, and their setters take the new value first")
  func subscripts() throws {
    final class Target: Subscripts {
      var cells = [1: 10]
      subscript(index: Int) -> Int {
        get { cells[index] ?? 0 }
        set { cells[index] = newValue }
      }
      subscript(at row: Int, column column: Int) -> String? { "\(row)/\(column)" }
      subscript(key: String) -> Double { get throws { if key.isEmpty { throw LoadError.gone } else { 2 } } }
    }
    let (proxy, target) = (SubscriptsProxy(), Target())
    #expect(throws: MessageError.self) { try proxy["x"] }
    proxy.add(target)
    proxy[2] = 5
    expect(proxy[1] == 10 && proxy[2] == 5)
    expect(proxy[at: 3, column: 4], equals: "3/4")
    try expect(proxy["x"], equals: 2)
    #expect(throws: LoadError.gone) { try proxy[""] }
    try expect(proxy[1, returning: .all], equals: [10])
    expect(proxy.responds(to: "subscript:") && proxy.responds(to: "setSubscript::"))
    expect(proxy.responds(to: "subscriptAt:column:"))
  }

  @Test("overloads have keys of all their parts")
  func overloads() {
    final class Target: Overloads {
      var log: [String] = []
      func mqtt(_ count: Int) { log.append("\(count)") }
      func mqtt(_ count: Int, didReceiveMessage message: String, id: Int) { log.append("\(count)\(message)\(id)") }
      func mqtt(_ count: Int, didPublish message: String) { log.append("\(count)\(message)") }
      func mqtt() { log.append("-") }
    }
    let (proxy, target) = (OverloadsProxy(), Target())
    proxy.add(target)
    proxy.broadcast(OverloadsProxy.Messages.mqttDidReceiveMessageId, 1, "m", 2)
    proxy.broadcast(OverloadsProxy.Messages.mqttDidPublish, 3, "p")
    proxy.mqtt(4)
    proxy.mqtt()
    expect(target.log, equals: ["1m2", "3p", "4", "-"])
  }

  @Test("requirements may state their selectors")
  func stated() {
    final class Target: StatedSelectors {
      var log: [String] = []
      var loudness: Int? = 3
      func select(_ a: Int, _ b: Int) { log.append("\(a)\(b)") }
      func select(_ a: String) { log.append(a) }
      subscript(index: Int) -> Int? {
        get { index }
        set { log.append("\(index)=\(newValue ?? 0)") }
      }
      func `a name with blanks`() { log.append("odd") }
    }
    let (proxy, target) = (StatedSelectorsProxy(), Target())
    proxy.add(target)
    proxy.select(1, 2)
    proxy.select("s")
    proxy.loudness = 5
    proxy[7] = 8
    proxy.`a name with blanks`()
    proxy.dynamic.odd()
    expect(target.log, equals: ["12", "s", "7=8", "odd", "odd"])
    expect(target.loudness, equals: 5)
    for selector in ["choose:or:", "choose:", "volume", "setVolume:", "cell:", "setCell::"] as [MessageSelector] {
      expect(proxy.responds(to: selector), "\(selector)")
    }
  }

  @Test("requirements inside #if are forwarded")
  func conditions() {
    final class Target: Conditions {
      var log: [String] = []
      func always() { log.append("always") }
      func system(_ name: String) { log.append(name) }
      func nested() -> Int? { 3 }
    }
    let (proxy, target) = (ConditionsProxy(), Target())
    proxy.add(target)
    proxy.always()
    proxy.system("here")
    expect(target.log, equals: ["always", "here"])
    expect(proxy.nested(), equals: 3)
  }

  @Test("deprecated and newly introduced requirements are forwarded")
  func availability() {
    final class Target: Availability {
      var log: [String] = []
      func old(_ x: Int) { log.append("old \(x)") }
      var oldName: String?
      func new() -> Int? { 1 }
      func swiftly() -> Int? { 2 }
    }
    let (proxy, target) = (AvailabilityProxy(), Target())
    proxy.add(target)
    proxy.dynamic.old(3)
    expect(target.log, equals: ["old 3"])
    expect(proxy.swiftly(), equals: 2)
    expect(proxy.responds(to: "setOldName:"))
  }

  @Test("comments may be anywhere in a protocol")
  func documented() {
    final class Target: Documented {
      var sum = 0
      func act(_ times: Int) { sum += times }
      func other(_ a: Int) { sum += a * 10 }
    }
    let (proxy, target) = (DocumentedProxy(), Target())
    proxy.add(target)
    proxy.act(1)
    proxy.other(2)
    expect(target.sum, equals: 21)
  }

  @Test("protocols may have every access level and be nested in types")
  func access() {
    let target = Everything()
    let (a, b, c) = (PublicShapeProxy(), PackageShapeProxy(), InternalShapeProxy())
    let (d, e) = (FileprivateShapeProxy(), PrivateShapeProxy())
    let (f, g) = (Outer.NestedProxy(), Outer.Inner.DeepProxy())
    a.add(target)
    b.add(target)
    c.add(target)
    d.add(target)
    e.add(target)
    f.add(target)
    g.add(target)
    expect([a.act(1), b.act(2), c.act(3), d.act(4), e.act(5), f.act(6), g.act(7)], equals: [2, 3, 4, 5, 6, 7, 8])
    expect(g.pair((.init(width: 2), 3))?.size.width, equals: 2)
  }

  @Test("default implementations stay callable")
  func defaults() {
    final class Target: Defaults { func required(_ x: Int) -> Int? { x } }
    let (proxy, target) = (DefaultsProxy(), Target())
    proxy.add(target)
    expect(proxy.optional(), equals: -1)
    expect(proxy.twice(4), equals: 8)
  }

  @Test("a requirement named like a member of the proxy wins, and `multicast` still has the proxy's own")
  func facadeNames() {
    final class Target: FacadeNames {
      var amount = 0
      func add(_ amount: Int) { self.amount += amount }
      var count: Int { 40 }
      var targets: [String]? { ["t"] }
      func remove(_ amount: Int) { self.amount -= amount }
      func broadcast(_ text: String) { amount += 100 }
      func collect(_ text: String) -> String? { text + "!" }
    }
    let (proxy, target) = (FacadeNamesProxy(), Target())
    proxy.add(target)
    proxy.add(5)
    proxy.remove(2)
    proxy.broadcast("x")
    expect(target.amount, equals: 103)
    expect(proxy.count, equals: 40)
    expect(proxy.multicast.count, equals: 1)
    expect(proxy.targets, equals: ["t"])
    expect(proxy.collect("c"), equals: "c!")
  }

  @Test("requirements may use type aliases of the protocol")
  func aliases() {
    let (proxy, target) = (AliasesProxy(), Everything())
    proxy.add(target)
    expect(proxy.act(1), equals: 2)
  }

  @Test("a protocol may have no requirements")
  func empty() {
    final class Target: Empty {}
    let (proxy, target) = (EmptyProxy(), Target())
    proxy.add(target)
    expect(proxy.count, equals: 1)
    withExtendedLifetime(target) {}
  }

  @Test("values may be targets: messages reach their copies, and setters change none")
  func values() {
    struct Value: Values {
      var number: Int
      func act() -> Int? { number }
    }
    final class Object: Values {
      var number = 1
      func act() -> Int? { number }
    }
    let (proxy, object) = (ValuesProxy(), Object())
    proxy.add(Value(number: 5))
    expect(proxy.act(), equals: 5)
    proxy.add(object)
    proxy.number = 8
    expect(object.number, equals: 8)
    expect(try? proxy.number(returning: .all), equals: [5, 8])
  }

  @Test("a protocol may be a composition of several")
  func composed() {
    final class Target: Composed {
      nonisolated var description: String { "target" }
      func act() -> Int? { 3 }
    }
    let (proxy, target) = (ComposedProxy(), Target())
    proxy.add(target)
    expect(proxy.act(), equals: 3)
    expect("\(proxy)", equals: "composed")
  }
}
