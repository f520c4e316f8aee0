// ScheduleNote.swift: the log of a run.

import Forwardcast
import ForwardcastRecording

struct ScheduleNote {
  enum Kind { case turn, goesOn, delivery, posted }
  var kind: Kind
  /// The lane of a turn, or the context of a post.
  let lane: String
  var message: MessageSelector?
  var sender = ""

  var name: String { message?.name ?? "internal work" }

  var text: String {
    switch kind {
    case .turn, .posted: lane
    case .goesOn: "\(lane) goes on"
    case .delivery: "\(lane): \(name), sent by \(sender)"
    }
  }
}

extension [ScheduleNote] {
  var turns: [String] { filter { $0.kind != .posted }.map(\.text) }

  /// The messages as a sequence diagram in Mermaid's language; empty if no message was sent.
  var diagram: String {
    let diagram = SequenceDiagram()
    for note in self where note.kind == .posted || note.kind == .delivery {
      diagram.add(
        MessageEvent(
          note.kind == .posted ? .queued : .began, name: note.name, message: note.name, sender: note.sender,
          receiver: note.lane, context: "its turn"))
    }
    return diagram.events.isEmpty ? "" : diagram.mermaid
  }
}
