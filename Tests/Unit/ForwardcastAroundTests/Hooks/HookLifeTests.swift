// HookLifeTests.swift: checks at installation, and cancellation of hooks.

import Forwardcast
import TestSupport
import Testing

@Suite("Installing and canceling hooks")
struct HookLifeTests {
  let journal = Journal()

  @Test("a canceled hook does not run again, and the other hooks keep their order")
  func cancel() throws {
    let proxy = Desks.of(Desk("ann", journal))
    try proxy.before(.say) { _ in journal.write("1") }
    let second = try proxy.before(.say) { _ in journal.write("2") }
    try proxy.before(.say) { _ in journal.write("3") }
    expect(!second.isCancelled && second.selector == "say:")
    second.cancel()
    second.cancel()
    expect(second.isCancelled)
    proxy.broadcast(.say, "hello")
    expect(journal.all, equals: ["3", "1", "ann hello"])
  }

  @Test("a hook that an outer hook cancels does not run for the current message")
  func cancelOnTheWay() throws {
    let proxy = Desks.of(Desk("ann", journal))
    let inner = try proxy.before(.say) { _ in journal.write("inner") }
    let behind = try proxy.after(.say) { _, _ in journal.write("behind") }
    try proxy.before(.say) { _ in
      inner.cancel()
      behind.cancel()
    }
    proxy.broadcast(.say, "hello")
    expect(journal.all, equals: ["ann hello"])
  }

  @Test("after hooks run in the order in which they were installed, so the newest is outermost")
  func orderBehind() throws {
    let proxy = Desks.of(Desk("ann", journal))
    for number in 1...3 { try proxy.after(.say) { _, _ in journal.write("\(number)") } }
    proxy.broadcast(.say, "hello")
    expect(journal.all, equals: ["ann hello", "1", "2", "3"])
  }

  @Test("an after hook that is canceled during a message does not run for that message")
  func cancelInside() throws {
    let proxy = Desks.of(Desk("ann", journal))
    var behind: HookRegistration?
    try proxy.before(.say) { _ in behind?.cancel() }
    behind = try proxy.after(.say) { _, _ in journal.write("behind") }
    proxy.broadcast(.say, "hello")
    expect(journal.all, equals: ["ann hello"])
  }

  @Test("a hook may cancel itself and install others, which run from the next message on")
  func change() throws {
    let proxy = Desks.of(Desk("ann", journal))
    var own: HookRegistration?
    own = try proxy.before(.say) { text in
      journal.write("first \(text)")
      own?.cancel()
      try proxy.before(.say) { journal.write("second \($0)") }
    }
    proxy.broadcast(.say, "a")
    proxy.broadcast(.say, "b")
    expect(journal.all, equals: ["first a", "ann a", "second b", "ann b"])
  }

  @Test("a hook may send through its own proxy")
  func reentrance() throws {
    let proxy = Desks.of(Desk("ann", worth: 3, journal))
    try proxy.around(.quote) { call in
      let worth = try proxy.collect(.worth, returning: .sum)
      return try call.proceed(with: call.arguments + worth)
    }
    try expect(proxy.collect(.quote, 1, returning: .last), equals: 7)
  }

  @Test("a hook that sends its own message without end gets an error instead of a crash")
  func endless() throws {
    let proxy = Desks.of(Desk("ann", worth: 3, journal))
    try proxy.around(.worth) { _ in [try proxy.collect(.worth, returning: .sum)] }
    let error = try #require(throws: MessageError.self) { try proxy.collect(.worth, returning: .sum) }
    expect(error.code, equals: .tooDeep)
  }

