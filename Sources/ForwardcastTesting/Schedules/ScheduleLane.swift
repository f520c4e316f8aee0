// ScheduleLane.swift: a sequence of turns.

import Forwardcast

/// The turns of a task, of the messages of one proxy on one context, or of the clock.
final class ScheduleLane: @unchecked Sendable {  // used by the turn that has control
  enum Kind {
    case task
    case mailbox(ScheduleContext, Mailbox)
    case clock
  }
  struct Entry {
    let envelope: Envelope
    let kept: DeliveryGroup?
    /// The number of the message among all messages of the run.
    let number: Int
  }

  let kind: Kind
  let name: String
  let number: Int
  var job: UnownedJob?
  var entries: [Entry] = []
  var turn: Turn?
  var delivery: ScheduleNote?

  init(_ kind: Kind, _ name: String, number: Int) {
    (self.kind, self.name, self.number) = (kind, name, number)
  }
}

extension Envelope {
  /// The delivery group that must outlive the envelope; `nil` if the envelope holds no message.
  var keptGroup: DeliveryGroup? { (self as? Parcel)?.group ?? (self as? PlainBatch)?.group }

  /// True if opening the envelope runs no code of the program.
  var isSilent: Bool { self is DrainMarker || self is GroupRelease }

  var isAwaited: Bool { (self as? Parcel)?.details?.pending?.isAbandoned == false }
}
