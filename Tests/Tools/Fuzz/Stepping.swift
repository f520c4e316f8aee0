// Stepping.swift: contexts and an executor that run one step at a time, on request.

import Forwardcast

/// A context that runs nothing by itself: each step drains one mailbox.
final class StepContext: DeliveryContext, @unchecked Sendable {  // the fuzzer has one thread
  let name: String
  let turn: Int
  let isConcurrent: Bool
  private var woken: [Mailbox] = []

  init(_ name: String, turn: Int, isConcurrent: Bool = false) {
    (self.name, self.turn, self.isConcurrent) = (name, turn, isConcurrent)
  }

  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var isCurrent: Bool { isHeld }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { woken.append(mailbox) }

  /// Drains the mailbox that was woken first on a serial context. Returns `false` if none waits.
  @discardableResult
  func step(_ choice: Int = 0) -> Bool {
    guard !woken.isEmpty else { return false }
    woken.remove(at: isConcurrent ? choice % woken.count : 0).drain()
    return true
  }
}

/// A task executor that runs its jobs on request.
final class StepExecutor: TaskExecutor, @unchecked Sendable {  // the fuzzer has one thread
  private var jobs: [UnownedJob] = []

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  /// Runs the job that has waited longest. Returns `false` if there is none.
  @discardableResult
  func step() -> Bool {
    guard !jobs.isEmpty else { return false }
    jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor())
    return true
  }
}
