// TurnPriorityDeliveryTests.swift: task-local values and priority of a message on another context.

import CoreTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

private enum Sender {
  @TaskLocal static var name = "nobody"
}

/// An executor that holds its jobs until a test releases them.
private final class HeldExecutor: SerialExecutor {
  private let jobs = Locked<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  var count: Int { jobs.withLock { $0.count } }

  /// Runs all jobs in order.
  func release() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }
}

/// A target that records its sender's task-local name and the current priority.
private final class Observer: Member, MessageReceiver {
  let seen = Locked<[(name: String, priority: TaskPriority)]>([])

  static let selectorTable = SelectorTable(for: Observer.self) {
    Responds(to: .note) { witness, _ in
      let priority = Task.currentPriority
      witness.seen.withLock { $0.append((Sender.name, priority)) }
    }
  }
}

@Suite("Task-local values and priorities of deliveries")
struct TurnPriorityDeliveryTests {
  private let proxy = MulticastProxy<any Member>()
  private let witness = Observer()
  private let executor = HeldExecutor()

  @Test("a queued message does not see its sender's task-local values, nor those of another sender")
  func noTaskLocals() async throws {
    proxy.add(witness, delivery: .executor(executor))
    Sender.$name.withValue("first") { _ = proxy.broadcast(.note, 1) }
    Sender.$name.withValue("second") { _ = proxy.broadcast(.note, 2) }
    await until(executor.count > 0)
    executor.release()
    expect(witness.seen.withLock { $0.map(\.name) }, equals: ["nobody", "nobody"])
  }

  @Test("a message queued to the main actor does not see its sender's task-local values either")
  @MainActor
  func noTaskLocalsOnMainActor() async throws {
    proxy.add(witness, delivery: .mainActor)
    Sender.$name.withValue("first") { _ = proxy.broadcast(.note, 1) }
    proxy.broadcast(.note, 2)
    try await proxy.drain()
    expect(witness.seen.withLock { $0.map(\.name) }, equals: ["nobody", "nobody"])
  }

  @Test("an urgent message behind a less urgent one keeps its place, and both run urgently")
  func raisedPriority() async throws {
    proxy.add(witness, delivery: .executor(executor))
    await Task.detached(priority: .background) { [proxy] in _ = proxy.broadcast(.note, 1) }.value
    await Task.detached(priority: .high) { [proxy] in _ = proxy.broadcast(.note, 2) }.value
    await Task.detached(priority: .background) { [proxy] in _ = proxy.broadcast(.note, 3) }.value
    await until(executor.count >= 2)
    executor.release()
    let seen = witness.seen.withLock { $0 }
    expect(seen.count, equals: 3)
    expect(seen.allSatisfy { $0.priority >= .high })
  }

  @Test("a message of higher priority gets a new drain together with all messages that wait before it")
  func raisedMeanwhile() async throws {
    let (nosy, journal) = (Clerk("nosy"), Locked<[TaskPriority]>([]))
    proxy.add(nosy, delivery: .executor(executor))
    nosy.onNote { [proxy] number in
      journal.withLock { $0.append(Task.currentPriority) }
      guard number == 1 else { return }
      let sent = DispatchSemaphore(value: 0)
      Task.detached(priority: .high) {
        _ = proxy.broadcast(.note, 2)
        sent.signal()
      }
      sent.wait()
    }
    await Task.detached(priority: .background) { [proxy] in
      proxy.broadcast(.note, 1)
      // Another form of message, so that it is not in the same envelope.
      proxy.broadcast(Invocation("note:", arguments: [ArgumentBox(3)]))
    }.value
    await until(executor.count > 0)
    executor.release()
    while journal.withLock({ $0.count }) < 3 {
      executor.release()
      await Task.yield()
    }
    let seen = journal.withLock { $0 }
    expect(seen[0] < .high)
    expect(seen.dropFirst(), equals: [.high, .high])
    withExtendedLifetime(nosy) {}
  }

  @Test("a mailbox that was woken twice for one batch opens each message once and becomes asleep")
  func wokenTwice() async throws {
    proxy.add(witness, delivery: .executor(executor))
    await Task.detached(priority: .low) { [proxy] in _ = proxy.broadcast(.note, 1) }.value
    await Task.detached(priority: .high) { [proxy] in _ = proxy.broadcast(.note, 2) }.value
    await until(executor.count >= 2)
    executor.release()
    expect(witness.seen.withLock { $0.count }, equals: 2)
    proxy.broadcast(.note, 3)
    await until(executor.count >= 1)
    executor.release()
    expect(witness.seen.withLock { $0.count }, equals: 3)
  }
}
