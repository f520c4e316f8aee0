// Arguments.swift: the command line's subcommands and options, and a parsed call.

import Forwardcast
import ForwardcastScript

struct Option {
  /// The value of an option, as `--option value` or `--option=value`.
  enum Value {
    /// A file to write, with one of these extensions.
    case file([String])
    case number
    case choice([String])
  }

  let name: String
  var value: Value?
  let meaning: String

  /// `--steps N`.
  var form: String {
    switch value {
    case nil: name
    case .file: "\(name) F"
    case .number: "\(name) N"
    case .choice(let words): "\(name) \(words.joined(separator: "|"))"
    }
  }

  /// The description of a valid value, for an error; `nil` if `text` is valid.
  fileprivate func need(_ text: String) -> String? {
    switch value {
    case .file(let ends) where !ends.contains(where: text.hasSuffix):
      "the name of a file that ends in \(ends.joined(separator: " or "))"
    case .number where Int(text) ?? 0 < 1: "a whole number from 1 to \(Int.max)"
    case .choice(let words) where !words.contains(text): "one of \(words.joined(separator: ", "))"
    default: nil
    }
  }
}

struct CommandWord {
  enum Operands {
    case none, files, encoding, word

    var rule: (form: String, counts: ClosedRange<Int>, complaint: String) {
      switch self {
      case .none: ("", 0...0, "takes no arguments")
      case .files: (" FILE…", 1...Int.max, "needs a file")
      case .encoding: (" ENCODING", 1...1, "takes one encoding")
      case .word: (" [WORD]", 0...1, "takes one word")
      }
    }
  }

  let name: String
  let operands: Operands
  var options: [Option] = []
  let summary: String
  /// The text of the subcommand's help between the usage line and the options.
  let story: String

  static let general = CommandWord(
    name: "", operands: .word,
    options: [
      Option(name: "--help", meaning: "print this help"), Option(name: "--version", meaning: "print the version"),
      Option(
        name: "--generate-completion", value: .choice(["bash", "zsh", "fish"]),
        meaning: "print a completion script for the shell"),
    ], summary: "", story: "")

  static func named(_ name: String) -> CommandWord? { all.first { $0.name == name } }

  static func like(_ text: String) -> [String] { Likeness.nearest(to: text, among: all.map(\.name)) }
}

struct Arguments {
  /// The operands in order. `-` is standard input.
  private(set) var operands: [String] = []
  private var values: [String: String?] = [:]

  func has(_ option: String) -> Bool { values[option] != nil }
  func value(of option: String) -> String? { values[option] ?? nil }

  /// Parses the words after `word`. All words after `--` are operands. If an option is repeated,
  /// the last one is used.
  init(_ words: [String], of word: CommandWord) throws(UsageError) {
    func refusal(_ text: String) -> UsageError { UsageError(text: text, word: word.name.isEmpty ? nil : word) }
    var rest = words[...]
    while let text = rest.popFirst() {
      if text == "--" {
        operands += rest
        break
      }
      guard text.hasPrefix("-"), text != "-" else {
        operands.append(text)
        continue
      }
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0] == "-h" ? "--help" : parts[0]
      // Includes `--help`, to refuse a value. Without a value, it was handled earlier.
      let options = word.options + CommandWord.general.options.prefix(word.name.isEmpty ? 0 : 1)
      guard let option = options.first(where: { $0.name == name }) else {
        let near = Likeness.nearest(to: name, among: options.map(\.name))
        let owner = word.name.isEmpty ? "forwardcast" : word.name
        throw refusal("\(owner) has no option \(ShownText.shown(name))" + Help.hint(near))
      }
      var value = parts.count > 1 ? parts[1] : nil
      if option.value == nil, value != nil { throw refusal("\(name) takes no value") }
      if option.value != nil, value == nil { value = rest.popFirst() }
      if let need = option.need(value ?? "") { throw refusal("\(name) needs \(need)") }
      values[name] = .some(value)
    }
    guard word.name.isEmpty || word.operands.rule.counts.contains(operands.count) else {
      throw refusal("\(word.name) \(word.operands.rule.complaint)")
    }
  }
}
