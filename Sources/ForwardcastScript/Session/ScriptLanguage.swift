// ScriptLanguage.swift: the language reference as data.

import Forwardcast

/// Every word of the message script with its form and meaning.
///
///     ScriptLanguage.entries(of: "drop").first?.form  // drop x
///
/// The entries are complete: a test compares them with the parser's words.
public enum ScriptLanguage {
  /// A word, a message to values, or a limit.
  public struct Entry: Sendable, Hashable {
    /// The kind of word.
    public let kind: Kind
    /// The word or the selector.
    public let word: String
    /// How the word is written.
    public let form: String
    /// What the word does, in one or more sentences.
    public let meaning: String
  }

  /// The kind of an entry; the raw value is a headline.
  public enum Kind: String, Sendable, CaseIterable {
    /// Begins a statement.
    case statement = "statements"
    /// Begins an expression or is part of one.
    case expression = "expressions"
    /// A query about one operand.
    case query = "queries"
    /// A message that a number, a text, a list or a dictionary answers.
    case valueMessage = "messages to values"
    /// A bound on what a script may do.
    case limit = "limits"
  }

  /// All entries, by kind.
  public static let entries = zip(Kind.allCases, LanguageWords.table.split(separator: "\n\n")).flatMap { kind, rows in
    rows.split(separator: "\n").map { row in
      let parts = row.split(separator: " — ", maxSplits: 1)
      let sides = parts[0].split(separator: " := ", maxSplits: 1)
      let (word, form) = (sides[0].prefix { $0 != " " }, sides[sides.count - 1])
      return Entry(kind: kind, word: String(word), form: String(form), meaning: String(parts[1]))
    }
  }

  /// The entries of a word, a selector, or the first part of a selector. Empty if there are none.
  public static func entries(of word: String) -> [Entry] {
    entries.filter { $0.word == word || ($0.kind == .valueMessage && $0.word == word + ":") }
  }

  /// The words that are most similar to a text, the best first. Empty if no word is similar.
  public static func words(like text: String) -> [String] {
    Likeness.nearest(to: text, among: entries.filter { $0.kind != .limit }.map(\.word))
  }
}
