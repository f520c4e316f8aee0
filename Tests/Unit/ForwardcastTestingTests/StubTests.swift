// StubTests.swift: the answers of doubles.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

private typealias Says = StoreProxy.Messages

@Suite("Stubs")
struct StubTests {
  private let failures = FailureList()
  private let store: TestDouble<StoreProxy>
  private var proxy: any Store { store.proxy }

  init() { store = TestDouble(StoreProxy(), reporter: failures.reporter) }

  @Test("a nice double answers like its proxy when nobody responds")
  func nice() throws {
    let error = #expect(throws: MessageError.self) { try proxy.load("a") }
    expect(error?.code, equals: .nobodyResponds)
    proxy.save("a", count: 1)
    expect(proxy.mayClose())
    expect(proxy.title, equals: "untitled")
    expect(proxy.find("a") == nil)
    expect(store.calls.map { "\($0)" }.count == 5 && failures.failures.isEmpty)
  }

  @Test("a stub answers only calls with equal arguments")
  func equal() throws {
    store.stub(Says.load, "a").answers("text")
    try expect(proxy.load("a"), equals: "text")
    #expect(throws: MessageError.self) { try proxy.load("b") }
  }

  @Test("any value, a condition, nil and a value in a variable match the stated arguments")
  func matches() {
    store.stub(Says.find, .any).answers(["any"])
    store.stub(Says.find, nil).answers(["nil"])
    store.stub(Says.find, .where("longer than 3") { ($0?.count ?? 0) > 3 }).answers(["long"])
    let name = "abcde"
    store.stub(Says.find, .equal(name)).answers([])
    expect(proxy.find("abc"), equals: ["any"])
    expect(proxy.find(nil), equals: ["nil"])
    expect(proxy.find("abcd"), equals: ["long"])
    expect(proxy.find("abcde"), equals: [])
  }

  @Test("numbers and Booleans match their literals, and other arguments do not")
  func literals() throws {
    let mix = Message<(Bool, Double) -> Int>("mix:by:")
    store.stub(mix, true, 0.5).answers(1)
    store.stub(mix, false, 2).answers(2)
    try expect(store.proxy.send(mix, true, 0.5), equals: 1)
    try expect(store.proxy.send(mix, false, 2), equals: 2)
    #expect(throws: MessageError.self) { try store.proxy.send(mix, true, 2) }
    let captured = Capture<Int>()
    store.stub(Message<(Int) -> Int>("mix:"), .captured(by: captured)).answers(3)
    #expect(throws: MessageError.self) { try store.proxy.send(Message<(String) -> Int>("mix:"), "x") }
    expect(captured.values.isEmpty)
  }

  @Test("the stub that was added last comes first")
  func lastStubFirst() throws {
    store.stub(Says.load, "a").answers("first")
    store.stub(Says.load, .any).answers("second")
    try expect(proxy.load("a"), equals: "second")
    store.removeStubs()
    #expect(throws: MessageError.self) { try proxy.load("a") }
  }

  @Test("outcomes of a stub are used in order, and the last one repeats")
  func sequences() throws {
    store.stub(Says.load, .any).fails(Busy()).answers("one", "two").runs { "\($0)!" }
    #expect(throws: Busy.self) { try proxy.load("a") }
    try expect(proxy.load("a"), equals: "one")
    try expect(proxy.load("a"), equals: "two")
    try expect(proxy.load("a"), equals: "a!")
    try expect(proxy.load("b"), equals: "b!")
  }

  @Test("a closure receives the arguments, may throw, and may capture values that are not Sendable")
  func closures() throws {
    var seen: [String] = []
    store.stub(Says.load, .any).runs { name in
      seen.append(name)
      if name == "z" { throw NotFound(name: name) }
      return name.uppercased()
    }
    store.stub(Says.save, .any, .any).runs { name, count in seen.append("\(name)\(count)") }
    try expect(proxy.load("a"), equals: "A")
    proxy.save("b", count: 2)
    #expect(throws: NotFound(name: "z")) { try proxy.load("z") }
    expect(seen, equals: ["a", "b2", "z"])
  }

  @Test("a stub captures only the arguments of calls that it answers")
  func captures() throws {
    let names = Capture<String>()
    let short = Capture<String>()
    store.stub(Says.load, .captured(by: names)).answers("x")
    store.stub(Says.load, .captured(by: short, .where { $0.count < 2 })).answers("y")
    expect(try proxy.load("abc") == "x" && proxy.load("d") == "y" && proxy.load("ef") == "x")
    expect(names.values == ["abc", "ef"] && names.last == "ef")
    expect(short.values, equals: ["d"])
  }

  @Test("an error of a requirement that cannot throw goes to the proxy's onError")
  func errorsThatCannotBeThrown() {
    let seen = Capture<String>()
    store.proxy.onError = { failure in Recorded.keep("\(failure.error)", in: seen) }
    store.stub(Says.mayClose).fails(Busy())
    expect(!proxy.mayClose())
    expect(seen.values, equals: ["Busy()"])
  }

