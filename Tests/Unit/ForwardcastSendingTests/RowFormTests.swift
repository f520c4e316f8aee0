// RowFormTests.swift: every form of a row, for each supported number of arguments.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

private final class Unshared {}

private protocol Adding: AnyObject {}

private final class Adder: Adding, MessageReceiver {
  static let selectorTable = SelectorTable(
    for: Adder.self,
    inheriting: SelectorTable(for: (any Adding).self) {
      Responds(to: Message<(Int, Int, Int) -> Int>("any:b:c:")) { _, a, b, c in a + b + c }
    }
  ) {
    Responds(to: "add:b:") { (_: Adder, a: Int, b: Int) in a + b }
    Responds(to: "add:b:c:") { (_: Adder, a: Int, b: Int, c: Int) in a + b + c }
    Responds(to: "add:b:c:d:") { (_: Adder, a: Int, b: Int, c: Int, d: Int) in a + b + c + d }
    Responds(to: "make:b:") { (_: Adder, _: Int, _: Int) in Unshared() }
    Responds(to: "make:b:c:") { (_: Adder, _: Int, _: Int, _: Int) in Unshared() }
    Responds(to: "make:b:c:d:") { (_: Adder, _: Int, _: Int, _: Int, _: Int) in Unshared() }
  }
}

private actor Counter: MessageReceiver {
  private var total = 1
  static let selectorTable = SelectorTable(for: Counter.self) {
    Responds(to: .two, isolated: { counter, a, b in counter.total + a + b })
    Responds(to: .three, isolated: { counter, a, b, c in counter.total + a + b + c })
    Responds(
      to: .four,
      isolated: { (counter: isolated Counter, a: Int, b: Int, c: Int, d: Int) in counter.total + a + b + c + d })
  }
}

@MainActor
private final class Dial: Sendable, MessageReceiver {
  private var total = 1
  nonisolated init() {}
  nonisolated static let selectorTable = SelectorTable(for: Dial.self) {
    Responds(to: .two, onMainActor: { dial, a, b in dial.total + a + b })
    Responds(to: .three, onMainActor: { dial, a, b, c in dial.total + a + b + c })
    Responds(to: .four, onMainActor: { dial, a, b, c, d in dial.total + a + b + c + d })
  }
}

private final class Slow: Sendable, MessageReceiver {
  static let selectorTable = SelectorTable(for: Slow.self) {
    Responds(to: .two, async: { _, a, b in await later(1 + a + b) })
    Responds(to: .three, async: { _, a, b, c in await later(1 + a + b + c) })
    Responds(to: .four, async: { _, a, b, c, d in await later(1 + a + b + c + d) })
  }
}

private func later(_ number: Int) async -> Int {
  await Task.yield()
  return number
}

extension Message<(Int, Int) -> Int> { fileprivate static var two: Self { .init("two:b:") } }
extension Message<(Int, Int, Int) -> Int> { fileprivate static var three: Self { .init("three:b:c:") } }
extension Message<(Int, Int, Int, Int) -> Int> { fileprivate static var four: Self { .init("four:b:c:d:") } }

@Suite("Forms of rows")
struct RowFormTests {
  @Test("a row by selector has its closure's types, and its result is Sendable if they are")
  func bySelector() throws {
    let adder = Adder()
    for (name, sum) in [("add:b:", 3), ("add:b:c:", 6), ("add:b:c:d:", 10), ("any:b:c:", 6)] {
      let selector = try MessageSelector(name)
      var call = Invocation(selector, arguments: (1...selector.numberOfArguments).map { ArgumentBox($0) })
      try adder.perform(&call)
      try expect(call.result?.unbox(as: Int.self), equals: sum)
      expect(call.result?.isSendable, equals: true)
    }
    for name in ["make:b:", "make:b:c:", "make:b:c:d:"] {
      let selector = try MessageSelector(name)
      var call = Invocation(selector, arguments: (1...selector.numberOfArguments).map { ArgumentBox($0) })
      try adder.perform(&call)
      expect(call.result?.isSendable, equals: false)
    }
    // Adjacent targets of one type share the unboxed arguments.
    let proxy = MulticastProxy<any MessageReceiver>()
    for _ in 0..<2 { proxy.add(Adder(), ownership: .strong) }
    for selector: MessageSelector in ["add:b:c:", "any:b:c:"] {
      let call = Invocation(selector, arguments: [ArgumentBox(1), ArgumentBox(2), ArgumentBox(3)])
      try expect(proxy.collect(call, returning: .all).map { try $0.unbox(as: Int.self) }, equals: [6, 6])
      #expect(throws: MessageError.self) {
        try proxy.collect(Invocation(selector, arguments: Array(call.arguments.dropLast())), returning: .all)
      }
    }
  }

  @Test("isolated and asynchronous rows take as many arguments as their keys")
  func isolated() async throws {
    for receiver: any MessageReceiver & Sendable in [Counter(), Dial(), Slow()] {
      try await expect(receiver.sendAndWait(.two, 1, 2), equals: 4)
      try await expect(receiver.sendAndWait(.three, 1, 2, 3), equals: 7)
      try await expect(receiver.sendAndWait(.four, 1, 2, 3, 4), equals: 11)
    }
  }

  @Test("the rows of a table may be chosen with if and for when it is created", arguments: [false, true])
  func chosen(isWide: Bool) {
    let rows = [Responds(to: "listed") { (_: Adder) in }]
    let table = SelectorTable(for: Adder.self) {
      if isWide { Responds(to: "wide") { (_: Adder) in } }
      if isWide {
        Responds(to: "first") { (_: Adder) in }
      } else {
        Responds(to: "second") { (_: Adder) in }
      }
      for name in ["a", "b"] where isWide || name == "a" {
        if let selector = try? MessageSelector(name) { Responds(to: selector) { (_: Adder) in } }
      }
      rows
    }
    expect(
      Set(table.selectors.map(\.name)),
      equals: isWide ? ["wide", "first", "a", "b", "listed"] : ["second", "a", "listed"])
  }
}
