// OutgoingCall.swift: one message or question on its way to another process.
// Layer: Remote. See the article "When one process is not enough".

import Forwardcast

/// One message or question from here to an endpoint. It ends once, by whoever is first.
final class OutgoingCall: Sendable {
  enum End: Sendable {
    case reply(WireFields)
    case failed(RemoteError)
    case cancelled
  }

  private enum Wait: Sendable {
    case open
    case awaited(CheckedContinuation<End, Never>)
    case ended(End)
  }

  let selector: String
  let deadline: Deadline
  /// How long it may take in all, for errors.
  let time: Duration
  /// Whether it counts toward giving up when it is not answered.
  let counts: Bool
  private let wait = Guarded(Wait.open)
  private let task = Guarded<Task<Void, Never>?>(nil)

  init(_ selector: String, within time: Duration, counts: Bool = true) {
    (self.selector, self.time, self.counts) = (selector, time, counts)
    deadline = Deadline(after: time)
  }

  /// Ends the call, unless it has ended.
  func end(_ end: End) {
    let waiting = wait.withLock { wait -> CheckedContinuation<End, Never>? in
      if case .ended = wait { return nil }
      defer { wait = .ended(end) }
      return if case .awaited(let continuation) = wait { continuation } else { nil }
    }
    waiting?.resume(returning: end)
  }

  /// Waits for the end. Only one task may, once.
  nonisolated(nonsending) func end() async -> End {
    await withCheckedContinuation { continuation in
      let ended = wait.withLock { wait -> End? in
        if case .ended(let end) = wait { return end }
        wait = .awaited(continuation)
        return nil
      }
      if let ended { continuation.resume(returning: ended) }
    }
  }

  /// Notes that the engine has the call, and that `task` waits for it there.
  func isCarried(by task: Task<Void, Never>) {
    self.task.withLock { $0 = task }
    if wait.withLock({ if case .ended = $0 { true } else { false } }) { task.cancel() }
  }

  /// Tells the engine that nobody waits any more. What it makes of that is not waited for.
  func cancelCarrying() { task.withLock { $0 }?.cancel() }
}
