// ScriptLanguage.swift: the language reference as data.

/// Every word of the message script with its form and meaning.
///
///     ScriptLanguage.entries(of: "drop").first?.form     // drop x
///
/// The entries are complete: a test compares them with the parser's words.
public enum ScriptLanguage {
  /// A word, a message to values, or a limit.
  public struct Entry: Sendable, Hashable {
    /// The kind of word.
    public let kind: Kind
    /// The word or the selector.
    public let word: String
    /// How it is written.
    public let form: String
    /// What it does, in one sentence.
    public let meaning: String
  }

  /// The kind of an entry; the raw value is a headline.
  public enum Kind: String, Sendable, CaseIterable {
    /// Begins a statement.
    case statement = "statements"
    /// Begins an expression or stands in one.
    case expression = "expressions"
    /// A question with one operand.
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

  /// The entries of a word, a selector, or the first part of one; empty when there are none.
  public static func entries(of word: String) -> [Entry] {
    entries.filter { $0.word == word || ($0.kind == .valueMessage && $0.word == word + ":") }
  }

  /// The words that are most similar to a text, best first; empty when none is similar.
  public static func words(like text: String) -> [String] {
    Likeness.nearest(to: text, among: entries.filter { $0.kind != .limit }.map(\.word))
  }
}

package enum Likeness {
  /// The longest text, in characters, for which there are similar words; and the most candidates that are compared.
  static let (lengthLimit, candidateLimit) = (64, 2000)

  /// At most three of `candidates`, best first, with at most one change for every three letters. `With`, which Swift inserts into
  /// selectors, counts as one letter.
  package static func nearest(to text: String, among candidates: some Sequence<String>) -> [String] {
    let wanted = Array(text.lowercased())
    guard (2...lengthLimit).contains(wanted.count) else { return [] }
    var found: [(word: String, distance: Int)] = []
    for word in Set(candidates.prefix(candidateLimit)) where word != text && word.utf8.count <= 4 * lengthLimit {
      let letters = Array(word.lowercased())
      var distance = distance(wanted, letters)
      if let start = letters.indices.dropLast(3).first(where: { letters[$0..<$0 + 4].elementsEqual("with") }) {
        distance = min(distance, Self.distance(wanted, Array(letters[..<start] + letters[(start + 4)...])) + 1)
      }
      if distance <= max(1, wanted.count / 3) { found.append((word, distance)) }
    }
    found.sort { ($0.distance, $0.word) < ($1.distance, $1.word) }
    return found.prefix(3).map(\.word)
  }

  /// The number of letters to insert, remove, change or swap with a neighbour.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    if abs(left.count - right.count) > lengthLimit / 3 { return lengthLimit }
    var (before, last) = ([Int](), Array(0...right.count))
    for row in left.indices {
      var here = [row + 1]
      for column in right.indices {
        let change = last[column] + (left[row] == right[column] ? 0 : 1)
        var least = min(change, last[column + 1] + 1, here[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          least = min(least, before[column - 1] + 1)
        }
        here.append(least)
      }
      (before, last) = (last, here)
    }
    return last[right.count]
  }
}
