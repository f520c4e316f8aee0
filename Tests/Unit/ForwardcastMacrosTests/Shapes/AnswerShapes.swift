// AnswerShapes.swift: rules that combine results, and empty values.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Forwarded protocol LastAnswers: AnyObject {
  func maybe() -> Int?
  func must() throws -> Int
  @Answer(otherwise: 7) func stated() -> Int
  @Answer(.last, otherwise: 9) func statedOptional() -> Int?
}

@Forwarded protocol FirstAnswers: AnyObject {
  @Answer(.first) func maybe() -> Int?
  @Answer(.first) func must() throws -> Int
  @Answer(.first, otherwise: 7) func stated() -> Int
}

@Forwarded protocol ValueAnswers: AnyObject {
  @Answer(.lastValue) func last() -> Int?
  @Answer(.firstValue) func first() -> Int?
  @Answer(.lastValue, otherwise: 5) func stated() -> Int?
}

@Forwarded protocol BoolAnswers: AnyObject {
  @Answer(.any) func anybody() -> Bool
  @Answer(.every) func everybody() -> Bool
  @Answer(.every, otherwise: false) func statedEverybody() -> Bool
}

@Forwarded protocol NumberAnswers: AnyObject {
  @Answer(.sum) func sum() -> Double
  @Answer(.sum, otherwise: -1) func statedSum() -> Int
  @Answer(.min) func min() throws -> Int
  @Answer(.max, otherwise: 0) func max() -> Int
  @Answer(.reduce(1, *)) func product() -> Int
  @Answer(.reduce(0) { Swift.max($0, $1) }) func greatest() -> Int
}

@Forwarded protocol JoinedAnswers: AnyObject {
  @Answer(.joined) func text() -> String
  @Answer(.joined) func list() -> [Int]
  @Answer(.joined(separator: ", ")) func names() -> String
  @Answer(AnswerRule.joined, otherwise: ["none"]) func stated() -> [String]
}

@Forwarded protocol Throwers: AnyObject {
  func save() throws
  func load() throws(LoadError)
  @Answer(otherwise: 0) func size() throws(LoadError) -> Int
  func read() throws(any Error) -> Int
  func never() throws(Never)
}

@Forwarded protocol Silent: AnyObject {
  func nothing()
  func unit() -> Void
  func brackets() -> ()
  @discardableResult func dropped() -> Int?
}

@Forwarded protocol FunctionAnswers: AnyObject {
  @Answer(otherwise: { (value: Int) -> Int in -value }) func maker() -> (Int) -> Int
  func handler() -> (() -> Void)?
}

private final class AnswerTarget: LastAnswers, FirstAnswers, ValueAnswers {
  let value: Int?
  init(_ value: Int?) { self.value = value }
  func maybe() -> Int? { value }
  func must() throws -> Int { value ?? 0 }
  func stated() -> Int { value ?? 0 }
  func stated() -> Int? { value }
  func statedOptional() -> Int? { value }
  func last() -> Int? { value }
  func first() -> Int? { value }
}

private final class Voter: BoolAnswers, NumberAnswers, JoinedAnswers {
  let number: Int
  init(_ number: Int) { self.number = number }
  func anybody() -> Bool { number > 2 }
  func everybody() -> Bool { number > 0 }
  func statedEverybody() -> Bool { true }
  func sum() -> Double { Double(number) }
  func statedSum() -> Int { number }
  func min() throws -> Int { number }
  func max() -> Int { number }
  func product() -> Int { number }
  func greatest() -> Int { number }
  func text() -> String { "<\(number)>" }
  func list() -> [Int] { [number, number] }
  func names() -> String { "n\(number)" }
  func stated() -> [String] { ["\(number)"] }
}

private final class Thrower: Throwers {
  let error: LoadError?
  var calls = 0
  init(_ error: LoadError?) { self.error = error }
  func save() throws { try act() }
  func load() throws(LoadError) { try act() }
  func size() throws(LoadError) -> Int {
    try act()
    return 3
  }
  func read() throws(any Error) -> Int {
    try act()
    return 4
  }
  func never() { calls += 1 }
  private func act() throws(LoadError) {
    calls += 1
    if let error { throw error }
  }
}

