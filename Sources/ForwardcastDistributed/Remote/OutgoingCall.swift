// OutgoingCall.swift: one message or question on its way to another process.

import Dispatch
import Forwardcast

/// One message or question from here to an endpoint. Whoever takes it out of its line, under the line's lock, ends it, so it ends
/// once.
///
/// It is the executor of the task that waits for it at the engine. What that task does is run by the caller, who waits for nothing
/// else: so an answer wakes one thread and not two. Of a caller on an actor it runs only the beginning there, and nothing any more
/// of one that has stopped waiting: a queue runs the rest.
final class OutgoingCall: TaskExecutor, @unchecked Sendable {  // its variables are used under the lock of its line
  enum Text: Sendable {
    /// Gets a number when the window has room.
    case message(WireCallText)
    /// Belongs to no line, and leaves at once.
    case question(String)
  }

  private struct Wait: Sendable {
    var end: Result<WireFields, any Error>?
    var jobs: [UnownedJob] = []
    /// Waits for an end, or for jobs. Who takes it under the lock resumes it.
    var caller: UnsafeContinuation<Void, Never>?
    var hasCallerForJobs = true
  }

  let selector: String
  let text: Text
  let deadline: Deadline
  /// How long it may take in all, for errors.
  let time: Duration
  /// Whether it counts toward giving up when it is not answered.
  let counts: Bool
  var ticket = 0
  /// Its number on the line; 0 while it waits, and for a question.
  var number = 0
  /// Whether an endpoint did not know its line, so that it is sent once more.
  var isSecond = false
  /// Waits for it at the engine.
  var task: Task<Void, Never>?
  private let wait = Guarded(Wait())

  init(_ selector: String, _ text: Text, within time: Duration, counts: Bool = true) {
    (self.selector, self.text, self.time, self.counts) = (selector, text, time, counts)
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

  /// Waits for the end.
  ///
  /// - Parameters:
  ///   - startsJobs: whether the caller runs what the engine's task does until it suspends.
  ///   - runsJobs: whether the caller also runs the rest.
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

  /// Runs jobs until the call has ended, or there are none.
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
