// Conversation.swift: an interactive session, line by line.

import ForwardcastScript
import Synchronization

/// An interactive session of statements, and of commands that begin with a colon.
final class Conversation {
  static let help = """
    :help [WORD]      list the words of the language, or explain one
    :reset            start again and forget all names
    :load FILE        run a script in this session
    :save FILE        write the entries that ran without error
    :trace on | off   print each message
    :quit             end the session, as control-D does

    """

  private let display = ProgressDisplay()
  private let isTerminal: Bool
  private var session: ScriptSession
  private var lines: ScriptLines
  /// The texts that ran without an error, which `:save` writes.
  private var spoken: [String] = []
  /// True after `:quit`, or if no further input can change the exit status.
  private var isOver = false
  /// True after an error in input from a pipe. Further input is only checked.
  private var checksOnly = false
  private var status = Status.success
  /// The bytes of the input from a pipe.
  private var size = 0

  private init(isTerminal: Bool) {
    self.isTerminal = isTerminal
    display.tracing.store(false, ordering: .relaxed)
    session = ScriptSession(handlers: display.handlers(traces: true))
    session.joinsTexts = !isTerminal
    lines = ScriptLines(joinsElse: !isTerminal)
  }

  /// Runs `forwardcast repl`. On a terminal, errors do not end the session. For a file or a pipe,
  /// the exit status is that of `run`, and input after an error is only checked.
  static func run() -> Status {
    let isTerminal = Stream.input.isTerminal
    if isTerminal {
      Stream.output.write("forwardcast \(Command.version), message script; :help, or control-D to end\n")
    }
    let conversation = Conversation(isTerminal: isTerminal)
    let isEdited = isTerminal && Stream.output.isTerminal && environment("TERM") != "dumb"
    let editor = isEdited ? LineEditor() : nil
    let input = InputLines()
    while !conversation.isOver, !Stream.hasFailed {
      if let editor {
        switch editor.read(continues: !conversation.lines.isEmpty, completions: conversation.completions) {
        case .text(let text):
          for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            conversation.take(line + "\n")
          }
        case .abandoned: conversation.lines.removeAll()
        case nil: conversation.end()
        }
      } else {
        if isTerminal { Stream.output.write(conversation.lines.isEmpty ? "> " : "… ") }
        let bytes = input.next(limit: ScriptSession.textLimit)
        if let bytes { conversation.take(bytes) } else { conversation.end(by: input.error) }
      }
    }
    return isTerminal ? .success : conversation.status
  }

  private func take(_ bytes: [UInt8]) {
    size += isTerminal ? 0 : bytes.count
    if size > ScriptSession.textLimit {
      let text = "the text exceeds \(ScriptSession.textLimit >> 20) MiB"
      return note(.usage, "repl:\(lines.lineCount + 1):1: error: limit exceeded: \(text)")
    }
    do throws(FileError) {
      take(try decoded(bytes, from: "repl", firstLine: lines.lineCount + 1))
    } catch {
      lines.skip()
      note(.usage, error.text)
    }
  }

  private func take(_ line: String) {
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

  /// The completions at the end of a text: commands, operands, names, selectors and words.
  private func completions(_ text: String) -> (part: String, candidates: [String]) {
    let words = ScriptLanguage.entries.map(\.word)
    guard text.first == ":", lines.mayBegin else {
      let start = text.lastIndex { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }.map(text.index(after:))
      let part = String(text[(start ?? text.startIndex)...])
      return (part, part.isEmpty ? [] : session.completions + words)
    }
    guard let blank = text.firstIndex(of: " ") else {
      return (text, Self.help.split(separator: "\n").map { String($0.prefix { $0 != " " }) })
    }
    let operand = String(text[text.index(after: blank)...])
    switch text[..<blank] {
    case ":load", ":save": return (operand, paths(beginningWith: operand))
    case ":help": return (operand, words)
    case ":trace": return (operand, ["on", "off"])
    default: return (operand, [])
    }
  }

  /// Ends the input. The parser reports brackets that are still open.
  private func end(by error: FileError? = nil) {
    lines.finish().forEach(say)
    if let error { note(.usage, error.line) }
    isOver = true
  }

  private func say(_ whole: ScriptLines.Whole) {
    if isOver { return }
    if checksOnly {
      if let error = session.checkNext(whole.text, named: "repl", firstLine: whole.firstLine) {
        note(.usage, display.style.error("\(error)"))
      }
      return
    }
    let outcome = run(whole.text, named: "repl", firstLine: whole.firstLine)
    if isTerminal, outcome.error == nil, outcome.value != nil {
      Stream.output.write("\(outcome.value.debugDescription)\n")
    }
  }

  /// Runs a text. Prints its error or, if there is no error, stores the text.
  private func run(_ text: String, named name: String, firstLine: Int = 1) -> ScriptOutcome {
    display.restart()
    Interruption.begin()
    let outcome = session.run(text, named: name, firstLine: firstLine)
    Interruption.end()
    note(display.status(of: outcome))
    if outcome.error == nil {
      if text.trimmed.isEmpty { return outcome }
      spoken.append(text.hasSuffix("\n") ? text : text + "\n")
    } else if !isTerminal {
      checksOnly = true
    }
    return outcome
  }

  /// Records a status and prints its message. After invalid input, a pipe is not read further.
  private func note(_ status: Status, _ complaint: String? = nil) {
    if let complaint { Stream.error.write("\(complaint)\n") }
    self.status = self.status.worse(status)
    if !isTerminal, status == .usage { isOver = true }
  }

  /// The command for a word such as `help` or `quit`, unless it is a name in the session.
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
    // Prints the commands last, next to the prompt.
    case (":help", nil): Stream.output.write(HelpCommand.words + "\n" + Self.help)
    case (":help", let word?):
      let text = HelpCommand.explanation(of: word)
      if text.isEmpty {
        let near = Help.hint(ScriptLanguage.words(like: word))
        return note(.usage, "the language has no word \(ShownText.shown(word))\(near)")
      }
      Stream.output.write(text)
    case (":reset", nil):
      session = ScriptSession(handlers: display.handlers(traces: true))
      session.joinsTexts = !isTerminal
      spoken = []
    case (":load", "-"?) where !isTerminal: note(.usage, "cannot load -, because the session reads standard input")
    case (":load", let path?):
      guard let text = scriptText(path, reason: \.text) else { return note(.usage) }
      _ = run(text, named: path)
    case (":save", let path?):
      do throws(FileError) { try writeFile(path, spoken.joined()) } catch { note(.failure, error.text) }
    case (":trace", "on"?), (":trace", "off"?): display.tracing.store(argument == "on", ordering: .relaxed)
    case (":quit", nil): isOver = true
    default: note(.usage, Self.complaint(about: line, words.first ?? ""))
    }
  }

  /// The complaint about an unknown command, or about a known one with missing or wrong operands.
  private static func complaint(about line: String, _ word: String) -> String {
    guard let entry = help.split(separator: "\n").first(where: { $0.hasPrefix(word + " ") }) else {
      return "no command \(ShownText.shown(line)); :help lists them"
    }
    let form = entry[..<(entry.firstRange(of: "  ")?.lowerBound ?? entry.endIndex)]
    return "the command is written \(form), not \(ShownText.shown(line))"
  }
}

extension String {
  var trimmed: String {
    var text = self[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }
}

/// Whether control-C was pressed during a run. The signal handler stores a flag and removes itself.
enum Interruption {
  private static let asked = Atomic<Bool>(false)

  static var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// Makes the first control-C end the run, and the second control-C end the program.
  static func begin() {
    asked.store(false, ordering: .relaxed)
    handle { _ in
      Interruption.asked.store(true, ordering: .relaxed)
      signal(SIGINT, SIG_DFL)
    }
  }

  static func end() { handle(SIGINT, SIG_DFL) }

  /// Ends the program like an unhandled control-C.
  static func passOn() {
    end()
    raise(SIGINT)
  }

  /// Sets the handler, unless the signal is ignored, as in background jobs of a shell script.
  static func handle(_ number: Int32 = SIGINT, _ handler: (@convention(c) (Int32) -> Void)?) {
    let before = signal(number, handler)
    if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
  }
}
