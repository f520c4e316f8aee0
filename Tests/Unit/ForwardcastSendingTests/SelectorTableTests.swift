// SelectorTableTests.swift: added and refused rows, and the effect of table changes.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

private class Shape: MessageReceiver {
  class var selectorTable: SelectorTable { SelectorTable(for: Shape.self, rows: []) }
}
private final class Square: Shape {}
private final class Stranger: MessageReceiver {
  static let selectorTable = SelectorTable(for: Shape.self) { Responds(to: "who") { (_: Shape) in "shape" } }
}
private final class Owner: MessageReceiver {
  static let selectorTable = SelectorTable(for: Owner.self, rows: [])
  let objectTable: SelectorTable?
  init(_ table: SelectorTable) { objectTable = table }
}
private protocol Named: AnyObject { var name: String { get } }
private final class Plain: Named { let name = "plain" }
private final class Person: Named, MessageReceiver {
  let name = "ann"
  static let selectorTable = SelectorTable(
    for: Person.self, inheriting: SelectorTable(for: (any Named).self) { Responds(to: "name") { $0.name } }
  ) {
    Responds(to: "greet") { (person: Person) in "hello \(person.name)" }
  }
}

@Suite("Selector tables")
struct SelectorTableTests {
  private func code(_ body: () throws -> Void) -> MessageError.Code? {
    do { try body() } catch { return (error as? MessageError)?.code }
    return nil
  }

