// IsolatedRowTests.swift: isolated rows by key, and their boxed answers.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

private struct Reading: Sendable, Equatable { var value: Int }
private final class Unsafe { var value = 3 }

extension Message<() -> Reading> { fileprivate static var reading: Self { .init("reading") } }
extension Message<(Int) -> Reading> { fileprivate static var measure: Self { .init("measure:") } }
extension Message<() -> Unsafe> { fileprivate static var unsafe: Self { .init("unsafe") } }

private actor Meter: MessageReceiver {
  var value = 7
  static let selectorTable = SelectorTable(for: Meter.self) {
    Responds(to: .reading, isolated: { meter in Reading(value: meter.value) })
    Responds(to: .measure, isolated: { meter, number in Reading(value: meter.value + number) })
    Responds(to: Message<(Int) -> Int>("named:"), isolated: { meter, number in meter.value * number })
    Responds(to: Message<(Int) -> Int>("plain:"), async: { meter, number in await meter.add(number) })
    Responds(to: .unsafe, isolated: { _ in Unsafe() })
  }
  func add(_ number: Int) -> Int {
    value += number
    return value
  }
}

@MainActor
private final class Dial: Sendable, MessageReceiver {
  var value = 5
  nonisolated init() {}
  nonisolated static let selectorTable = SelectorTable(for: Dial.self) {
    Responds(to: .reading, onMainActor: { dial in Reading(value: dial.value) })
    Responds(to: .measure, onMainActor: { dial, number in Reading(value: dial.value + number) })
    Responds(to: Message<(Int) -> Int>("named:"), onMainActor: { dial, number in dial.value * number })
    Responds(to: Message<(Int) -> Int>("plain:"), async: { dial, number in await dial.add(number) })
    Responds(to: .unsafe, onMainActor: { _ in Unsafe() })
  }
  func add(_ number: Int) -> Int {
    value += number
    return value
  }
}

@Suite("Isolated rows")
struct IsolatedRowTests {
  /// The boxed answers of all targets, each on its own queue.
  private func answers(_ call: Invocation) async throws -> [Any] {
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let (meter, dial) = (Meter(), Dial())
    proxy.add(meter, delivery: .queue(DispatchQueue(label: "meter")))
    proxy.add(dial, delivery: .queue(DispatchQueue(label: "dial")))
    let report = try await proxy.forwardAndWait(call)
    withExtendedLifetime((meter, dial)) {}
    if let failure = report.failures.first { throw failure.error }
    return report.answers.compactMap { $0.result?.value }
  }

  @Test("an isolated row with a Sendable result answers boxed messages from a queue")
  func boxedAnswers() async throws {
    try await expect(
      answers(Invocation("reading")).map { $0 as? Reading }, equals: [Reading(value: 7), Reading(value: 5)])
    let measured = try await answers(Invocation("measure:", arguments: [.init(1)]))
    expect(measured.map { $0 as? Reading }, equals: [Reading(value: 8), Reading(value: 6)])
  }

  @Test("an isolated row whose result is not Sendable cannot return it to another context")
  func unsafeAnswers() async {
    let error = await #expect(throws: MessageError.self) { try await answers(Invocation("unsafe")) }
    expect(error?.code, equals: .isolationMismatch)
  }

  @Test("main-actor, actor-isolated and asynchronous rows can be written by selector")
  func bySelector() async throws {
    try await expect(answers(Invocation("named:", arguments: [.init(2)])).map { $0 as? Int }, equals: [14, 10])
    try await expect(answers(Invocation("plain:", arguments: [.init(2)])).map { $0 as? Int }, equals: [9, 7])
    expect(Meter.selectorTable.signature(for: "named:")?.description, equals: "q@:q")
    expect(Dial.selectorTable.refusals.isEmpty && Meter.selectorTable.refusals.isEmpty)
    try await expect(Meter().sendAndWait(.reading), equals: Reading(value: 7))
    try await expect(Dial().sendAndWait(Message<(Int) -> Int>("named:"), 3), equals: 15)
    let synchronous = #expect(throws: MessageError.self) { try Meter().send(Message<(Int) -> Int>("named:"), 3) }
    expect(synchronous?.code, equals: .isolationMismatch)
  }
}
