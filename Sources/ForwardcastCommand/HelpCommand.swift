// HelpCommand.swift: the texts of `--help` and `forwardcast help WORD`.

import ForwardcastScript

extension CommandWord {
  static let all = [
    CommandWord(
      name: "run", operands: .files,
      options: [
        Option(name: "--trace", meaning: "print each message: its sender, its targets in order, and their answers"),
        Option(
          name: "--diagram", value: .file([".mmd", ".svg"]),
          meaning: "write a sequence diagram to the file F: .mmd for Mermaid, .svg for a drawing"),
        Option(
          name: "--trace-file", value: .file([".json"]),
          meaning: "write a timeline of the methods that ran to the file F, for a trace viewer"),
        Option(
          name: "--steps", value: .number,
          meaning: "end a script after N steps, such as sends; default \(ScriptSession.defaultStepLimit)"),
      ],
      summary: "run message scripts; - is standard input",
      story: """
        Runs message scripts, each in a session of its own; - is standard input. Every file runs, and the highest exit
        status is returned. Control-C ends the running script, prints its position, and completes the output files.
        """),
    CommandWord(
      name: "repl", operands: .none, summary: "run statements line by line",
      story: """
        Runs the message script line by line. A line that ends inside a bracket continues on the next one. On a terminal,
        values are shown, errors do not end the session, Tab completes, and control-C ends a run. With input from a file or
        a pipe, the exit status is that of `run`, and after an error the rest is only parsed.

        \(Conversation.help)
        """),
    CommandWord(
      name: "check", operands: .files, summary: "parse scripts without running them",
      story: "Parses message scripts without running them; - is standard input."),
    CommandWord(
      name: "types", operands: .encoding, summary: "explain an Objective-C type encoding",
      story: """
        Explains the Objective-C type encoding of a method or of one type: each type in words, with its size, alignment
        and offset. A caret marks a malformed part.

          forwardcast types "v24@0:8q16"
          forwardcast types "{Point=dd}"
        """),
    CommandWord(
      name: "help", operands: .word, summary: "list the words of the language, or explain one",
      story: """
        Lists the words of the message script, or explains one: a statement, an expression, a query, a message to a value
        or a limit.
        """),
  ]

  private var form: String { name + operands.rule.form + (options.isEmpty ? "" : " [OPTION…]") }

  var usage: String { "usage: forwardcast \(form); see forwardcast \(name) --help" }

  var help: String {
    let parts = ["usage: forwardcast \(form)\n", story, Help.table(options.map { ($0.form, $0.meaning) }), Help.status]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
  }

  fileprivate var row: (String, String) { ("forwardcast \(form)", summary) }
}

enum Help {
  static let usage =
    "usage: forwardcast \(CommandWord.all.map(\.name).joined(separator: "|")) …; see forwardcast --help"

  fileprivate static let status = """
    status: 0 success; 1 an expectation or a script failed, or output could not be written; 2 a syntax error, an
    unreadable file, or wrong arguments. With several files, the highest status.
    """

  static let general = """
    usage: forwardcast run FILE… [OPTION…]; forwardcast SUBCOMMAND --help explains a subcommand

    \(table(CommandWord.all.map(\.row) + CommandWord.general.options.map { ("forwardcast \($0.form)", $0.meaning) }))
    `--option value` and `--option=value` are the same; words after `--` are not options.

    \(status)

    """

  /// `; did you mean a or b?`
  static func hint(_ words: [String]) -> String {
    words.isEmpty ? "" : "; did you mean \(words.joined(separator: " or "))?"
  }

  fileprivate static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  \($0)\(String(repeating: " ", count: width - $0.count + 2))\($1)\n" }.joined()
  }
}

struct HelpCommand {
  let word: String?

  func run() -> Status {
    guard let word else {
      Stream.output.write(Self.list + "\nforwardcast help WORD explains one of them\n")
      return .success
    }
    let text = Self.explanation(of: word)
    let command = CommandWord.named(word)?.help
    guard !text.isEmpty || command != nil else {
      let near = ScriptLanguage.words(like: word) + CommandWord.like(word)
      Stream.error.write("forwardcast: the language has no word \(ShownText.shown(word))\(Help.hint(near))\n")
      return .usage
    }
    Stream.output.write([command ?? "", text].filter { !$0.isEmpty }.joined(separator: "\n"))
    return .success
  }

  static func explanation(of word: String) -> String {
    ScriptLanguage.entries(of: word).map { entry in
      (entry.kind == .limit ? "\(entry.word): " : "") + "\(entry.form)\n  \(entry.meaning)\n"
    }.joined()
  }

  static var words: String {
    ScriptLanguage.Kind.allCases.map { kind in
      var lines = [""]
      for entry in ScriptLanguage.entries where entry.kind == kind {
        if lines[lines.count - 1].count + entry.word.count > 76 { lines.append("") }
        lines[lines.count - 1] += "  " + entry.word
      }
      return "\(kind.rawValue)\n\(lines.joined(separator: "\n"))\n"
    }.joined()
  }

  static var list: String {
    ScriptLanguage.Kind.allCases.map { kind in
      let rows = ScriptLanguage.entries.filter { $0.kind == kind }
      return "\(kind.rawValue)\n\(Help.table(rows.map { ($0.word, $0.form) }))"
    }.joined(separator: "\n")
  }
}
