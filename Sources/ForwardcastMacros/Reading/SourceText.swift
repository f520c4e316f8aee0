// SourceText.swift: a text as tokens with matched brackets.

/// A text as tokens. Positions are indices of tokens, offsets are indices of bytes.
struct SourceText {
  let bytes: [UInt8]
  let tokens: [Token]
  /// The positions of matching brackets, in both directions.
  private let partners: [Int: Int]
  var statedActor: String?

  init(_ text: String) { self.init(bytes: Array(text.utf8)) }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    tokens = Lexer.tokens(of: bytes)
    var open: [(Int, UInt8)] = []
    var counts: [UInt8: Int] = [:]
    var partners: [Int: Int] = [:]
    let (opening, closing) = (Array("([{".utf8), Array(")]}".utf8))
    for (position, token) in tokens.enumerated() where token.kind == .mark && token.range.count == 1 {
      let byte = bytes[token.range.lowerBound]
      if let kind = opening.firstIndex(of: byte) {
        open.append((position, closing[kind]))
        counts[closing[kind], default: 0] += 1
      }
      // Unmatched brackets are ignored.
      guard counts[byte, default: 0] > 0 else { continue }
      while let (match, end) = open.popLast() {
        counts[end, default: 0] -= 1
        guard end == byte else { continue }
        (partners[match], partners[position]) = (position, match)
        break
      }
    }
    self.partners = partners
  }

  var end: Int { tokens.count - 1 }

  /// The token at a position, which is clamped to the text.
  subscript(_ position: Int) -> Token { tokens[min(max(position, 0), end)] }

  func text(_ position: Int) -> String { String(decoding: bytes[self[position].range], as: UTF8.self) }

  /// The text of the tokens, with the whitespace and comments between them.
  func text(_ positions: Range<Int>) -> String { String(decoding: bytes[offsets(positions)], as: UTF8.self) }

  /// The tokens on one line. One space replaces whitespace and comments.
  func line(_ positions: some Sequence<Int>, _ spelling: ((Int) -> String)? = nil) -> String {
    positions.reduce(into: "") { line, position in
      line += (isApart(position) && !line.isEmpty ? " " : "") + (spelling?(position) ?? text(position))
    }
  }

  /// Whether ``line(_:_:)`` writes a space before the token, as after `@escaping`.
  func isApart(_ position: Int) -> Bool {
    !isAdjacent(position)
      || isMark(position, "(") && isMark(position - 2, "@") && endOfAttribute(position - 2) == position
  }

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

  /// True if the token directly follows the preceding token.
  func isAdjacent(_ position: Int) -> Bool { self[position].leading == self[position].range.lowerBound }

  /// The closing bracket of an opening bracket; `nil` if the opening bracket is unmatched.
  func closing(_ position: Int) -> Int? {
    guard let partner = partners[position], partner > position else { return nil }
    return partner
  }

  /// The position after a token, or after the group that it opens.
  func after(_ position: Int) -> Int { min(closing(position) ?? position, end) + 1 }

  /// The lines of the documentation comments before a token, without indentation.
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