  @Test("canceling a hook releases its captures, and so does releasing the proxy")
  func release() throws {
    final class Captured {}
    weak var first: Captured?
    weak var second: Captured?
    var handles: [HookRegistration] = []
    do {
      let proxy = Desks.of(Desk("ann", journal))
      do {
        let (one, two) = (Captured(), Captured())
        (first, second) = (one, two)
        handles.append(try proxy.before(.say) { _ in withExtendedLifetime(one) {} })
        handles.append(try proxy.before(.say) { _ in withExtendedLifetime(two) {} })
        proxy.broadcast(.say, "hello")
      }
      expect(first != nil && second != nil)
      handles[0].cancel()
      expect(first == nil && second != nil)
      withExtendedLifetime(proxy) {}
    }
    expect(second == nil)
    expect(handles[1].isCancelled)
    handles[1].cancel()
  }

  @Test("installing a hook throws if its key and its selector differ in the number of arguments")
  func count() throws {
    let proxy = Desks.of(Desk("ann", journal))
    let key = Message<(String) -> Void>("say:to:")
    for install in [
      { try proxy.before(key) { _ in } }, { try proxy.after(key) { _, _ in } }, { try proxy.around(key) { _ in [] } },
    ] {
      let error = try #require(throws: MessageError.self) { _ = try install() }
      expect(error.code == .wrongArgumentCount && error.selector == "say:to:")
    }
  }

  @Test("installing a hook whose types cannot match the method throws an error that names both types and the position")
  func types() throws {
    let proxy = Desks.of(Desk("ann", journal))
    let argument = try #require(throws: MessageError.self) {
      try proxy.before(Message<(String) -> Int>("quote:")) { _ in }
    }
    expect(argument.code == .typeMismatch && argument.argumentIndex == 0)
    let result = try #require(throws: MessageError.self) {
      try proxy.after(Message<(Int) -> String>("quote:")) { _, _ in }
    }
    expect(result.code == .typeMismatch && result.argumentIndex == nil && result.evidence.contains("result"))
  }

  @Test("a hook may use convertible types: other numbers, optionals, and any types if nobody responds yet")
  func convertible() throws {
    let proxy = Desks.of(Desk("ann", worth: 1, journal))
    try proxy.before(Message<(Int32) -> Double>("quote:")) { journal.write("Int32 \($0)") }
    try proxy.before(Message<(Int?) -> Int?>("quote:")) { journal.write("Int? \(String(describing: $0))") }
    try proxy.before(Message<(String) -> Int>("unheard:")) { _ in journal.write("never") }
    try expect(proxy.collect(.quote, 4, returning: .last), equals: 5)
    expect(journal.all, equals: ["Int? Optional(4)", "Int32 4", "ann quotes 4"])
  }

  @Test("the table of an interface checks a hook's types before any target is added")
  func interfaceTable() throws {
    let proxy = MulticastProxy<any Quoting>(
      table: SelectorTable(for: (any Quoting).self) { Responds(to: .quote) { target, amount in target.quote(amount) } })
    #expect(throws: MessageError.self) { try proxy.before(Message<(String) -> Int>("quote:")) { _ in } }
    try proxy.before(.quote) { _ in }
  }

  @Test("thousands of hooks that use no stack run, and too many that do throw an error")
  func many() throws {
    let proxy = Desks.of(Desk("ann", journal))
    for _ in 0..<2_000 { try proxy.before(.say) { _ in journal.write("x") } }
    proxy.broadcast(.say, "hello")
    expect(journal.all.count, equals: 2_001)
    for _ in 0..<bound(15_000, full: 30_000) { try proxy.around("worth") { try $0.proceed() } }
    let error = try #require(throws: MessageError.self) { try proxy.collect(.worth, returning: .sum) }
    expect(error.code, equals: .tooDeep)
  }

  @Test("a hook handle describes its hook")
  func descriptions() throws {
    let proxy = Desks()
    let one = try proxy.before(.say) { _ in }
    let all = try proxy.before { _ in }
    all.cancel()
    expect("\(one), \(all)", equals: "hook around say:, hook around every message, canceled")
  }
}

protocol Quoting: AnyObject { func quote(_ amount: Int) -> Int }