@Suite("Shapes of answers")
struct AnswerShapes {
  @Test("the last answer is returned, even nil; without targets the result is nil, an error, or the stated value")
  func last() throws {
    let proxy = LastAnswersProxy()
    expect(proxy.maybe() == nil)
    expect(proxy.stated(), equals: 7)
    expect(proxy.statedOptional(), equals: 9)
    let error = try #require(throws: MessageError.self) { try proxy.must() }
    expect(error.code, equals: .nobodyResponds)
    expect(error.selector, equals: "must")
    proxy.add(AnswerTarget(1), ownership: .strong)
    proxy.add(AnswerTarget(2), ownership: .strong)
    expect(proxy.maybe(), equals: 2)
    try expect(proxy.must(), equals: 2)
    expect(proxy.stated(), equals: 2)
    proxy.add(AnswerTarget(nil), ownership: .strong)
    expect(proxy.maybe() == nil)
    expect(proxy.statedOptional() == nil)
    try expect(proxy.maybe(returning: .all), equals: [1, 2, nil])
  }

  @Test("the first answer is returned, and no further target is called")
  func first() throws {
    let proxy = FirstAnswersProxy()
    expect(proxy.stated(), equals: 7)
    #expect(throws: MessageError.self) { try proxy.must() }
    proxy.add(AnswerTarget(1), ownership: .strong)
    proxy.add(AnswerTarget(2), ownership: .strong)
    expect(proxy.maybe(), equals: 1)
    try expect(proxy.must(), equals: 1)
    expect(proxy.stated(), equals: 1)
  }

  @Test("rules that need a value skip nil")
  func values() {
    let proxy = ValueAnswersProxy()
    expect(proxy.last() == nil)
    expect(proxy.stated(), equals: 5)
    for value in [nil, 1, 2, nil] { proxy.add(AnswerTarget(value), ownership: .strong) }
    expect(proxy.last(), equals: 2)
    expect(proxy.first(), equals: 1)
    expect(proxy.stated(), equals: 2)
  }

  @Test("any and every have empty values, which a stated one replaces")
  func bools() {
    let proxy = BoolAnswersProxy()
    expect(!proxy.anybody())
    expect(proxy.everybody())
    expect(!proxy.statedEverybody())
    proxy.add(Voter(1), ownership: .strong)
    expect(!proxy.anybody())
    expect(proxy.statedEverybody())
    proxy.add(Voter(3), ownership: .strong)
    expect(proxy.anybody())
    proxy.add(Voter(0), ownership: .strong)
    expect(!proxy.everybody())
  }

  @Test("sums, minima, maxima and reductions combine all answers")
  func numbers() throws {
    let proxy = NumberAnswersProxy()
    expect(proxy.sum(), equals: 0)
    expect(proxy.statedSum(), equals: -1)
    expect(proxy.max(), equals: 0)
    expect(proxy.product(), equals: 1)
    #expect(throws: MessageError.self) { try proxy.min() }
    for number in [3, 5, 4] { proxy.add(Voter(number), ownership: .strong) }
    expect(proxy.sum(), equals: 12)
    expect(proxy.statedSum(), equals: 12)
    try expect(proxy.min(), equals: 3)
    expect(proxy.max(), equals: 5)
    expect(proxy.product(), equals: 60)
    expect(proxy.greatest(), equals: 5)
  }

  @Test("strings and arrays are joined in delivery order")
  func joined() {
    let proxy = JoinedAnswersProxy()
    expect(proxy.text(), equals: "")
    expect(proxy.names(), equals: "")
    expect(proxy.stated(), equals: ["none"])
    for number in [1, 2] { proxy.add(Voter(number), ownership: .strong) }
    expect(proxy.text(), equals: "<1><2>")
    expect(proxy.list(), equals: [1, 1, 2, 2])
    expect(proxy.names(), equals: "n1, n2")
    expect(proxy.stated(), equals: ["1", "2"])
  }

  @Test("a throwing requirement throws the first error after all targets received the message")
  func throwers() throws {
    let proxy = ThrowersProxy()
    let (gone, fine, late) = (Thrower(.gone), Thrower(nil), Thrower(.late))
    try proxy.save()
    try proxy.load()
    try expect(proxy.size(), equals: 0)
    proxy.add(gone)
    proxy.add(fine)
    proxy.add(late)
    #expect(throws: LoadError.gone) { try proxy.save() }
    #expect(throws: LoadError.gone) { try proxy.load() }
    #expect(throws: LoadError.gone) { try proxy.size() }
    #expect(throws: LoadError.gone) { try proxy.read() }
    proxy.never()
    expect([gone.calls, fine.calls, late.calls], equals: [5, 5, 5])
  }

