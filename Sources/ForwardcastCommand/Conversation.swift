// Conversation.swift: what a line of the conversation does, wherever it comes from.
// Layer: Command. See DESIGN.md, "The script".

import ForwardcastScript
import Synchronization

/// A session that is talked to: statements of the language, and commands that begin with a colon.
final class Conversation {
  static let help = """
    :help [WORD]      the language, or one word of it
    :reset            begin anew, with no names
    :load FILE        run a script here
    :save FILE        write the lines that have run without error
    :trace on | off   tell of each message
    :quit             end; so does control-D

    """

  private let display: ProgressDisplay
  private(set) var session: ScriptSession
  /// The texts that ran without error, for `:save`.
  private var spoken: [String] = []
  /// Whether `:quit` was said.
  private(set) var isOver = false

  init(display: ProgressDisplay) {
    self.display = display
    display.tracing.store(false, ordering: .relaxed)
    session = Self.makeSession(display)
  }

  private static func makeSession(_ display: ProgressDisplay) -> ScriptSession {
    var handlers = display.handlers(traces: true)
    handlers.isCancelled = { Interruption.shared.isAsked }
    return ScriptSession(handlers: handlers)
  }

  /// Runs a text and gives its error, or shows its value.
  func say(_ text: String, line: Int, showsValue: Bool) -> ScriptError? {
    display.restart()
    Interruption.shared.begin()
    let outcome = session.run(text, named: "repl", firstLine: line)
    Interruption.shared.end()
    display.clear()
    if let error = outcome.error { return error }
    spoken.append(text.hasSuffix("\n") ? text : text + "\n")
    if showsValue, outcome.value != nil { Stream.output.write("\(outcome.value.debugDescription)\n") }
    return outcome.succeeded ? nil : outcome.failures.last
  }

  /// Does what a command says. Gives what is wrong with it.
  func obey(_ line: String) -> String? {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let argument = words.count > 1 ? words[1].trimmed : nil
    switch (words.first ?? "", argument) {
    case (":help", nil): Stream.output.write(Self.help + "\n" + HelpCommand.list)
    case (":help", let word?):
      let text = HelpCommand.explanation(of: word)
      guard !text.isEmpty else { return "the language has no word \(word)" }
      Stream.output.write(text)
    case (":reset", nil):
      session = Self.makeSession(display)
      spoken = []
    case (":load", let path?): return load(path)
    case (":save", let path?): return save(path)
    case (":trace", "on"?), (":trace", "off"?):
      display.tracing.store(argument == "on", ordering: .relaxed)
    case (":quit", nil): isOver = true
    default: return "no command \(line); :help lists them"
    }
    return nil
  }

  private func load(_ path: String) -> String? {
    do throws(FileError) {
      let file = try ScriptFile(path)
      Interruption.shared.begin()
      let outcome = session.run(file.text, named: file.name)
      Interruption.shared.end()
      display.clear()
      guard let error = outcome.error else {
        spoken.append(file.text.hasSuffix("\n") ? file.text : file.text + "\n")
        return nil
      }
      return display.style.error("\(error)")
    } catch {
      return error.text
    }
  }

  private func save(_ path: String) -> String? {
    do throws(FileError) {
      try writeFile(path, spoken.joined())
      return nil
    } catch {
      return error.text
    }
  }
}

extension String {
  /// Without blanks and line ends at both ends.
  var trimmed: String {
    var text = self[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }
}

/// Whether control-C was pressed while something runs. The handler of the signal only stores a word.
final class Interruption: Sendable {
  static let shared = Interruption()
  private let asked = Atomic<Bool>(false)

  var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// From here on control-C asks for an end of what runs.
  func begin() {
    asked.store(false, ordering: .relaxed)
    signal(SIGINT) { _ in Interruption.shared.ask() }
  }

  func end() { signal(SIGINT, SIG_DFL) }

  func ask() { asked.store(true, ordering: .relaxed) }
}
