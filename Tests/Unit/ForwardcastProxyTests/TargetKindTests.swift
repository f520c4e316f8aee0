// TargetKindTests.swift: what a route decides once per class of targets, and what for each object.

import Forwardcast
import TestSupport
import Testing

private protocol Named { var name: String { get } }

private struct First: Named { let name: String }
private struct Second: Named { let name: String }

/// A class for each type argument.
private final class Holder<Held>: MessageReceiver {
  static var selectorTable: SelectorTable {
    SelectorTable(for: Holder<Held>.self) { Responds(to: .askedType) { (_: Holder<Held>) -> String in "\(Held.self)" } }
  }
}

/// Its objects may have their own tables, although a base class uses the default.
private class Plain: MessageReceiver {
  static let selectorTable = SelectorTable(for: Plain.self) {
    Responds(to: .askedType) { (_: Plain) -> String in "class" }
  }
}
private final class Special: Plain, ObjectTableOwning {
  let objectTable: SelectorTable?
  init(_ own: String?) {
    objectTable = own.map { own in
      SelectorTable(for: Special.self) { Responds(to: .askedType) { (_: Special) -> String in own } }
    }
  }
}

/// A multicast sender that is a value.
private struct Passage: MulticastSending {
  typealias Interface = any MessageReceiver
  let proxy: MulticastProxy<any MessageReceiver>
  func route(for selector: MessageSelector) -> MessageRoute { proxy.route(for: selector) }
}
extension MulticastProxy<any MessageReceiver> { fileprivate var route: Passage { Passage(proxy: self) } }

/// Named objects whose class returns another class's table.
private final class Room: MessageReceiver, NamedReceiver {
  let receiverName: String
  init(_ name: String) { receiverName = name }
  static var selectorTable: SelectorTable { Plain.selectorTable }
}

extension String {
  fileprivate func components(of word: String) -> Int {
    split(separator: word, omittingEmptySubsequences: false).count - 1
  }
}

extension Message<() -> String> { fileprivate static var askedType: Self { .init("askedType") } }

@Suite("Kinds of targets")
struct TargetKindTests {
  @Test("each object of a class is queried for a table of its own")
  func ownTables() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let bare = (0..<12).map { number in
      number.isMultiple(of: 3)
        ? BareReceiver(table: SelectorTable(for: BareReceiver.self, rows: []))
        : BareReceiver { Responds(to: .askedType) { (_: BareReceiver) -> String in "\(number)" } }
    }
    for receiver in bare { proxy.add(receiver) }
    try expect(proxy.collect(.askedType, returning: .all), equals: ["1", "2", "4", "5", "7", "8", "10", "11"])
    withExtendedLifetime(bare) {}
  }

  @Test(
    "if objects of a class may have their own tables, each is queried, whichever comes first",
    arguments: [[nil, "a", nil, "b"], ["a", nil, "b", nil], ["a", "b"], [nil, nil]])
  func mixedTables(tables: [String?]) throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let targets: [any MessageReceiver] = tables.map { Special($0) } + [Plain()]
    for target in targets { proxy.add(target) }
    let wanted = tables.map { $0 ?? "class" } + ["class"]
    try expect(proxy.collect(.askedType, returning: .all), equals: wanted)
    withExtendedLifetime(targets) {}
  }

  @Test("targets of more classes than the cache holds, interleaved, answer with their own methods")
  func manyClasses() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    func holders() -> [any MessageReceiver] {
      [
        Holder<Int>(), Holder<Int8>(), Holder<Int16>(), Holder<Int32>(), Holder<Int64>(), Holder<UInt>(),
        Holder<UInt8>(), Holder<UInt16>(), Holder<UInt32>(), Holder<UInt64>(), Holder<String>(),
      ]
    }
    let targets = holders() + holders().reversed() + holders()
    for target in targets { proxy.add(target) }
    let names = [
      "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "String",
    ]
    try expect(proxy.collect(.askedType, returning: .all), equals: names + names.reversed() + names)
    withExtendedLifetime(targets) {}
  }

  @Test("values are queried one by one, and those that no row accepts are skipped")
  func values() throws {
    let table = SelectorTable(for: (any Named).self) {
      Responds(to: .askedType) { (named: any Named) -> String in "\(type(of: named)) \(named.name)" }
    }
    let proxy = MulticastProxy<any Named>(table: table)
    for name in ["a", "b"] {
      proxy.add(First(name: name))
      proxy.add(Second(name: name))
    }
    proxy.on(.askedType) { "closure" }
    proxy.on(Message<() -> Void>("otherwise")) { () in }
    let wanted = ["First a", "Second a", "First b", "Second b", "closure"]
    try expect(proxy.collect(.askedType, returning: .all), equals: wanted)
  }

  @Test("a table for values of one type refuses values of another")
  func valuesOfOneType() {
    let table = SelectorTable(for: First.self) { Responds(to: .askedType) { (first: First) -> String in first.name } }
    let (proxy, errors) = (MulticastProxy<any Named>(table: table), Journal())
    proxy.onError = { errors.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    proxy.add(First(name: "a"))
    proxy.add(Second(name: "b"))
    let summary = proxy.broadcast(.askedType)
    expect([summary.delivered, summary.failed], equals: [1, 1])
    expect(errors.all, equals: ["type mismatch"])
  }

  @Test("each object that Swift creates for a boxed value is queried")
  func boxedValues() throws {
    struct Empty {}
    let inner = MulticastProxy<any MessageReceiver>()
    let plain = Plain()
    inner.add(plain)
    for values in [[Empty(), inner.route] as [Any], [inner.route, Empty()]] {
      let proxy = MulticastProxy<AnyObject>()
      for value in values { proxy.add(value as AnyObject, ownership: .strong) }
      try expect(proxy.collect(.askedType, returning: .all), equals: ["class"])
    }
    withExtendedLifetime(plain) {}
  }

  @Test("an error names its own target, not the first one of the class")
  func refusals() {
    let proxy = MulticastProxy<any MessageReceiver>()
    let names = Journal()
    proxy.onError = { names.write($0.receiver + ": " + "\($0.error)") }
    let targets = ["kitchen", "bar"].map { Room($0) }
    for target in targets { proxy.add(target) }
    expect(proxy.broadcast(.askedType).failed, equals: 2)
    expect(names.all.count, equals: 2)
    for (line, name) in zip(names.all, ["kitchen", "bar"]) {
      expect(line.components(of: name), equals: 3, "\(line)")
    }
    withExtendedLifetime(targets) {}
  }

  @Test("proxies, forwarding objects and objects with tables can be targets of one proxy")
  func mixed() throws {
    let (inner, outer) = (MulticastProxy<any MessageReceiver>(), MulticastProxy<any MessageReceiver>())
    let (plain, other) = (Plain(), Plain())
    let forwarding = ForwardingProxy(to: other)
    inner.add(plain)
    let targets: [any MessageReceiver] = [plain, inner, forwarding, inner, plain, forwarding, Holder<Int>()]
    for target in targets { outer.add(target) }
    // Adding a target again returns its registration.
    try expect(outer.collect(.askedType, returning: .all), equals: ["class", "class", "class", "Int"])
    withExtendedLifetime((targets, other)) {}
  }
}