  @Test("an error of a stub that neither the caller nor onError can receive is a failure at the stub")
  func lostErrors() throws {
    store.stub(Says.save, .any, 1).fails(Busy())
    let line = UInt(#line) - 1
    store.stub(Says.mayClose).fails(NotFound(name: "door"))
    store.stub(Says.load, .any).fails(Busy())
    #expect(throws: Busy.self) { try proxy.load("a") }
    #expect(throws: NotFound.self) { try store.proxy.send(Says.mayClose) }
    expect(failures.failures.isEmpty)
    proxy.save("a", count: 1)
    expect(!proxy.mayClose())
    let advice = "make the requirement throw, stub an answer, or set onError of the double's proxy"
    expect(
      failures.failures.map(\.text),
      equals: [
        "Store: save(any, count: 1) is stubbed with the error Busy(), but the caller cannot receive it; \(advice)",
        "Store: mayClose() is stubbed with the error NotFound(name: \"door\"), but the caller cannot receive it; \(advice)",
      ])
    expect(failures.failures.map(\.place.line), equals: [line, line + 2])
    store.proxy.onError = { _ in }
    proxy.save("a", count: 1)
    expect(failures.failures.count, equals: 2)
  }

  @Test("an error of the real object is reported as such after a stub of the same message has failed")
  func lostErrorsOfRealObjects() throws {
    store.fallsBack(to: RealStore())
    store.stub(Says.load, "a").fails(Busy())
    store.stub(Says.load, "c").fails(NotFound(name: "b"))
    #expect(throws: Busy.self) { try proxy.load("a") }
    #expect(throws: NotFound(name: "b")) { try proxy.load("c") }
    store.proxy.broadcast(Says.load, "b")
    expect(
      failures.failures.map(\.text),
      equals: [
        "Store: 'load:' failed with NotFound(name: \"b\"), but the caller cannot receive the error; make the "
          + "requirement throw, or set onError of the double's proxy"
      ])
  }

  @Test("of two calls that fail at the same time with equal errors, each is a failure at its own stub")
  func errorsOfCallsInProgress() throws {
    store.stub(Says.find, .equal("a")).fails(Busy())
    store.stub(Says.find, .equal("b")).fails(Busy())
    let line = UInt(#line) - 1
    try store.proxy.around(Says.find) { [proxy] call in
      do { return try call.proceed() } catch {
        if call.arguments == "a" { _ = proxy.find("b") }
        throw error
      }
    }
    expect(proxy.find("a") == nil)
    expect(failures.failures.map(\.place.line), equals: [line, line - 1])
  }

  @Test("a double does not retain the error of a call that has ended")
  func errorsAreReleased() {
    final class Evidence: Error {}
    weak var error: Evidence?
    store.stub(Says.load, .any).runs { _ in
      let evidence = Evidence()
      error = evidence
      throw evidence
    }
    #expect(throws: Evidence.self) { try proxy.load("a") }
    expect(error == nil)
  }

  @Test("an error of a stub that the handler of an outer proxy receives is no failure", arguments: [false, true])
  func errorsOfNestedDoubles(isDirectFirst: Bool) {
    let (outer, seen) = (StoreProxy(), Capture<String>())
    outer.onError = { failure in Recorded.keep("\(failure)", in: seen) }
    outer.add(store.proxy)
    store.stub(Says.clear).fails(Busy())
    if isDirectFirst { proxy.clear() }
    outer.clear()
    expect(seen.values, equals: ["'clear' failed in the double Store: Busy()"])
    expect(failures.failures.count, equals: isDirectFirst ? 1 : 0)
  }

  @Test("properties are stubbed by their keys, and answers are combined by the requirement's rule")
  func properties() {
    store.stub(Says.title).answers("stubbed")
    store.stub(Says.mayClose).answers(false, true)
    expect(proxy.title, equals: "stubbed")
    proxy.title = "new"
    expect(!proxy.mayClose() && proxy.mayClose())
    expect(store.calls.map(\.selector), equals: ["title", "setTitle:", "mayClose", "mayClose"])
  }

  @Test("a call without a stub goes to the real object and is recorded with its answer or error")
  func partial() throws {
    let real = RealStore()
    store.fallsBack(to: real)
    store.stub(Says.load, "stubbed").answers("text")
    store.stub(Says.load, "twice").fails(Busy()).fallsBack()
    proxy.save("a", count: 3)
    proxy.save("twice", count: 2)
    expect(try proxy.load("a") == "a 3" && proxy.load("stubbed") == "text")
    #expect(throws: NotFound(name: "b")) { try proxy.load("b") }
    #expect(throws: Busy.self) { try proxy.load("twice") }
    try expect(proxy.load("twice"), equals: "twice 2")
    expect(!proxy.mayClose() && proxy.title == "real" && proxy.find("x") == ["x"])
    expect(store.calls[4].error?.description, equals: "NotFound(name: \"b\")")
    try expect(store.calls[2].answer?.unbox(as: String.self), equals: "a 3")
    // A second real object replaces the first.
    store.fallsBack(to: RealStore())
    #expect(throws: NotFound.self) { try proxy.load("a") }
    proxy.save("c", count: 1)
    #expect(throws: NotFound.self) { try real.load("c") }
  }

  @Test("a double retains the real object that it falls back to")
  func realObjectsAreKept() throws {
    weak var weakReal: RealStore?
    do {
      let real = RealStore()
      weakReal = real
      store.fallsBack(to: real)
    }
    expect(weakReal != nil)
    proxy.save("a", count: 1)
    try expect(proxy.load("a"), equals: "a 1")
  }

  @Test("arguments of any type match: existentials, closures, objects, collections, tuples, errors")
  func unusualArguments() throws {
    let workshop = TestDouble(WorkshopProxy(), .strict, reporter: failures.reporter)
    let hammer = Hammer()
    var done: [Int] = []
    workshop.stub(WorkshopProxy.Messages.use, .where("a saw") { $0 is Saw }, .any).runs { _, done in done(1) }
    workshop.stub(WorkshopProxy.Messages.use, .where("a hammer") { $0 is Hammer }, .any).runs { _, done in done(2) }
    workshop.stub(WorkshopProxy.Messages.report, .where("busy") { $0 is Busy })
    workshop.stub(WorkshopProxy.Messages.keep, .same(as: hammer))
    workshop.stub(WorkshopProxy.Messages.sum, [1, 2], .equal(["a": 0.5]), .where { $0 == (1, 2) }).answers(3)
    workshop.proxy.use(Saw()) { done.append($0) }
    workshop.proxy.use(hammer) { done.append($0 * 10) }
    workshop.proxy.report(Busy())
    workshop.proxy.keep(hammer)
    try expect(workshop.proxy.sum([1, 2], table: ["a": 0.5], pair: (1, 2)), equals: 3)
    expect(done == [1, 20] && failures.failures.isEmpty)
    workshop.proxy.keep(Hammer())
    #expect(throws: MessageError.self) { try workshop.proxy.sum([1], table: [:], pair: (1, 2)) }
    expect(failures.failures.count, equals: 2)
  }

  @Test("a refined protocol's double accepts the keys of both protocols")
  func refinement() {
    let log = TestDouble(LeveledLoggingProxy(), .strict, reporter: failures.reporter)
    log.stub(LoggingProxy.Messages.note, "a")
    log.stub(LeveledLoggingProxy.Messages.raise, 2)
    let proxy: any Logging = log.proxy
    proxy.note("a")
    log.proxy.raise(2)
    expect(failures.failures.isEmpty)
    log.proxy.raise(3)
    expect(failures.failures.count, equals: 1)
  }

  @Test("a hand-written proxy can be doubled without a table")
  func handWritten() throws {
    let printer = TestDouble(MulticastProxy<any Printer>(), reporter: failures.reporter)
    expect(
      printer.proxy.nobodyResponds(to: "print:").evidence,
      equals: "the double Printer has no stub for the message; write double.stub(its key, .any).answers(…)")
    expect(printer.name, equals: "Printer")
    let proxy: any Printer = printer.proxy
    proxy.print("a")
    #expect(throws: MessageError.self) { try proxy.pages() }
    printer.stub(.pages).answers(3)
    printer.stub(.printPage, "bad").fails(Busy())
    try expect(proxy.pages(), equals: 3)
    let seen = Capture<String>()
    printer.proxy.onError = { failure in Recorded.keep("\(failure.error)", in: seen) }
    proxy.print("bad")
    expect(seen.values, equals: ["Busy()"])
    printer.verify(.printPage, .any, times: 2)
    expect(failures.failures.isEmpty)
  }

  @Test("a hand-written proxy falls back to a real object through its table")
  func handWrittenPartial() throws {
    let table = SelectorTable(for: (any Printer).self) {
      Responds(to: .printPage) { $0.print($1) }
      Responds(to: .pages) { try $0.pages() }
    }
    let printer = TestDouble(MulticastProxy<any Printer>(table: table), .strict, reporter: failures.reporter)
    let real = RealPrinter()
    printer.fallsBack(to: real)
    printer.stub(.printPage, "secret").succeeds()
    printer.stub(.printPage, "b")  // no outcome: the call falls back
    printer.proxy.print("a")
    printer.proxy.print("secret")
    printer.proxy.print("b")
    expect(try real.printed == ["a", "b"] && printer.proxy.pages() == 2)
    expect(failures.failures.isEmpty)
  }

  @Test("the code under test may retain the proxy or not, and may outlive the double")
  func lifetimes() throws {
    var other: TestDouble<StoreProxy>? = TestDouble(StoreProxy())
    other?.stub(Says.load, .any).answers("x")
    let proxy = try #require(other?.proxy)
    other = nil
    try expect(proxy.load("a"), equals: "x")
    weak var gone: StoreProxy?
    do {
      let double = TestDouble(StoreProxy())
      gone = double.proxy
      withExtendedLifetime(double) {}
    }
    expect(gone == nil)
  }
}

/// Keeps values for closures that may run anywhere.
enum Recorded {
  static func keep(_ text: String, in capture: Capture<String>) {
    // A capture is filled only by matching a call.
    let double = TestDouble(LoggingProxy())
    double.proxy.note(text)
    double.verify(LoggingProxy.Messages.note, .captured(by: capture))
  }
}
