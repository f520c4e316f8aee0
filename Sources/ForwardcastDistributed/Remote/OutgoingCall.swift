// OutgoingCall.swift: one message or question on its way to another process.
// Layer: Remote. See the article "When one process is not enough".

import Forwardcast

/// One message or question from here to an endpoint. Who takes its caller, under the lock of its line, ends it: so it ends once.
final class OutgoingCall: @unchecked Sendable {  // what changes is read and written under the lock of its line
  enum Text: Sendable {
    /// Gets a number when the window has room.
    case message(WireCallText)
    /// Belongs to no line, and leaves at once.
    case question(String)
  }

  let selector: String
  let text: Text
  let deadline: Deadline
  /// How long it may take in all, for errors.
  let time: Duration
  /// Whether it counts toward giving up when it is not answered.
  let counts: Bool
  /// Who waits for the reply.
  var caller: CheckedContinuation<WireFields, any Error>?
  /// The order in which messages were called.
  var ticket = 0
  /// Its number on the line; 0 while it waits, and for a question.
  var number = 0
  /// Whether an endpoint did not know its line, so that it is sent once more.
  var isSecond = false
  /// Waits for it at the engine.
  var task: Task<Void, Never>?

  init(_ selector: String, _ text: Text, within time: Duration, counts: Bool = true) {
    (self.selector, self.text, self.time, self.counts) = (selector, text, time, counts)
    deadline = Deadline(after: time)
  }
}
