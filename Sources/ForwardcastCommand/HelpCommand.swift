// HelpCommand.swift: what `--help` and `forwardcast help WORD` print.
// Layer: Command. See DESIGN.md, "The script".

import ForwardcastScript

/// The texts of `--help`, one for the command and one for each of its words.
enum Help {
  static let general = """
    usage: forwardcast run FILE… [OPTION…]                 run message scripts; - is standard input
           forwardcast repl                                the same language, line by line
           forwardcast check FILE…                         parse only
           forwardcast types ENCODING                      explain an Objective-C type encoding
           forwardcast help [WORD]                         the language, or one word of it
           forwardcast --help | --version

      --trace      print who was asked, who got it, in what order, and what came back
      --diagram F  draw the messages into the file F: .mmd for Mermaid, .svg for a drawing
      --steps N    end a script after N statements and sends (\(ScriptSession.defaultStepLimit))

    status: 0 all is well, 1 an expectation or a script failed, 2 syntax or usage

    """

  private static let ofCommands: [String: String] = [
    "run": """
    usage: forwardcast run FILE… [--trace] [--diagram F] [--steps N]

    Runs message scripts, each in a world of its own; - is standard input. Of several files all run, and the worst
    status counts.

      --trace      print to standard error who was asked, who got it, in what order, and what came back
      --diagram F  draw the messages into the file F: .mmd for Mermaid, .svg for a drawing
      --steps N    end a script after N statements and sends (\(ScriptSession.defaultStepLimit))

    status: 0 all is well, 1 an expectation or a script failed, 2 syntax or usage

    """,
    "repl": """
    usage: forwardcast repl

    Runs the message script line by line. A line that ends inside a bracket is continued on the next. On a terminal
    values are shown and errors do not end the conversation; input from a file or a pipe ends at its first error, with
    its status.

    \(Conversation.help)
    """,
    "check": """
    usage: forwardcast check FILE…

    Parses message scripts without running them; - is standard input.

    status: 0 all are well, 2 one has an error

    """,
    "types": """
    usage: forwardcast types ENCODING

    Explains the Objective-C type encoding of a method or of one type: each type in words, with size, alignment and
    offset. A caret points at what is malformed.

      forwardcast types "v24@0:8q16"
      forwardcast types "{Point=dd}"

    """,
    "help": """
    usage: forwardcast help [WORD]

    Lists the words of the message script, or explains one: a statement, an expression, a query, a message to a value
    or a limit.

    """,
  ]

  static func command(_ word: String) -> String? { ofCommands[word] }
  static var commands: [String] { ofCommands.keys.sorted() }
}

/// `forwardcast help [WORD]`.
struct HelpCommand {
  private let word: String?

  init(_ arguments: [String]) throws {
    guard arguments.count <= 1 else { throw UsageError(text: "help takes one word") }
    word = arguments.first
  }

  func run() -> Status {
    guard let word else {
      Stream.output.write(Self.list + "\nforwardcast help WORD explains one of them\n")
      return .success
    }
    let text = Self.explanation(of: word)
    guard !text.isEmpty || Help.command(word) != nil else {
      let near = ScriptLanguage.words(like: word) + Help.commands.filter { $0.hasPrefix(word) }
      let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
      Stream.error.write("forwardcast: the language has no word \(word)\(hint)\n")
      return .usage
    }
    Stream.output.write([Help.command(word) ?? "", text].filter { !$0.isEmpty }.joined(separator: "\n"))
    return .success
  }

  /// Form and meaning of a word; empty when there is none.
  static func explanation(of word: String) -> String {
    ScriptLanguage.entries(of: word).map { entry in
      entry.kind == .limit
        ? "\(entry.word): \(entry.form)\n  \(entry.meaning)\n" : "\(entry.form)\n  \(entry.meaning)\n"
    }.joined()
  }

  /// Every word with its form, by kind.
  static var list: String {
    ScriptLanguage.Kind.allCases.map { kind in
      let rows = ScriptLanguage.entries.filter { $0.kind == kind }
      let width = rows.map(\.word.count).max() ?? 0
      let lines = rows.map { "  " + $0.word + String(repeating: " ", count: width - $0.word.count + 2) + $0.form }
      return "\(kind.rawValue)\n\(lines.joined(separator: "\n"))\n"
    }.joined(separator: "\n")
  }
}
