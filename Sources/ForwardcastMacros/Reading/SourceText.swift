// SourceText.swift: tokens, the brackets among them that belong together, and their text.

/// A declaration's text as tokens. Positions are indices of tokens unless they are called offsets.
struct SourceText {
  let bytes: [UInt8]
  let tokens: [Token]
  /// For each opening bracket the position of the closing one, and the other way round.
  private let partners: [Int: Int]

  init(_ text: String) { self.init(bytes: Array(text.utf8)) }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    tokens = Lexer.tokens(of: bytes)
    var open: [(Int, UInt8)] = []
    var partners: [Int: Int] = [:]
    for (position, token) in tokens.enumerated() where token.kind == .mark && token.range.count == 1 {
      switch bytes[token.range.lowerBound] {
      case UInt8(ascii: "("): open.append((position, UInt8(ascii: ")")))
      case UInt8(ascii: "["): open.append((position, UInt8(ascii: "]")))
      case UInt8(ascii: "{"): open.append((position, UInt8(ascii: "}")))
      case let closing where ")]}".utf8.contains(closing):
        // A bracket that closes nothing is passed over, and so are those inside of it that nothing closes.
        guard let match = open.lastIndex(where: { $0.1 == closing }) else { break }
        partners[open[match].0] = position
        partners[position] = open[match].0
        open.removeSubrange(match...)
      default: break
      }
    }
    self.partners = partners
  }

  var end: Int { tokens.count - 1 }

  /// A token, or the end for every position that is out of the text.
  subscript(_ position: Int) -> Token { tokens[min(max(position, 0), end)] }

  /// The text of one token.
  func text(_ position: Int) -> String { String(decoding: bytes[self[position].range], as: UTF8.self) }

  /// The text from the beginning of the first token to the end of the last, blanks and comments between them included.
  func text(_ positions: Range<Int>) -> String { String(decoding: bytes[offsets(positions)], as: UTF8.self) }

  /// The same on one line: each run of blanks and comments is one blank.
  ///
  /// - Parameter spelling: what stands for a token; its text unless given.
  func line(_ positions: some Sequence<Int>, _ spelling: ((Int) -> String)? = nil) -> String {
    positions.reduce(into: "") { line, position in
      line += (isApart(position) && !line.isEmpty ? " " : "") + (spelling?(position) ?? text(position))
    }
  }

  /// Whether a blank stands before the token on one line: also between `@escaping` and a bracket that is not its own.
  func isApart(_ position: Int) -> Bool {
    !isAdjacent(position)
      || isMark(position, "(") && isMark(position - 2, "@") && endOfAttribute(position - 2) == position
  }

  /// Whether the token is that word, without backticks.
  func isWord(_ position: Int, _ word: StaticString) -> Bool {
    self[position].kind == .word && hasBytes(position, word)
  }

  func isMark(_ position: Int, _ mark: StaticString) -> Bool {
    self[position].kind == .mark && hasBytes(position, mark)
  }

  private func hasBytes(_ position: Int, _ text: StaticString) -> Bool {
    let range = self[position].range
    return range.count == text.utf8CodeUnitCount && text.withUTF8Buffer { $0.elementsEqual(bytes[range]) }
  }

  /// Whether nothing stands between the token and the one before it.
  func isAdjacent(_ position: Int) -> Bool { self[position].leading == self[position].range.lowerBound }

  /// The closing bracket of an opening one; `nil` when nothing closes it.
  func closing(_ position: Int) -> Int? {
    guard let partner = partners[position], partner > position else { return nil }
    return partner
  }

  /// The position behind a token, or behind its whole group where it opens one.
  func after(_ position: Int) -> Int {
    min(closing(position) ?? position, end) + 1
  }

  /// The comment lines that document a token: `///` and `/** */`, as they are but for their indentation.
  func documentation(before position: Int) -> [String] {
    Lexer.documentation(before: self[position], in: bytes).flatMap { comment in
      String(decoding: bytes[comment], as: UTF8.self).split(whereSeparator: \.isNewline).map { line in
        let line = line.trimmingBlanks
        return line.hasPrefix("*") ? " \(line)" : String(line)
      }
    }
  }
}

extension Substring {
  var trimmingBlanks: Substring {
    var rest = self
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest
  }
}
