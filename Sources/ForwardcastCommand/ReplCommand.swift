// ReplCommand.swift: `forwardcast repl`.

import ForwardcastScript

/// A conversation: each line is run as soon as its brackets are closed. On a terminal errors do not end it. Input from a
/// file or a pipe is taken as `run` takes a text: an error ends what runs, the rest is checked, and the status is the same.
struct ReplCommand {
  private let isTerminal = Stream.input.isTerminal
  private let display = ProgressDisplay()

  func run() -> Status {
    if isTerminal {
      Stream.output.write("forwardcast \(Command.version), message script; :help, or control-D to end\n")
    }
    let conversation = Conversation(display: display, isTerminal: isTerminal)
    let editor = isTerminal && Stream.output.isTerminal ? LineEditor(historyPath: historyPath) : nil
    var input = InputLines()
    while !conversation.isOver, !WriteFailure.isThere {
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

  /// Where lines are kept from one conversation to the next: `FORWARDCAST_HISTORY`, else a file in the home folder.
  private var historyPath: String? {
    if let path = environment("FORWARDCAST_HISTORY") { return path.isEmpty ? nil : path }
    return environment("HOME").map { $0 + "/.forwardcast_history" }
  }
}
