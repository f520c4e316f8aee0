// ScheduleLane.swift: what has its turns one after another.

import Forwardcast

/// A task, the messages of one proxy for one context, or the clock.
final class ScheduleLane: @unchecked Sendable {  // touched by the one turn that runs
  enum Kind {
    case task
    case mailbox(ScheduleContext, Mailbox)
    case clock
  }

  /// A message that waits for its turn.
  struct Entry {
    let envelope: Envelope
    let kept: DeliveryGroup?
    /// The step that posted it.
    let cause: Int
    /// Its number among all that were sent in the run.
    let number: Int
  }

  let kind: Kind
  let name: String
  /// Its number in all orders, and in this one.
  let key: Int
  let number: Int
  /// What a task goes on with, and the step that made it ready.
  var job: UnownedJob?
  var cause: Int?
  var entries: [Entry] = []
  /// The turn that has begun and was interrupted.
  var turn: Turn?
  /// How many lanes and objects it has made.
  var children = 0
  /// The delivery that it made last.
  var delivery: ScheduleNote?

  init(_ kind: Kind, _ name: String, key: Int, number: Int) {
    (self.kind, self.name, self.key, self.number) = (kind, name, key, number)
  }
}

extension Envelope {
  /// What has to live until the envelope is opened, which does not keep it itself; `nil` where it holds no message.
  var keptGroup: DeliveryGroup? { (self as? Parcel)?.group ?? (self as? PlainBatch)?.group }

  /// Whether it runs nobody's code.
  var isSilent: Bool { self is DrainMarker || self is GroupRelease }

  /// Whether its sender waits for an answer.
  var isAwaited: Bool { (self as? Parcel)?.details?.pending?.isAbandoned == false }
}
