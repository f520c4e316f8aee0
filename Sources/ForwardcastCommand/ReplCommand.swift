// ReplCommand.swift: `forwardcast repl`.
// Layer: Command. See DESIGN.md, "The script".

import ForwardcastScript

/// A conversation: each line is run as soon as its brackets are closed. On a terminal errors do not end it; input from a
/// file or a pipe ends at the first, with its status.
struct ReplCommand {
  private let isTerminal = Stream.input.isTerminal
  private let display = ProgressDisplay()

  func run() -> Status {
    let conversation = Conversation(display: display)
    let editor = isTerminal && Stream.output.isTerminal ? LineEditor(historyPath: historyPath) : nil
    var pending = ""
    var (line, firstLine) = (0, 1)
    if isTerminal {
      Stream.output.write("forwardcast \(Command.version), message script; :help, or control-D to end\n")
    }
    while !conversation.isOver {
      let completions = { conversation.session.completions + ScriptLanguage.entries.map(\.word) }
      guard let input = next(editor, continuing: !pending.isEmpty, completions) else { break }
      switch input {
      case .abandoned: pending = ""
      case .text(let text):
        line += 1
        if pending.isEmpty { firstLine = line }
        if pending.isEmpty, text.first == ":" {
          guard let complaint = conversation.obey(text.trimmed) else { continue }
          Stream.error.write("\(complaint)\n")
          if !isTerminal { return .usage }
          continue
        }
        pending += text
        if ScriptSession.isIncomplete(pending) { continue }
        let text = pending
        pending = ""
        if let status = answer(conversation, text, firstLine), !isTerminal { return status }
      }
    }
    // The input ended inside a bracket: the parser says which.
    if !pending.isEmpty, let status = answer(conversation, pending, firstLine), !isTerminal { return status }
    return .success
  }

  private func next(
    _ editor: LineEditor?, continuing: Bool, _ completions: () -> [String]
  ) -> LineEditor.Input? {
    if let editor { return editor.read(prompt: continuing ? "… " : "> ", completions: completions) }
    if isTerminal { Stream.output.write(continuing ? "… " : "> ") }
    return readLine(strippingNewline: false).map { .text($0) }
  }

  /// Where lines are kept from one conversation to the next: `FORWARDCAST_HISTORY`, else a file in the home folder.
  private var historyPath: String? {
    if let path = environment("FORWARDCAST_HISTORY") { return path.isEmpty ? nil : path }
    return environment("HOME").map { $0 + "/.forwardcast_history" }
  }

  /// Runs a text. Gives the status of its error.
  private func answer(_ conversation: Conversation, _ text: String, _ firstLine: Int) -> Status? {
    guard let error = conversation.say(text, line: firstLine, showsValue: isTerminal) else { return nil }
    // A failed expectation was shown when it failed.
    if error.code != .expectationFailed { Stream.error.write("\(display.style.error("\(error)"))\n") }
    return error.code == .syntax || error.code == .invalidSelector ? .usage : .failure
  }
}
