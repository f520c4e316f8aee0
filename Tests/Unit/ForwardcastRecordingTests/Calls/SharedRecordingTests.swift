// SharedRecordingTests.swift: records awaited sends, and sends from several threads.

import Dispatch
import Forwardcast
import ForwardcastRecording
import TestSupport
import Testing

extension Message<(Int) -> Int> { fileprivate static var count: Self { .init("count:") } }

/// An actor with an isolated method.
@Receiver
private actor Counter {
  private var total = 0

  @Message func count(_ number: Int) throws -> Int {
    if number < 0 { throw Spilled(description: "negative") }
    total += number
    return total
  }
}

/// A receiver that any thread may send to.
private final class Echo: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Echo.self) {
    Responds(to: .count) { (_: Echo, number: Int) in number }
  }
}

@Suite("Shared recording")
struct SharedRecordingTests {
  @Test("an awaited send reaches a method of another isolation, and its answer or error is recorded")
  func waiting() async throws {
    let counter = RecordingProxy(of: Counter(), as: "counter")
    try await expect(counter.sendAndWait(.count, 2), equals: 2)
    try await expect(counter.sendAndWait(.count, 3), equals: 5)
    await #expect(throws: Spilled.self) { try await counter.sendAndWait(.count, -1) }
    expect(
      counter.recorder.recording.description,
      equals: """
        [counter count: 2] answers 2
        [counter count: 3] answers 5
        [counter count: -1] fails: negative
        """)
  }

  @Test("a synchronous send is refused as it is without the recording proxy, and the refusal is recorded")
  func notWaiting() throws {
    let counter = RecordingProxy(of: Counter(), as: "counter")
    let error = #expect(throws: MessageError.self) { try counter.send(.count, 2) }
    expect(error?.code, equals: .isolationMismatch)
    expect(counter.recorder.calls.map(\.error?.type), equals: ["MessageError"])
  }

  @Test("an awaited send to a receiver that is not Sendable runs synchronously")
  func waitingInTurn() async throws {
    let ledger = RecordingProxy(of: Ledger(), as: "ledger")
    let report = try await ledger.forwardAndWait(Invocation("note:", arguments: [ArgumentBox("x")]))
    expect(report.result?.value as? Int == 1 && ledger.recorder.calls.count == 1)
  }

  @Test("four threads lose no call, and the calls of each thread stay in order")
  func threads() {
    let echo = RecordingProxy(of: Echo(), as: "echo")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for index in 0..<500 { _ = try? echo.send(.count, thread * 1000 + index) }
    }
    let calls = echo.recorder.calls
    let numbers = calls.compactMap { try? $0.message.argument(0, as: Int.self) }
    expect(numbers.count, equals: 2000)
    for thread in 0..<4 {
      expect(numbers.filter { $0 / 1000 == thread }, equals: (0..<500).map { thread * 1000 + $0 })
    }
    expect(calls.allSatisfy { ($0.answer?.value as? Int) == (try? $0.message.argument(0, as: Int.self)) })
    expect(calls.map(\.order), equals: calls.map(\.order).sorted())
  }
}
