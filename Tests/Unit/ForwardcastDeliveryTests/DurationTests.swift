// DurationTests.swift: waits of any duration, also beyond the range of a clock.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Durations of waits")
struct DurationTests {
  private static let long: [Duration] = [
    .seconds(Int64.max), Duration(attoseconds: .max), .seconds(Int64(1) << 32), .seconds(Int64(1) << 32 - 1),
    .nanoseconds(Int64.max),
  ]
  private static let over: [Duration] = [
    .zero, .nanoseconds(-1), .seconds(-5), .seconds(Int64.min), Duration(attoseconds: .min),
  ]

  private let journal = Journal()
  private let queue = DispatchQueue(label: "durations")
  private let context = StepContext("steps")
  private let proxy = MulticastProxy<any Member>()

  @Test("a wait with a timeout beyond the clock's range ends with the answer", arguments: long)
  func longWaits(_ duration: Duration) throws {
    let target = Clerk("four", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .queue(queue))
    try expect(proxy.collectBlocking(.value, returning: .all, timeout: duration), equals: [4])
    try expect(proxy.forwardBlocking(Invocation("value"), timeout: duration).answers.count, equals: 1)
    try proxy.drainBlocking(timeout: duration)
  }

  @Test(
    "a wait with a zero or negative timeout ends at once and names the targets that did not answer", arguments: over)
  func noTime(_ duration: Duration) throws {
    let target = Clerk("four", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context))
    func times(_ body: () throws -> Void) {
      expect(#expect(throws: MessageError.self) { try body() }?.code, equals: .timedOut)
    }
    times { _ = try proxy.collectBlocking(.value, returning: .all, timeout: duration) }
    times { _ = try proxy.forwardBlocking(Invocation("value"), timeout: duration) }
    times { try proxy.drainBlocking(timeout: duration) }
    context.run()
  }

  @Test("an answer that is already there is returned whatever the timeout", arguments: over)
  func nothingToWaitFor(_ duration: Duration) throws {
    let target = Clerk("four", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target)
    try expect(proxy.collectBlocking(.value, returning: .all, timeout: duration), equals: [4])
    try expect(proxy.drainBlocking(timeout: duration), equals: 0)
  }

  @Test("with a deadlock timeout beyond the clock's range, a task created by a method gets its answer", arguments: long)
  func longDeadlockTimeout(_ duration: Duration) async throws {
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(deadlockTimeout: duration))
    let doer = Doer()
    let registration = proxy.add(doer, delivery: .queue(queue))
    let answer = AsyncStream<Int>.makeStream()
    doer.does { [proxy] number in
      guard number == 1 else { return number }
      Task {
        answer.continuation.yield((try? await proxy.ask(20)) ?? -1)
        answer.continuation.finish()
      }
      await until(!awaited(by: registration).isEmpty)
      return number
    }
    try await expect(proxy.ask(), equals: 1)
    var answers: [Int] = []
    for await value in answer.stream { answers.append(value) }
    expect(answers, equals: [20])
    withExtendedLifetime(doer) {}
  }

  @Test("a zero or negative deadlock timeout ends the wait of a task that a method awaits", arguments: over)
  func noDeadlockTimeout(_ duration: Duration) async throws {
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(deadlockTimeout: duration))
    let doer = Doer()
    proxy.add(doer, delivery: .queue(queue))
    doer.does { [proxy] number in
      guard number == 1 else { return number }
      async let answer = proxy.ask(2)
      return try await answer
    }
    let error = await #expect(throws: MessageError.self) { try await proxy.ask() }
    expect(error?.code, equals: .timedOut)
    withExtendedLifetime(doer) {}
  }

  @Test("deadlines are ordered by their times")
  func order() {
    let (soon, late) = (Deadline(after: .seconds(1)), Deadline(after: .seconds(2)))
    expect([.never, late, .now, soon].sorted(), equals: [.now, soon, late, .never])
    expect(Deadline.now.hasPassed && !soon.hasPassed && !Deadline.never.hasPassed)
  }
}
