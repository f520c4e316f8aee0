// TimedWaitTests.swift: awaited calls with a timeout.

import Dispatch
import ForwardcastTesting
import TestSupport
import Testing

@testable import Forwardcast

@Forwarded private protocol Desk: AnyObject, Sendable {
  func note(_ n: Int)
  @Answer(.sum) func count() -> Int
  @Answer(.sum) func load() async -> Int
}

private typealias Keys = DeskProxy.Messages

private final class Clerk: Desk {
  let gate = Locked<CheckedContinuation<Void, Never>?>(nil)
  let wasCancelled = Locked(false)
  func note(_ n: Int) {}
  let counts = Locked(0)
  func count() -> Int {
    counts.withLock { $0 += 1 }
    return 1
  }
  /// Waits until it is canceled.
  func load() async -> Int {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        gate.withLock { $0 = continuation }
      }
    } onCancel: {
      wasCancelled.withLock { $0 = true }
    }
    return 2
  }
}

@Suite("Waits with a timeout")
struct TimedWaitTests {
  private let clock = TestClock()
  private let desks = DeskProxy()
  private let clerk = Clerk()
  private let queue = DispatchQueue(label: "desk")

  /// The error of `wait` after two seconds on the clock, which pass once `isWaiting` is true.
  private func error<T: Sendable>(
    once isWaiting: @autoclosure () -> Bool, of wait: @escaping @Sendable () async throws -> T
  ) async throws -> MessageError {
    let task = Task { try await wait() }
    await clock.waitForSleepers()
    await until(isWaiting())
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: MessageError.self) { try await task.value }
    return try #require(error)
  }

  @Test("collectAndWait throws timedOut, naming the target that did not answer and its queue")
  func collect() async throws {
    let mailbox = desks.add(clerk, delivery: .queue(queue)).queued?.mailbox
    queue.suspend()
    defer { queue.resume() }
    let error = try await error(once: mailbox?.isAsleep == false) { [desks, clock] in
      try await desks.collectAndWait(Keys.count, returning: .sum, timeout: .seconds(2), clock: clock)
    }
    expect(error.code, equals: .timedOut)
    expect(error.evidence, equals: "no answer in 2.0 seconds from Clerk on queue desk")
  }

  @Test("forwardAndWait throws timedOut, and the message stays sent")
  func forward() async throws {
    let mailbox = desks.add(clerk, delivery: .queue(queue)).queued?.mailbox
    queue.suspend()
    let error = try await error(once: mailbox?.isAsleep == false) { [desks, clock] in
      try await desks.forwardAndWait(Invocation("count"), timeout: .seconds(2), clock: clock).delivered
    }
    expect(error.code, equals: .timedOut)
    queue.resume()
    try await desks.drain()
    expect(clerk.counts.withLock { $0 }, equals: 1)
  }

  @Test("a direct target whose method suspends is canceled, named in the error and no longer awaited")
  func direct() async throws {
    desks.add(clerk)
    let error = try await error(once: clerk.gate.withLock { $0 != nil }) { [desks, clock] in
      try await desks.collectAndWait(Keys.load, returning: .sum, timeout: .seconds(2), clock: clock)
    }
    expect(error.code, equals: .timedOut)
    expect(error.evidence.hasSuffix("from Clerk"), "\(error)")
    await until(clerk.wasCancelled.withLock { $0 })
    clerk.gate.withLock { $0 }?.resume()
  }

  @Test("an answer in time is returned, and no sleeper remains on the clock")
  func inTime() async throws {
    desks.add(clerk, delivery: .queue(queue))
    try await expect(
      desks.collectAndWait(Keys.count, returning: .sum, timeout: .seconds(2), clock: clock), equals: 1)
    await until(clock.sleeperCount == 0)
    try await expect(desks.collectAndWait(Keys.count, returning: .sum, timeout: .seconds(Int64.max)), equals: 1)
  }

  @Test("broadcastWhenReady throws timedOut, naming the target whose buffer is full")
  func room() async throws {
    let line = desks.add(clerk, delivery: .queue(queue), buffer: .suspendSender(1)).queued?.line
    queue.suspend()
    defer { queue.resume() }
    desks.note(1)
    let error = try await error(once: line?.waitingSenders == 1) { [desks, clock] in
      try await desks.broadcastWhenReady(Keys.note, 2, timeout: .seconds(2), clock: clock)
    }
    expect(error.evidence, equals: "no answer in 2.0 seconds from Clerk, whose buffer is full")
  }

  @Test("drain throws timedOut, naming the queue that has not finished")
  func drain() async throws {
    let mailbox = desks.add(clerk, delivery: .queue(queue)).queued?.mailbox
    queue.suspend()
    defer { queue.resume() }
    desks.note(1)
    let last = mailbox?.last
    let error = try await error(once: mailbox?.last != last) { [desks, clock] in
      try await desks.drain(timeout: .seconds(2), clock: clock)
    }
    expect(error.evidence, equals: "no answer in 2.0 seconds from queue desk")
  }

  @Test("sendAndWait throws timedOut")
  func send() async throws {
    let receiver = Slow()
    let error = try await error(once: receiver.clerk.gate.withLock { $0 != nil }) { [clock] in
      try await receiver.sendAndWait(Message<() -> Int>("load"), timeout: .seconds(2), clock: clock)
    }
    expect(error.code, equals: .timedOut)
    receiver.clerk.gate.withLock { $0 }?.resume()
  }

  @Test("a canceled sender gets CancellationError before the timeout")
  func cancelled() async throws {
    desks.add(clerk, delivery: .queue(queue))
    queue.suspend()
    defer { queue.resume() }
    let task = Task { [desks, clock] in
      try await desks.collectAndWait(Keys.count, returning: .sum, timeout: .seconds(2), clock: clock)
    }
    await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("methods of the sender's isolation run in it during a wait with a timeout")
  @MainActor func isolation() async throws {
    let view = View()
    desks.add(view)
    try await expect(desks.collectAndWait(Keys.load, returning: .sum, timeout: .seconds(600)), equals: 3)
  }
}

private final class Slow: MessageReceiver, Sendable {
  let clerk = Clerk()
  static let selectorTable = SelectorTable(for: Slow.self) {
    Responds(to: Message<() -> Int>("load"), async: { (slow: Slow) in await slow.clerk.load() })
  }
}

@MainActor private final class View: Desk {
  nonisolated func note(_ n: Int) {}
  nonisolated func count() -> Int { 0 }
  func load() async -> Int {
    MainActor.assertIsolated()
    return 3
  }
}
