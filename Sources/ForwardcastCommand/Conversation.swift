// Conversation.swift: what a line of the conversation does, wherever it comes from.

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
  private let isTerminal: Bool
  private(set) var session: ScriptSession
  private var lines: ScriptLines
  /// The texts that ran without error, for `:save`.
  private var spoken: [String] = []
  /// Whether `:quit` was said, or nothing that follows could change the status.
  private(set) var isOver = false
  /// Whether an error has ended what came from a pipe: what follows is checked only.
  private var checksOnly = false
  private(set) var status = Status.success

  init(display: ProgressDisplay, isTerminal: Bool) {
    (self.display, self.isTerminal) = (display, isTerminal)
    display.tracing.store(false, ordering: .relaxed)
    session = ScriptSession(handlers: display.handlers(traces: true))
    lines = ScriptLines(joinsElse: !isTerminal)
  }

  var isWaiting: Bool { !lines.isEmpty }

  // MARK: Lines

  /// A line as it came from a file or a pipe.
  func take(_ bytes: [UInt8]) {
    do throws(FileError) {
      take(try decoded(bytes, from: "repl", firstLine: lines.lineCount + 1))
    } catch {
      lines.skip()
      note(.usage, error.text)
    }
  }

  /// A line with its end.
  func take(_ line: String) {
    if line.first == ":", lines.mayBegin {
      lines.finish().forEach(say)
      lines.skip()
      if !isOver, !checksOnly { obey(line.trimmed) }
    } else if isTerminal, lines.isEmpty, let command = command(line.trimmed) {
      lines.skip()
      obey(command)
    } else {
      lines.add(line).forEach(say)
    }
  }

  /// The input has ended: the parser says what is still open.
  func end() {
    lines.finish().forEach(say)
    isOver = true
  }

  func abandon() { lines.removeAll() }

  private func say(_ whole: ScriptLines.Whole) {
    if isOver { return }
    if checksOnly {
      if let error = ScriptSession.check(whole.text, named: "repl", firstLine: whole.firstLine) {
        note(.usage, display.style.error("\(error)"))
      }
      return
    }
    let outcome = run(whole.text, named: "repl", firstLine: whole.firstLine)
    if isTerminal, outcome.error == nil, outcome.value != nil {
      Stream.output.write("\(outcome.value.debugDescription)\n")
    }
  }

  /// Runs a text, shows its error, and keeps it when it has none.
  private func run(_ text: String, named name: String, firstLine: Int = 1) -> ScriptOutcome {
    display.restart()
    Interruption.begin()
    let outcome = session.run(text, named: name, firstLine: firstLine)
    Interruption.end()
    note(display.status(of: outcome))
    if outcome.error == nil {
      spoken.append(text.hasSuffix("\n") ? text : text + "\n")
    } else if !isTerminal {
      checksOnly = true
    }
    return outcome
  }

  /// Counts a status, and says what led to it. From a pipe nothing is worse than 2.
  private func note(_ status: Status, _ complaint: String? = nil) {
    if let complaint { Stream.error.write("\(complaint)\n") }
    self.status = self.status.worse(status)
    if !isTerminal, status == .usage { isOver = true }
  }

  // MARK: Commands

  /// The command that a person means by a word that other conversations know, where it is no name of the session.
  private func command(_ word: String) -> String? {
    let first = word.prefix { $0 != " " }
    guard session.value(of: String(first)) == nil else { return nil }
    switch first {
    case "help", "?": return ":help" + word.dropFirst(first.count)
    case "quit", "exit": return word == first ? ":quit" : nil
    default: return nil
    }
  }

  private func obey(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let argument = words.count > 1 ? words[1].trimmed : nil
    switch (words.first ?? "", argument) {
    // The commands come last, where they are read.
    case (":help", nil): Stream.output.write(HelpCommand.words + "\n" + Self.help)
    case (":help", let word?):
      let text = HelpCommand.explanation(of: word)
      if text.isEmpty { return note(.usage, "the language has no word \(ShownText.shown(word))") }
      Stream.output.write(text)
    case (":reset", nil):
      session = ScriptSession(handlers: display.handlers(traces: true))
      spoken = []
    case (":load", let path?):
      do throws(FileError) {
        _ = run(try scriptText(path), named: path)
      } catch {
        note(.usage, error.text)
      }
    case (":save", let path?):
      do throws(FileError) { try writeFile(path, spoken.joined()) } catch { note(.failure, error.text) }
    case (":trace", "on"?), (":trace", "off"?): display.tracing.store(argument == "on", ordering: .relaxed)
    case (":quit", nil): isOver = true
    default: note(.usage, "no command \(ShownText.shown(line)); :help lists them")
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
enum Interruption {
  private static let asked = Atomic<Bool>(false)

  static var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// From here on control-C asks for an end of what runs.
  static func begin() {
    asked.store(false, ordering: .relaxed)
    signal(SIGINT) { _ in Interruption.asked.store(true, ordering: .relaxed) }
  }

  static func end() { signal(SIGINT, SIG_DFL) }
}
