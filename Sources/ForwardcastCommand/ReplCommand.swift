// ReplCommand.swift: `forwardcast repl`.
// Layer: Command. See DESIGN.md, "The script".

import ForwardcastScript

/// A conversation: each line is run as soon as its brackets are closed, and errors do not end it.
struct ReplCommand {
  private let isTerminal = Stream.input.isTerminal
  private let display = ProgressDisplay()

  func run() -> Status {
    let session = ScriptSession(handlers: display.handlers(traces: false))
    var pending = ""
    var (line, firstLine) = (0, 1)
    if isTerminal { Stream.output.write("forwardcast \(Command.version), message script; end with control-D\n") }
    while let text = next(continuing: !pending.isEmpty) {
      line += 1
      if pending.isEmpty { firstLine = line }
      pending += text
      if ScriptSession.isIncomplete(pending) { continue }
      answer(session, pending, firstLine)
      pending = ""
    }
    // The input ended inside a bracket: the parser says which.
    if !pending.isEmpty { answer(session, pending, firstLine) }
    if isTerminal { Stream.output.write("\n") }
    return .success
  }

  private func next(continuing: Bool) -> String? {
    if isTerminal { Stream.output.write(continuing ? "… " : "> ") }
    return readLine(strippingNewline: false)
  }

  private func answer(_ session: ScriptSession, _ text: String, _ firstLine: Int) {
    display.restart()
    let outcome = session.run(text, named: "repl", firstLine: firstLine)
    display.clear()
    if let error = outcome.error {
      Stream.error.write("\(error)\n")
    } else if isTerminal, outcome.value != nil {
      Stream.output.write("\(outcome.value.debugDescription)\n")
    }
  }
}