  @Test("a row for another selector does not replace a method")
  func replacedByAnother() throws {
    final class Sheet: MessageReceiver {
      static let selectorTable = SelectorTable(for: Sheet.self) { Responds(to: "title") { (_: Sheet) in "old" } }
    }
    let error = #expect(throws: MessageError.self) {
      try Sheet.selectorTable.replace("title") { _ in Responds(to: "titel") { (_: Sheet) in "new" } }
    }
    expect(
      error?.code == .typeMismatch && error?.description.contains("'titel'") == true, "\(error?.description ?? "")")
    expect(Sheet.selectorTable.selectors, equals: ["title"])
  }

  @Test("rows are added, replaced and removed at run time, and senders, proxies and queries notice at once")
  func changes() throws {
    let table = SelectorTable(for: Owner.self, rows: [])
    let owner = Owner(table)
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(owner)
    func check(_ answer: Int?) {
      expect(owner.responds(to: "value"), equals: answer != nil)
      expect(proxy.responds(to: "value"), equals: answer != nil)
      expect(proxy.count(for: "value"), equals: answer == nil ? 0 : 1)
      expect(try? owner.send(.value), equals: answer)
      expect(try? proxy.collect(.value, returning: .last), equals: .some(answer))
      expect(owner.methodSignature(for: "value") == nil, equals: answer == nil)
    }
    check(nil)
    try table.add(Responds(to: .value) { (_: Owner) in 1 })
    check(1)
    expect(code { try table.add(Responds(to: .value) { (_: Owner) in 9 }) }, equals: .alreadyInTable)
    check(1)
    try table.replace(Responds(to: .value) { (_: Owner) in 2 })
    check(2)
    expect(table.remove("value"))
    expect(!table.remove("value"))
    check(nil)
    try table.replace(Responds(to: .value) { (_: Owner) in 3 })
    check(3)
  }

  @Test("a change of an inherited table takes effect, and removing a row uncovers the inherited one")
  func inheritance() throws {
    let base = SelectorTable(for: Owner.self, rows: [])
    let table = SelectorTable(for: Owner.self, inheriting: base, rows: [])
    let owner = Owner(table)
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(owner)
    func value() -> Int? { (try? proxy.collect(.value, returning: .last)) ?? nil }
    expect(value() == nil)
    try base.add(Responds(to: .value) { (_: Owner) in 1 })
    expect(value(), equals: 1)
    try table.add(Responds(to: .value) { (_: Owner) in 2 })
    expect(value(), equals: 2)
    expect(table.selectors, equals: ["value"])
    table.remove("value")
    expect(value(), equals: 1)
    base.remove("value")
    expect(value() == nil)
    expect(table.selectors.isEmpty)
  }

  @Test("a limited row leaves the row that it is made from unchanged")
  func derivedRow() throws {
    let name = Message<() -> String>("name")
    let rows = [
      Responds(to: name) { (named: any Named) in named.name },
      Responds(to: "name", signature: .sample("@\"String\"@:")) { (named: any Named, call: inout Invocation) in
        call.result = ArgumentBox(named.name)
      },
    ]
    for row in rows {
      let (limited, ruled) = (row.present { _ in false }, row.answering(name, by: .first))
      func names(_ row: Responds<any Named>) throws -> [String] {
        let proxy = MulticastProxy<any Named>(table: SelectorTable(for: (any Named).self, rows: [row]))
        proxy.add(Plain(), ownership: .strong)
        return try proxy.collect(name, returning: .all)
      }
      try expect(names(row), equals: ["plain"])
      try expect(names(limited), equals: [])
      try expect(names(ruled), equals: ["plain"])
      try expect(names(limited.answering(name, by: .first)), equals: [])
    }
  }

  @Test("copies of a table are the same table")
  func copies() throws {
    let table = SelectorTable(for: Owner.self, rows: [])
    let copy = table
    try copy.add(Responds(to: .value) { (_: Owner) in 1 })
    expect(table.responds(to: "value"))
    expect(table.signature(for: "value")?.description, equals: "q@:")
    expect(table.description, equals: "- value q@:")
  }

  @Test("a row whose closure and selector differ in the number of arguments is refused")
  func arity() {
    let table = SelectorTable(for: Owner.self, rows: [])
    expect(code { try table.add(Responds(to: "a:b:") { (_: Owner, _: Int) in }) }, equals: .wrongArgumentCount)
    expect(code { try table.add(Responds(to: "a") { (_: Owner, _: Int) in }) }, equals: .wrongArgumentCount)
    expect(code { try table.add(Responds(to: "a:") { (_: Owner) in }) }, equals: .wrongArgumentCount)
    expect(
      code { try table.add(Responds(to: Message<(Int) -> Void>("a:b:")) { (_: Owner, _: Int) in }) },
      equals: .wrongArgumentCount)
    expect(
      code { try table.replace(Responds(to: "a:", signature: .sample("v@:")) { (_: Owner, _: inout Invocation) in }) },
      equals: .wrongArgumentCount)
    expect(table.selectors.isEmpty)
  }

  @Test(
    "a closure whose types differ from its encoding is refused",
    arguments: ["v@:d", "q@:q", "v@:@\"Dog\"", "v@:{Point}", "v@:B", "v@:i", "v@:Q", "v@:^q"])
  func typesAgainstEncoding(encoding: String) {
    let table = SelectorTable(for: Owner.self, rows: [])
    let row = Responds(to: "a:", signature: .sample(encoding)) { (_: Owner, _: Int) in }
    expect(code { try table.add(row) }, equals: .typeMismatch)
    expect(!table.responds(to: "a:"))
  }

  @Test(
    "a closure whose types match its encoding is added",
    arguments: ["v@:q", "v@:@", "v24@0:8q16", "v@:l", "Vv@:nq"])
  func fittingEncoding(encoding: String) throws {
    let table = SelectorTable(for: Owner.self, rows: [])
    try table.add(Responds(to: "a:", signature: .sample(encoding)) { (_: Owner, _: Int) in })
    expect(table.signature(for: "a:")?.description, equals: encoding)
  }

  @Test("a refused row is listed, does not respond, and every message with its selector throws the reason")
  func refusedRow() {
    let table = SelectorTable(for: Owner.self) {
      Responds(to: "a:") { (_: Owner) in }
      Responds(to: .value) { (_: Owner) in 1 }
    }
    let owner = Owner(table)
    expect(table.refusals.map(\.code), equals: [.wrongArgumentCount])
    expect(!owner.responds(to: "a:"))
    expect(code { try owner.send(Message<(Int) -> Void>("a:"), 1) }, equals: .wrongArgumentCount)
    expect(try? owner.send(.value), equals: 1)
    let proxy = MulticastProxy<any MessageReceiver>()
    let errors = Journal()
    proxy.onError = { errors.write("\($0.error)") }
    proxy.add(owner)
    expect(proxy.broadcast(Message<(Int) -> Void>("a:"), 1).failed, equals: 1)
    expect(
      errors.all, equals: ["wrong number of arguments for 'a:' of Owner: the row takes 0, but the selector takes 1"])
    expect(!proxy.responds(to: "a:"))
  }

  @Test("a refused row hides the same row of a further parent table")
  func refusalHidesFurtherParent() throws {
    let first = SelectorTable(for: Owner.self, rows: [])
    let second = SelectorTable(for: Owner.self) {
      Responds(to: .value) { (_: Owner) in 1 }
      Responds(to: "a:") { (_: Owner, _: Int) in "second" }
    }
    let table = SelectorTable(for: Owner.self, inheritingAll: [first, second]) {
      Responds(to: "a:") { (_: Owner) in "slip" }
    }
    let owner = Owner(table)
    try expect(owner.send(.value), equals: 1)
    expect(table.refusals.map(\.code), equals: [.wrongArgumentCount])
    expect(code { _ = try owner.send(Message<(Int) -> String>("a:"), 1) }, equals: .wrongArgumentCount)
  }

  @Test("a refused row hides the row it would override")
  func refusalHidesInherited() throws {
    let base = SelectorTable(for: Owner.self) { Responds(to: "a:") { (_: Owner, _: Int) in "base" } }
    let table = SelectorTable(for: Owner.self, inheriting: base) { Responds(to: "a:") { (_: Owner) in "slip" } }
    let owner = Owner(table)
    expect(code { _ = try owner.send(Message<(Int) -> String>("a:"), 1) }, equals: .wrongArgumentCount)
    expect(!owner.responds(to: "a:"))
    expect(!table.responds(to: "a:"))
    expect(table.selectors, equals: [])
    expect(table.method(for: "a:") == nil)
    try table.add(Responds(to: "a:") { (_: Owner, _: Int) in "right" })
    try expect(owner.send(Message<(Int) -> String>("a:"), 1), equals: "right")
    expect(table.refusals.isEmpty)
  }

  @Test("two rows with the same selector in one table are refused, and messages throw the reason")
  func duplicateRows() throws {
    let table = SelectorTable(for: Owner.self) {
      Responds(to: .value) { (_: Owner) in 1 }
      Responds(to: .value) { (_: Owner) in 2 }
    }
    expect(table.refusals.map(\.code), equals: [.alreadyInTable])
    expect(code { _ = try Owner(table).send(.value) }, equals: .alreadyInTable)
    expect(code { try table.add(Responds(to: .value) { (_: Owner) in 3 }) } == nil)
    try expect(Owner(table).send(.value), equals: 3)
  }

  @Test("a row for another target type is refused")
  func wrongTarget() {
    let table = SelectorTable(for: Shape.self, rows: [])
    expect(code { try table.add(Responds(to: "a") { (_: Stranger) in }) }, equals: .typeMismatch)
    expect(code { try table.add(Responds(to: "a") { (_: Square) in }) }, equals: .typeMismatch)
    expect(code { try table.add(Responds(to: "a") { (_: Shape) in }) } == nil)
  }

  @Test("a class that returns the table of another class throws errors and does not crash")
  func foreignTable() {
    let stranger = Stranger()
    expect(code { _ = try stranger.send(Message<() -> String>("who")) }, equals: .typeMismatch)
    expect(!stranger.responds(to: "who"))
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.onError = { _ in }
    proxy.add(stranger)
    expect(proxy.broadcast(Message<() -> String>("who")).failed, equals: 1)
    #expect(throws: MessageError.self) { try proxy.collect(Message<() -> String>("who"), returning: .all) }
  }

  @Test("if one of several rows with the same selector is wrong, none is added")
  func severalSlips() throws {
    let three = SelectorTable(for: Owner.self, rows: (1...3).map { number in Responds(to: .value) { _ in number } })
    expect(three.refusals.map(\.code), equals: [.alreadyInTable])
    expect(code { _ = try Owner(three).send(.value) }, equals: .alreadyInTable)
    let wrongFirst = SelectorTable(for: Owner.self) {
      Responds(to: "value") { (_: Owner, _: Int) in 1 }
      Responds(to: .value) { (_: Owner) in 2 }
    }
    expect(wrongFirst.refusals.map(\.code), equals: [.wrongArgumentCount])
    expect(code { _ = try Owner(wrongFirst).send(.value) }, equals: .wrongArgumentCount)
  }

  @Test("a requirement's name is listed even if it is the end of another name")
  func endingNames() {
    let table = SelectorTable(for: Owner.self, rows: []).named("uid()").named("id()").named("id()")
    expect(table.swiftNames, equals: " uid() id()")
  }

  @Test("a table cannot inherit one of a class that is not a superclass, and each selector throws the reason")
  func wrongParent() {
    let parent = SelectorTable(for: Stranger.self) {
      Responds(to: "a") { (_: Stranger) in 1 }
      Responds(to: "b") { (_: Stranger) in 1 }
    }
    let table = SelectorTable(for: Owner.self, inheriting: parent, rows: [])
    expect(table.refusals.map(\.selector), equals: ["a", "b"])
    expect(code { _ = try Owner(table).send(Message<() -> Int>("a")) }, equals: .typeMismatch)
    expect(!table.responds(to: "a"))
  }

  @Test("a class's table may inherit a protocol's table")
  func protocolParent() throws {
    try expect(Person().send(Message<() -> String>("name")), equals: "ann")
    try expect(Person().send(Message<() -> String>("greet")), equals: "hello ann")
    expect(Person.selectorTable.refusals.isEmpty)
  }

  @Test("a row inherited from a protocol's table runs only on conforming targets, however it is called")
  func protocolParentOfOthers() throws {
    let parent = SelectorTable(for: (any Named).self) { Responds(to: "name") { $0.name } }
    let table = SelectorTable(for: Owner.self, inheriting: parent, rows: [])
    let (owner, name) = (Owner(table), Message<() -> String>("name"))
    expect(code { _ = try owner.send(name) }, equals: .typeMismatch)
    expect(code { _ = try owner.sendSuper(name, from: table) }, equals: .typeMismatch)
    for method in try [#require(table.method(for: "name")), #require(table.inheritedMethod(for: "name"))] {
      expect(code { let _: String = try method.call(on: owner) }, equals: .typeMismatch)
      try expect(method.call(on: Person()), equals: "ann")
    }
  }

  @Test("values captured by a replaced or removed row are released without a lock held")
  func release() throws {
    let counter = LeakCounter()
    let table = SelectorTable(for: Owner.self, rows: [])
    final class Closing: Sendable {
      let witness: Witness
      let table: SelectorTable
      init(_ counter: LeakCounter, _ table: SelectorTable) { (witness, self.table) = (Witness(counter), table) }
      deinit { _ = table.selectors }
    }
    func row() -> Responds<Owner> {
      let held = Closing(counter, table)
      return Responds(to: .value) { (_: Owner) in withExtendedLifetime(held) { 1 } }
    }
    try table.add(row())
    expect(counter.alive, equals: 1)
    try table.replace(row())
    expect(counter.alive, equals: 1)
    table.remove("value")
    expect(counter.alive, equals: 0)
  }

  @Test("of many rows that are added and removed, exactly the present ones are found and retained")
  func manyRows() throws {
    let counter = LeakCounter()
    let table = SelectorTable(for: Owner.self, rows: [])
    let selectors = try (0..<300).map { try MessageSelector("row\($0)") }
    var there: [MessageSelector: Int] = [:]
    var random = SeededGenerator(seed: 34)
    for round in 0..<4_000 {
      // Half of the rounds fill the table, and the other half empty it.
      let selector = selectors[Int.random(in: 0..<(round % 1_000 < 500 ? 300 : 40), using: &random)]
      if Bool.random(using: &random) {
        let witness = Witness(counter)
        try table.replace(Responds(to: selector) { (_: Owner) in withExtendedLifetime(witness) { round } })
        there[selector] = round
      } else {
        expect(table.remove(selector), equals: there.removeValue(forKey: selector) != nil)
      }
      expect(counter.alive, equals: there.count)
    }
    let owner = Owner(table)
    for selector in selectors { expect(try? owner.send(Message<() -> Int>(selector)), equals: there[selector]) }
    expect(Set(table.selectors), equals: Set(there.keys))
  }

  @Test("a table that is no longer referenced releases its rows")
  func end() {
    let counter = LeakCounter()
    do {
      let witness = Witness(counter)
      let table = SelectorTable(for: Owner.self) {
        for name in ["one", "two", "three"] as [MessageSelector] {
          Responds(to: name) { (_: Owner) in withExtendedLifetime(witness) { 1 } }
        }
      }
      expect(table.selectors.count, equals: 3)
    }
    expect(counter.alive, equals: 0)
  }

  @Test("a table can be changed and queried from many threads")
  func threads() {
    let table = SelectorTable(for: Owner.self, rows: [])
    let selectors: [MessageSelector] = ["t0", "t1", "t2", "t3"]
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<200 {
        let selector = selectors[(thread + round) % selectors.count]
        try? table.add(Responds(to: selector) { (_: Owner) in round })
        _ = table.signature(for: selector)
        _ = try? Owner(table).send(Message<() -> Int>(selector))
        if round % 3 == 0 { table.remove(selector) }
      }
    }
    expect(table.refusals.isEmpty)
  }
}
