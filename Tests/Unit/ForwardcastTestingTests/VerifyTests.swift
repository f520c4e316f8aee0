// VerifyTests.swift: the texts and locations of failures.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

private typealias Says = StoreProxy.Messages

@Forwarded
private protocol Shelf: AnyObject {
  @Answer(otherwise: "") var label: String { get set }
  func open()
  func price(of item: String) throws -> Int
  func shelf(_ id: Int, didSell count: Int)
  func shelf(_ id: Int, didClose reason: String)
  func shelf(_ id: Int, isNear other: Int) throws -> Bool
}

@Suite("Verification")
struct VerifyTests {
  private let failures = FailureList()
  private let store: TestDouble<StoreProxy>
  private let log: TestDouble<LoggingProxy>
  private let madeAt: UInt

  init() {
    store = TestDouble(StoreProxy(), reporter: failures.reporter)
    madeAt = #line - 1
    log = TestDouble(LoggingProxy(), named: "Log", reporter: failures.reporter)
  }

  private var texts: [String] { failures.failures.map(\.text) }

  @Test(
    "an expectation accepts exactly the stated numbers of calls",
    arguments: [
      (CallCount.never, [0]), (.once, [1]), (2 as CallCount, [2]), (.exactly(3), [3]), (.atLeast(2), [2, 3, 4]),
      (.atMost(1), [0, 1]),
      (.between(1...2), [1, 2]),
    ])
  func counts(times: CallCount, accepted: [Int]) {
    for count in 0...4 {
      store.forgetCalls()
      for _ in 0..<count { store.proxy.save("a", count: 1) }
      store.proxy.save("b", count: 1)
      let before = failures.failures.count
      let isAccepted = store.verify(Says.save, "a", .any, times: times)
      expect(isAccepted, equals: accepted.contains(count))
      expect(failures.failures.count, equals: before + (isAccepted ? 0 : 1))
    }
  }

  @Test("a failure shows expected and actual calls side by side, and why a call does not match")
  func sideBySide() {
    store.proxy.clear()
    store.proxy.save("a", count: 3)
    store.proxy.save("b", count: 4)
    store.verify(Says.save, "a", .any, times: 2)
    expect(
      texts,
      equals: [
        """
        Store: expected 2 calls of save("a", count: any), found 1
          expected                       | actual
          2 calls: save("a", count: any) | · clear()
                                         | ✓ save("a", count: 3)
                                         | ✗ save("b", count: 4)
                                         |     argument 0 is "b", expected "a"
        """
      ])
  }

  @Test("verifyNoCalls fails if there was any call, even a verified one")
  func noCalls() {
    expect(store.verifyNoCalls())
    store.proxy.clear()
    store.verify(Says.clear)
    store.proxy.save("a", count: 1)
    expect(store.verifyNoCalls() == false)
    let line = #line - 1
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(
      texts,
      equals: [
        """
        Store: expected no calls, found 2
          expected | actual
          no call  | ✗ clear()
                   | ✗ save("a", count: 1)
        """
      ])
    store.forgetCalls()
    expect(store.verifyNoCalls())
  }

  @Test("a failure states that there were no calls, or lists the unwanted ones")
  func noneAndUnwanted() {
    store.verify(Says.clear)
    store.proxy.clear()
    store.proxy.save("a", count: 1)
    store.verify(Says.clear, times: .never)
    expect(
      texts,
      equals: [
        """
        Store: expected at least 1 call of clear(), found 0
          expected                 | actual
          at least 1 call: clear() | no calls
        """,
        """
        Store: expected no call of clear(), found 1
          expected         | actual
          no call: clear() | ✗ clear()
                           | · save("a", count: 1)
        """,
      ])
  }

  @Test("long arguments and long lists of calls are shortened")
  func shortening() {
    for index in 0..<50 { store.proxy.save(String(repeating: "x", count: index * 4) + "\n", count: index) }
    store.verify(Says.clear)
    let lines = texts.first?.split(separator: "\n") ?? []
    expect(lines.count == 43 && lines.last?.hasSuffix("| … and 10 more") == true)
    expect(lines.allSatisfy { $0.count < 140 })
  }

