// Token.swift: one piece of Swift text and where it stands.

/// One token. Offsets count bytes of UTF-8 from the beginning of the text that was read.
struct Token: Equatable {
  enum Kind: Equatable {
    /// An identifier or keyword without backticks.
    case word
    /// An identifier in backticks; `isRaw` when it could not stand without.
    case quotedWord(isRaw: Bool)
    case number
    case string
    case regex
    /// `#if` and its like, `#selector`, `#available`.
    case directive
    /// `@`, a bracket, a comma, a colon, a semicolon, a dot, the arrow, or one character of an operator.
    case mark
    /// What no Swift text has. It ends nothing.
    case unknown
    case end
  }

  var kind: Kind
  var range: Range<Int>
  /// Where the blanks and comments before the token begin.
  var leading: Int
  /// Whether a line ends before the token.
  var beginsLine: Bool

  var isWord: Bool {
    switch kind {
    case .word, .quotedWord: true
    default: false
    }
  }
}
