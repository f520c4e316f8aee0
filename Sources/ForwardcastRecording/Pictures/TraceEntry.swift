// TraceEntry.swift: one event in the Trace Event Format.

import Forwardcast

/// One event of a trace file. The event's thread renders the text before it takes the file's lock.
struct TraceEntry: Sendable {
  let stage: MessageEvent.Stage
  let step: Int
  let instant: ContinuousClock.Instant
  /// The context; `nil` for the context of the sender.
  let context: String?
  /// The JSON text of a slice or mark, with `args` left open. Empty if the event needs no text.
  let text: String
  /// The outcome, written as an additional member of `args`.
  let outcome: String

  init(_ event: MessageEvent) {
    (stage, step, instant) = (event.stage, event.step, event.instant)
    func quoted(_ name: String, _ text: String) -> String { ",\"\(name)\":\(TraceEntry.quoted(text))" }
    // Reads only the texts that are written, because reading a text renders it.
    let (context, evidence) = (stage == .sent || stage == .began ? event.context : "directly", event.evidence)
    self.context = context == "directly" ? nil : context
    switch stage {
    case .sent, .began, .queued: outcome = ""
    case .answered: outcome = evidence.isEmpty ? "" : quoted("answer", evidence)
    case .failed: outcome = quoted("error", evidence)
    case .skipped: outcome = quoted("skipped", evidence)
    }
    guard stage != .answered, stage != .queued else {
      text = ""
      return
    }
    text =
      "\"name\":\(TraceEntry.quoted(event.name)),\"cat\":\"message\",\"args\":{\"receiver\":\(TraceEntry.quoted(event.receiver))"
      + (stage == .failed ? "" : quoted("message", event.message) + quoted("sender", event.sender))
  }

  func mark(at time: String, lane: Int) -> String {
    "{\(text)\(outcome)},\"ph\":\"i\",\"s\":\"t\",\"ts\":\(time),\"pid\":1,\"tid\":\(lane + 1)}"
  }

  /// The beginning (`s`) or the end (`f`) of the arrow from a queued message to its execution.
  static func arrow(_ phase: String, _ step: Int, at time: String, lane: Int) -> String {
    "{\"name\":\"queued\",\"cat\":\"queue\",\"ph\":\"\(phase)\",\(phase == "f" ? "\"bp\":\"e\"," : "")\"id\":\(step),"
      + "\"ts\":\(time),\"pid\":1,\"tid\":\(lane + 1)}"
  }

  static func quoted(_ text: String) -> String {
    var short = text
    if text.utf8.count > 1000 {
      let start = text.unicodeScalars.prefix(1000)
      if start.endIndex < text.endIndex { short = String(start) + "…" }
    }
    let isPlain = short.utf8.allSatisfy {
      (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    if isPlain { return "\"\(short)\"" }
    let escaped = SequenceDiagram.escaped(short) { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where SequenceDiagram.isHidden(scalar) && scalar.value <= 0xFFFF:
        // Exactly four digits remain, because the leading 1 is dropped.
        "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
      default: nil
      }
    }
    return "\"\(escaped)\""
  }
}