  @Test("a failure is reported at the line of the expectation, and a strict double's at the line that created it")
  func places() {
    store.verify(Says.clear)
    let line = #line - 1
    expect(failures.failures.last?.place.line, equals: UInt(line))
    expect(failures.failures.last?.place.fileID, equals: #fileID)
    expect(failures.failures.last?.place.filePath, equals: "\(#filePath)")
    expect(failures.failures.last?.description.hasPrefix("\(#fileID):\(line): "), equals: true)
    verifyOrder(store.call(Says.clear))
    expect(failures.failures.last?.place.line, equals: UInt(#line - 1))
    verifyNever(store.call(Says.clear), after: log.call(LoggingProxy.Messages.note, .any))
    expect(failures.failures.last?.place.line, equals: UInt(#line - 1))
    store.call(Says.clear).verify()
    expect(failures.failures.last?.place.line, equals: UInt(#line - 1))
    store.proxy.clear()
    store.verifyNoOtherCalls()
    expect(failures.failures.last?.place.line, equals: UInt(#line - 1))
    let strict = TestDouble(StoreProxy(), .strict, reporter: failures.reporter)
    strict.proxy.clear()
    expect(failures.failures.last?.place.line, equals: UInt(#line - 2))
    expect(failures.failures.count == 6 && madeAt > 0)
    expect(Set(failures.failures.map(\.place) + [failures.failures[0].place]).count, equals: 6)
  }

  @Test("a strict double reports a call without a stub as a failure that lists the stubs")
  func strict() throws {
    let store = TestDouble(StoreProxy(), .strict, reporter: failures.reporter)
    store.stub(Says.load, "a").answers("x")
    store.stub(Says.clear)
    _ = try store.proxy.load("a")
    store.proxy.clear()
    expect(texts, equals: [])
    #expect(throws: MessageError.self) { try store.proxy.load("b") }
    store.proxy.save("c", count: 1)
    expect(
      texts,
      equals: [
        """
        Store: unexpected call of load("b"), for which this strict double has no stub
          expected  | actual
          load("a") | ✓ load("a")
          clear()   | ✓ clear()
                    | ✗ load("b")
                    |     argument 0 is "b", expected "a"
        """,
        """
        Store: unexpected call of save("c", count: 1), for which this strict double has no stub
          expected  | actual
          load("a") | ✓ load("a")
          clear()   | ✓ clear()
                    | ✗ load("b")
                    |     argument 0 is "b", expected "a"
                    | ✗ save("c", count: 1)
        """,
      ])
  }

  @Test("verifyOrder finds the expected calls among others, across doubles")
  func order() {
    log.proxy.note("start")
    store.proxy.clear()
    log.proxy.note("between")
    store.proxy.save("a", count: 1)
    log.proxy.note("end")
    let (note, clear) = (LoggingProxy.Messages.note, Says.clear)
    expect(
      verifyOrder(log.call(note, "start"), store.call(clear), store.call(Says.save, .any, .any), log.call(note, .any)))
    expect(verifyOrder())
    expect(!verifyOrder(store.call(clear), log.call(note, "start")))
    expect(
      texts,
      equals: [
        """
        expected Log note("start") after Store clear(), but found no such call after it
          expected            | actual
          ✓ Store clear()     | ✗ Log note("start")
          ✗ Log note("start") |     too early
                              | ✓ Store clear()
                              | · Log note("between")
                              |     argument 0 is "between", expected "start"
                              | · Store save("a", count: 1)
                              | · Log note("end")
                              |     argument 0 is "end", expected "start"
        """
      ])
  }

  @Test("verifyOrder needs one call for each time that a call is listed")
  func orderWithRepeats() {
    log.proxy.note("a")
    log.proxy.note("a")
    let note = LoggingProxy.Messages.note
    expect(verifyOrder(log.call(note, "a"), log.call(note, "a")))
    expect(!verifyOrder(log.call(note, "a"), log.call(note, "a"), log.call(note, "a")))
    expect(!verifyOrder(log.call(note, "b")))
    expect(texts.last?.hasPrefix("expected Log note(\"b\"), which did not happen\n") == true)
  }

  @Test("verifyNever fails if a forbidden call follows another one, or if that other one is missing")
  func neverAfter() {
    let note = LoggingProxy.Messages.note
    log.proxy.note("early")
    expect(!verifyNever(log.call(note, .any), after: store.call(Says.clear)))
    store.proxy.clear()
    expect(verifyNever(log.call(note, .any), after: store.call(Says.clear)))
    log.proxy.note("late")
    expect(!verifyNever(log.call(note, .any), after: store.call(Says.clear)))
    expect(verifyNever(log.call(note, "early"), after: store.call(Says.clear)))
    expect(
      texts,
      equals: [
        """
        expected no Log note(any) after Store clear(), but Store clear() did not happen
          expected              | actual
          Store clear()         | · Log note("early")
          then no Log note(any) |
        """,
        """
        expected no Log note(any) after Store clear(), found 1
          expected              | actual
          Store clear()         | · Log note("early")
          then no Log note(any) | ✓ Store clear()
                                | ✗ Log note("late")
        """,
      ])
  }

  @Test("verifyNoOtherCalls fails for calls that no expectation verified")
  func noOtherCalls() {
    expect(store.verifyNoOtherCalls())
    store.proxy.clear()
    store.proxy.save("a", count: 1)
    store.proxy.save("b", count: 2)
    store.verify(Says.clear)
    verifyOrder(store.call(Says.save, "b", .any))
    expect(!store.verifyNoOtherCalls())
    expect(
      texts,
      equals: [
        """
        Store: expected no other calls, found 1
          expected      | actual
          no other call | ✓ clear()
                        | ✗ save("a", count: 1)
                        | ✓ save("b", count: 2)
        """
      ])
    store.verify(Says.save, "a", .any)
    expect(store.verifyNoOtherCalls())
  }

  @Test("arguments are returned with their types, and verified calls can be captured")
  func arguments() {
    store.proxy.save("a", count: 1)
    store.proxy.save("b", count: 2)
    log.proxy.note("x")
    let saved = store.arguments(of: Says.save)
    expect(saved.map(\.0) == ["a", "b"] && saved.map(\.1) == [1, 2])
    expect(log.arguments(of: LoggingProxy.Messages.note), equals: ["x"])
    expect(store.arguments(of: Says.clear).isEmpty)
    let counts = Capture<Int>()
    store.verify(Says.save, .any, .captured(by: counts))
    expect(counts.values, equals: [1, 2])
  }

  @Test("a double's calls are a recording with a description")
  func recording() throws {
    store.stub(Says.load, .any).answers("x")
    _ = try store.proxy.load("a")
    store.proxy.clear()
    expect(store.recording.description, equals: "[Store load: \"a\"] answers \"x\"\n[Store clear]")
  }

  @Test("failures show calls as in the protocol: labels, properties, overloads")
  func swiftNames() throws {
    let shelf = TestDouble(ShelfProxy(), reporter: failures.reporter)
    shelf.proxy.label = "new"
    shelf.proxy.shelf(1, didSell: 2)
    _ = shelf.proxy.label
    shelf.proxy.open()
    _ = try? shelf.proxy.price(of: "tea")
    shelf.verifyNoCalls()
    let calls = ["label = \"new\"", "shelf(1, didSell: 2)", "label", "open()", "price(of: \"tea\")"]
    for call in calls {
      expect(texts.first?.contains("| ✗ \(call)\n") == true || texts.first?.hasSuffix("✗ \(call)") == true)
    }
    expect(
      "\(shelf.call(ShelfProxy.Messages.shelfDidClose, .any, "late"))", equals: "Shelf shelf(any, didClose: \"late\")")
    expect("\(shelf.call(ShelfProxy.Messages.setLabel, .any))", equals: "Shelf label = any")
  }

  @Test("the error of a call that needs an answer and has no stub says what to write")
  func unstubbed() throws {
    let shelf = TestDouble(ShelfProxy())
    func text(_ body: () throws -> Void) throws -> String {
      "\(try #require(throws: MessageError.self) { try body() })"
    }
    let advice = "the double Shelf has no stub for the message; write double.stub(ShelfProxy.Messages."
    expect(
      try text { _ = try shelf.proxy.price(of: "tea") },
      equals: "nobody responds to 'priceOf:' of MulticastProxy<Shelf>: \(advice)price, .any).answers(…)")
    expect(
      try text { _ = try shelf.proxy.shelf(1, isNear: 2) },
      equals: "nobody responds to 'shelf:isNear:' of MulticastProxy<Shelf>: "
        + "\(advice)shelfIsNear, .any, .any).answers(…)")
    shelf.stub(ShelfProxy.Messages.price, "milk").answers(2)
    expect(
      try text { _ = try shelf.proxy.price(of: "tea") },
      equals: "nobody responds to 'priceOf:' of MulticastProxy<Shelf>: no stub of the double Shelf accepts these "
        + "arguments; its stubs are price(of: \"milk\")")
    shelf.stub(ShelfProxy.Messages.price, .any).answers(3)
    try expect(shelf.proxy.price(of: "tea"), equals: 3)
  }

  @Test("a call description counts its calls")
  func counting() {
    let calls = store.call(Says.save, .any, .where { $0 > 1 })
    expect(calls.count == 0 && "\(calls)" == "Store save(any, count: (a condition))")
    for count in 0..<4 { store.proxy.save("a", count: count) }
    expect(calls.count, equals: 2)
  }

  @Test("a failure describes only the calls that it shows")
  func describesWhatItShows() {
    final class Spoken: CustomStringConvertible {
      var count = 0
      var description: String {
        count += 1
        return "spoken"
      }
    }
    let (target, spoken) = (TestDouble(MulticastProxy<any MessageReceiver>(), reporter: failures.reporter), Spoken())
    let note = Message<(Spoken) -> Void>("note:")
    for _ in 0..<500 { target.proxy.broadcast(note, spoken) }
    target.verify(note, .any, times: .never)
    target.verify(note, .any, times: 501)
    target.verifyNoCalls()
    expect(failures.failures.count, equals: 3)
    #expect(spoken.count < 200)
  }
}
