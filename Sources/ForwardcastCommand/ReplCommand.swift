// ReplCommand.swift: `forwardcast repl`.

import ForwardcastScript

/// An interactive session, which runs lines as soon as their brackets are closed. On a terminal it continues after errors. Input
/// from a file or a pipe has the status of `run`: after an error the rest is only checked.
struct ReplCommand {
  private let isTerminal = Stream.input.isTerminal
  private let display = ProgressDisplay()

  func run() -> Status {
    if isTerminal {
      Stream.output.write("forwardcast \(Command.version), message script; :help, or control-D to end\n")
    }
    let conversation = Conversation(display: display, isTerminal: isTerminal)
    let editor = isTerminal && Stream.output.isTerminal ? LineEditor(historyPath: historyPath) : nil
    let input = InputLines()
    while !conversation.isOver, !Stream.hasFailed {
      let prompt = conversation.isWaiting ? "… " : "> "
      if let editor {
        let completions = { conversation.session.completions + ScriptLanguage.entries.map(\.word) }
        switch editor.read(prompt: prompt, completions: completions) {
        case .text(let text): conversation.take(text)
        case .abandoned: conversation.abandon()
        case nil: conversation.end()
        }
      } else {
        if isTerminal { Stream.output.write(prompt) }
        guard let bytes = input.next(limit: ScriptSession.textLimit) else {
          conversation.end()
          break
        }
        conversation.take(bytes)
      }
    }
    return isTerminal ? .success : conversation.status
  }

  /// The file of the history: `FORWARDCAST_HISTORY`, else one in the home folder.
  private var historyPath: String? {
    if let path = environment("FORWARDCAST_HISTORY") { return path.isEmpty ? nil : path }
    return environment("HOME").map { $0 + "/.forwardcast_history" }
  }
}
