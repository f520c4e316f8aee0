// DeliveryRequest.swift: what the sender of a message requests.

struct DeliveryRequest {
  /// What the outcomes are turned into.
  enum Result {
    /// A summary. Errors go to the handlers of the proxies.
    case counts
    /// One result, combined by a return policy.
    case answers
    /// A list of the outcomes of all registrations.
    case report
  }

  enum Wait {
    case none
    /// Capacity of the buffers that suspend senders, but no answers.
    case room
    /// Capacity and answers, in a task.
    case suspending
    /// Answers, blocking the sender's thread.
    case blocking(Patience)
  }

  var result = Result.counts
  var wait = Wait.none
  /// True if answers are recorded, boxed or typed. Otherwise they are discarded.
  var keepsAnswers = false
  /// True if targets run strictly in delivery order, so queued ones are not posted ahead.
  var keepsOrder = false
  /// True if one answer is enough to ignore all errors. Hooks do not get them either.
  var ignoresErrors = false
  /// Makes a function that consumes answers in order and returns true once no further one is
  /// needed. `nil` if all are needed. Applied to answers that pass through hooks or other contexts
  /// first.
  var makeProbe: (() -> (ArgumentBox) -> Bool)?

  /// True if hooks receive outcomes and may replace them.
  var asks: Bool { if case .counts = result { false } else { true } }
  /// True if skipped registrations are listed too.
  var listsEveryTarget: Bool { if case .report = result { true } else { false } }
  var waitsInTask: Bool { if case .suspending = wait { true } else { false } }
  var waitsForAnswers: Bool {
    switch wait {
    case .none, .room: false
    case .suspending, .blocking: true
    }
  }
  /// True if the sender suspends at a full buffer with `suspendSender`.
  var waitsForRoom: Bool {
    switch wait {
    case .none, .blocking: false
    case .room, .suspending: true
    }
  }
}

/// The time limit of a blocking sender, including its hooks.
final class Patience: Sendable {
  let timeout: Duration
  let deadline: Deadline

  init(_ timeout: Duration) { (self.timeout, deadline) = (timeout, Deadline(after: timeout)) }
}
