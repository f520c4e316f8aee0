// OutgoingCall.swift: one message or question to another process.

import Dispatch
import Forwardcast

/// One message to an endpoint, or one question, such as which selectors the endpoint accepts.
///
/// A call is removed from its line under the lock. The code that removed the call ends it, so each
/// call ends only once. A call is also the executor of the task that calls the engine. The waiting
/// sender runs the jobs of that task, so an answer wakes one thread instead of two.
final class OutgoingCall: TaskExecutor, @unchecked Sendable {  // the line's lock guards its state; `wait` has a lock
  private struct Wait: Sendable {
    var end: Result<WireFields, any Error>?
    var jobs: [UnownedJob] = []
    /// The waiting caller. The code that removes the caller under the lock resumes it.
    var caller: UnsafeContinuation<Void, Never>?
    var hasCallerForJobs = true
  }

  let selector: String
  let text: WireRequestText
  /// True for a message, which waits until the window has room; false for a question.
  let isMessage: Bool
  let deadline: Deadline
  /// The time limit, which errors state.
  let time: Duration
  /// True if a missing answer counts toward `givesUpAfter`.
  let counts: Bool
  var ticket = 0
  /// The message's number on the line; 0 while it waits, and for questions.
  var number = 0
  /// True if the call is sent a second time because the endpoint did not know the line.
  var isSecond = false
  var task: Task<Void, Never>?
  private let wait = Guarded(Wait())

  init(
    _ selector: String, _ text: WireRequestText, within time: Duration, isMessage: Bool = false, counts: Bool = true
  ) {
    (self.selector, self.text, self.time) = (selector, text, time)
    (self.isMessage, self.counts) = (isMessage, counts)
    deadline = Deadline(after: time)
  }

  var hasEnded: Bool { wait.withLock { $0.end != nil } }

  func end(_ end: Result<WireFields, any Error>) {
    let caller = wait.withLock { wait in
      if wait.end == nil { wait.end = end }
      return wait.caller.take()
    }
    caller?.resume()
  }

  /// Waits until the call has ended. Meanwhile, the caller runs jobs of the task: the first jobs if
  /// `startsJobs` is true, and the later jobs if `runsJobs` is true.
  nonisolated(nonsending) func value(startsJobs: Bool, runsJobs: Bool) async throws -> WireFields {
    defer { leaveJobs() }
    if startsJobs { runJobs() }
    if !runsJobs { leaveJobs() }
    while true {
      runJobs()
      if let end = wait.withLock({ $0.end }) { return try end.get() }
      await withUnsafeContinuation { caller in
        let isOver = wait.withLock { wait in
          if wait.end != nil || !wait.jobs.isEmpty { return true }
          wait.caller = caller
          return false
        }
        if isOver { caller.resume() }
      }
    }
  }

  // MARK: Jobs

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    var isLeft = false
    let caller = wait.withLock { wait -> UnsafeContinuation<Void, Never>? in
      isLeft = !wait.hasCallerForJobs
      if isLeft { return nil }
      wait.jobs.append(job)
      return wait.caller.take()
    }
    caller?.resume()
    if isLeft { leave(job) }
  }

  private func runJobs() {
    while let job = wait.withLock({ $0.end == nil && !$0.jobs.isEmpty ? $0.jobs.removeFirst() : nil }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private func leaveJobs() {
    let jobs = wait.withLock { wait in
      wait.hasCallerForJobs = false
      return exchange(&wait.jobs, with: [])
    }
    for job in jobs { leave(job) }
  }

  private func leave(_ job: UnownedJob) {
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
