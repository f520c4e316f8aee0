// Token.swift: one token of Swift text.

/// One token. Offsets count bytes from the beginning of the text.
struct Token: Equatable {
  enum Kind {
    /// An identifier or keyword without backticks.
    case word
    /// An identifier in backticks.
    case quotedWord
    case number
    case string
    case regex
    /// `#if`, `#selector`, `#available` and the like.
    case directive
    /// Punctuation, `->`, or one character of an operator.
    case mark
    case unknown
    case end
  }

  var kind: Kind
  var range: Range<Int>
  /// The offset of the whitespace and comments before the token.
  var leading: Int
  var beginsLine: Bool

  var isWord: Bool { kind == .word || kind == .quotedWord }
}