  @Test("an error that cannot be thrown goes to onError, and the answers of the other targets count")
  func errorsThatCannotBeThrown() throws {
    let proxy = ThrowersProxy()
    let failures = Failures()
    proxy.onError = { failures.note($0) }
    let fine = Thrower(nil)
    proxy.add(fine)
    proxy.on(ThrowersProxy.Messages.size) { throw OtherError.odd }
    proxy.on(ThrowersProxy.Messages.load) { throw OtherError.odd }
    try expect(proxy.size(), equals: 3)
    try proxy.load()
    expect(failures.errors.count, equals: 2)
    expect(failures.errors.allSatisfy { $0 is OtherError })
    expect(failures.selectors, equals: ["size", "load"])
    let answers = LastAnswersProxy()
    answers.onError = { failures.note($0) }
    answers.add(AnswerTarget(1), ownership: .strong)
    answers.on(LastAnswersProxy.Messages.stated) { throw OtherError.odd }
    expect(answers.stated(), equals: 1)
    expect(failures.errors.count, equals: 3)
  }

  @Test("a requirement without a result calls its targets, however Void is written")
  func silent() {
    final class Target: Silent {
      var calls = 0
      func nothing() { calls += 1 }
      func unit() { calls += 1 }
      func brackets() { calls += 1 }
      func dropped() -> Int? { calls += 1; return calls }
    }
    let (proxy, target) = (SilentProxy(), Target())
    proxy.add(target)
    proxy.nothing()
    proxy.unit()
    proxy.brackets()
    proxy.dropped()
    expect(target.calls, equals: 4)
  }

  @Test("a requirement may return a function")
  func functions() {
    final class Target: FunctionAnswers {
      func maker() -> (Int) -> Int { { $0 * 2 } }
      func handler() -> (() -> Void)? { {} }
    }
    let (proxy, target) = (FunctionAnswersProxy(), Target())
    expect(proxy.maker()(3), equals: -3)
    expect(proxy.handler() == nil)
    proxy.add(target)
    expect(proxy.maker()(3), equals: 6)
    expect(proxy.handler() != nil)
  }
}

@Forwarded protocol QueuedAnswers: AnyObject, Sendable {
  @Answer(.every) func everybody() -> Bool
  @Answer(.sum) func sum() async -> Int
  @Answer(.min) func least() async throws -> Int
  @Answer(.joined(separator: "+")) func names() async -> String
  @Answer(.firstValue) func maybe() async -> Int?
  func last() async throws -> Int
}

private final class QueuedAnswer: QueuedAnswers {
  let (number, text): (Int, String)
  init(_ number: Int, _ text: String) { (self.number, self.text) = (number, text) }
  func everybody() -> Bool { number > 0 }
  func sum() async -> Int { number }
  func least() async throws -> Int { number }
  func names() async -> String { text }
  func maybe() async -> Int? { number > 0 ? number : nil }
  func last() async throws -> Int { number }
}

@Suite("One answer of a proxy on a queue")
struct QueuedAnswerTests {
  @Test("a queued proxy combines its answers by the rule of each requirement")
  func rules() async throws {
    let (outer, inner) = (QueuedAnswersProxy(), QueuedAnswersProxy())
    let targets = [QueuedAnswer(0, "a"), QueuedAnswer(2, "b"), QueuedAnswer(1, "c")]
    for target in targets { inner.add(target) }
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    typealias Messages = QueuedAnswersProxy.Messages
    try await expect(outer.collectAndWait(Messages.everybody, returning: .all), equals: [false])
    try await expect(outer.collectAndWait(Messages.sum, returning: .all), equals: [3])
    try await expect(outer.collectAndWait(Messages.least, returning: .all), equals: [0])
    try await expect(outer.collectAndWait(Messages.names, returning: .all), equals: ["a+b+c"])
    try await expect(outer.collectAndWait(Messages.maybe, returning: .all), equals: [2])
    try await expect(outer.collectAndWait(Messages.last, returning: .all), equals: [1])
    let report = try await outer.forwardAndWait(Invocation("sum"))
    try expect(report.answers.map { try $0.result?.unbox(as: Int.self) }, equals: [3])
    withExtendedLifetime(targets) {}
  }

  @Test("a rule that stops early calls no further target of a queued proxy")
  func early() async throws {
    let (outer, inner) = (QueuedAnswersProxy(), QueuedAnswersProxy())
    let targets = [QueuedAnswer(0, "a"), QueuedAnswer(2, "b"), QueuedAnswer(1, "c")]
    for target in targets { inner.add(target) }
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    let asked = Locked(0)
    inner.trace { if $0.stage == .began { asked.withLock { $0 += 1 } } }
    _ = try await outer.collectAndWait(QueuedAnswersProxy.Messages.everybody, returning: .all)
    expect(asked.withLock { $0 }, equals: 1)
    withExtendedLifetime(targets) {}
  }
}
