// DeliveryRequest.swift: what the sender of a message requests.

/// What a sender requests: the kind of result, what the sender waits for, and the order of targets.
struct DeliveryRequest {
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
    /// Waits for capacity in full buffers with `suspendSender`, but not for answers.
    case room
    /// Waits for capacity and answers, and suspends the sender's task.
    case suspending
    /// Waits for answers, and blocks the sender's thread.
    case blocking(Patience)
  }

  var result = Result.counts
  var wait = Wait.none
  /// True if answers are recorded. Otherwise they are discarded.
  var keepsAnswers = false
  /// True if targets run strictly in delivery order, so no queued target gets the message before an
  /// earlier direct target.
  var keepsOrder = false
  /// True if errors are ignored once a target has answered. Hooks do not get ignored errors.
  var ignoresErrors = false
  /// Makes a *probe*: a function that gets the answers in order and returns true once they suffice.
  /// `nil` if the sender needs all answers.
  var makeProbe: (() -> (ArgumentBox) -> Bool)?

  /// True if the sender gets outcomes, so hooks get them too and can replace them.
  var asks: Bool { if case .counts = result { false } else { true } }
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

/// The time limit of a blocking sender, including the time of its hooks.
final class Patience: Sendable {
  let timeout: Duration
  let deadline: Deadline

  init(_ timeout: Duration) { (self.timeout, deadline) = (timeout, Deadline(after: timeout)) }
}
