// DeliveryRequest.swift: what the sender of a message asks for.

/// What the sender of a message asks for. It does not change while the message is delivered.
struct DeliveryRequest {
  /// What is made of the outcomes.
  enum Result {
    /// A summary. Errors go to the handlers of the proxies.
    case counts
    /// One result of the answers, by a return policy.
    case answers
    /// A list of the outcomes at all registrations.
    case report
  }

  /// What the sender waits for.
  enum Wait {
    case none
    /// Room in the buffers that suspend senders, but no answers.
    case room
    /// Room and answers, in a task.
    case suspending
    /// Answers, blocking its thread.
    case blocking(Patience)
  }

  var result = Result.counts
  var wait = Wait.none
  /// Whether answers are kept, in boxes or typed. Otherwise methods run and their answers are
  /// discarded.
  var keepsAnswers = false
  /// Whether targets are served strictly in delivery order, so queued ones are not posted ahead.
  var keepsOrder = false
  /// Whether an answer makes errors unimportant, so hooks are not thrown one either.
  var ignoresErrors = false
  /// Makes a function that is given each answer in turn and returns `true` once the sender needs no
  /// further one. `nil` if it needs all of them. For answers that hooks or other contexts pass on
  /// first.
  var makeProbe: (() -> (ArgumentBox) -> Bool)?

  /// Whether hooks receive outcomes, and may replace them.
  var asks: Bool { if case .counts = result { false } else { true } }
  /// Whether skipped registrations are listed too.
  var listsEveryTarget: Bool { if case .report = result { true } else { false } }
  var waitsInTask: Bool { if case .suspending = wait { true } else { false } }
  var waitsForAnswers: Bool {
    switch wait {
    case .none, .room: false
    case .suspending, .blocking: true
    }
  }
  /// Whether the sender suspends at a full buffer that asks for it.
  var waitsForRoom: Bool {
    switch wait {
    case .none, .blocking: false
    case .room, .suspending: true
    }
  }
}

/// How long a sender blocks at most, including its hooks.
final class Patience: Sendable {
  let timeout: Duration
  let deadline: Deadline

  init(_ timeout: Duration) { (self.timeout, deadline) = (timeout, Deadline(after: timeout)) }
}
