// ScheduleNote.swift: what happened in a run, in words where it is asked for.

import Forwardcast
import ForwardcastRecording

/// What a turn was, or that a message was posted.
struct ScheduleNote {
  enum Kind { case turn, goesOn, delivery, posted }

  var kind: Kind
  /// Who had the turn, or was posted to.
  let lane: String
  var message: MessageSelector?
  var sender = ""

  var name: String { message?.name ?? "what waited" }

  var text: String {
    switch kind {
    case .turn, .posted: lane
    case .goesOn: "\(lane) goes on"
    case .delivery: "\(lane): \(name), sent by \(sender)"
    }
  }
}

extension [ScheduleNote] {
  /// The turns in words.
  var turns: [String] { filter { $0.kind != .posted }.map(\.text) }

  /// The messages as a picture.
  var diagram: SequenceDiagram {
    let diagram = SequenceDiagram()
    for note in self where note.kind == .posted || note.kind == .delivery {
      diagram.add(
        MessageEvent(
          note.kind == .posted ? .queued : .began, name: note.name, message: note.name, sender: note.sender,
          receiver: note.lane, context: "its turn"))
    }
    return diagram
  }
}
