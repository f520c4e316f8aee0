// Lexer.swift: splits a text into tokens, one at a time.

import Forwardcast

/// Splits a text into tokens. Matches brackets, because a line break ends a statement only directly
/// within braces or at the top level.
struct Lexer {
  static let bracketLimit = 64

  let source: SourceText
  private(set) var offset = 0
  /// The open brackets with their offsets, innermost last.
  private(set) var open: [(sign: Sign, offset: Int)] = []

  init(_ source: SourceText, after open: [Sign] = []) throws {
    self.source = source
    self.open = open.map { ($0, 0) }
    let limit = ScriptLimits.current.text
    if source.bytes.count > limit { throw error("the text exceeds \(limit >> 20) MiB", .limitExceeded, at: 0) }
  }

  private func byte(at index: Int) -> UInt8? { index < source.bytes.count ? source.bytes[index] : nil }

  private func error(
    _ evidence: String, _ code: ScriptError.Code = .syntax, at offset: Int, _ advice: String? = nil
  ) -> ScriptError {
    ScriptError(code, evidence, about: advice.map { .advice($0) }).placed(at: offset, of: source)
  }

  /// The next token; `.end` after the last.
  mutating func next() throws -> Token {
    if let separator = skipBlanks() { return separator }
    let start = offset
    guard let first = byte(at: start) else {
      if let bracket = open.last { throw error("\"\(bracket.sign.rawValue)\" is never closed", at: bracket.offset) }
      return Token(kind: .end, offset: start, end: start)
    }
    switch first {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(from: start, digitsFrom: start)
    case UInt8(ascii: "\""): return try string(from: start)
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
      return try word(from: start)
    case UInt8(ascii: "-") where byte(at: start + 1).map(isDigit) ?? false:
      return try number(from: start, digitsFrom: start + 1)
    default: return try signToken(first, start)
    }
  }

  private mutating func pass(_ isMeant: (UInt8) -> Bool) {
    while let byte = byte(at: offset), isMeant(byte) { offset += 1 }
  }

  /// Skips spaces, comments and line breaks. Returns the separator that ends a statement, if any.
  private mutating func skipBlanks() -> Token? {
    while let byte = byte(at: offset) {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"): offset += 1
      case UInt8(ascii: "#"): pass { !isLineEnd($0) }
      case UInt8(ascii: ";"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        offset += 1
        if byte == UInt8(ascii: ";") || open.last?.sign ?? .openBrace == .openBrace {
          return Token(kind: .separator, offset: offset - 1, end: offset)
        }
      default: return nil
      }
    }
    return nil
  }

  private mutating func signToken(_ first: UInt8, _ start: Int) throws -> Token {
    let pair = source.bytes[start...].prefix(2)
    guard
      let sign = Sign(rawValue: String(decoding: pair, as: UTF8.self))
        ?? Sign(rawValue: "\(Character(Unicode.Scalar(first)))")
    else {
      if first == UInt8(ascii: "@") { return try selector(from: start) }
      let isControl = first < 0x20 || first == 0x7F
      let shown = isControl ? "control character \(first)" : "\"\(Character(Unicode.Scalar(first)))\""
      throw error("unexpected \(shown)", at: start, advice(first, pair.dropFirst().first))
    }
    switch sign {
    case .openSend, .openParenthesis, .openBrace, .openList, .openDictionary:
      guard open.count < Lexer.bracketLimit else {
        throw error("more than \(Lexer.bracketLimit) brackets are open", .limitExceeded, at: start)
      }
      open.append((sign, start))
    case .closeSquare, .closeParenthesis, .closeBrace:
      guard let last = open.popLast() else { throw error("unmatched \"\(sign.rawValue)\"", at: start) }
      guard last.sign.closing == sign else {
        let line = source.position(at: last.offset).line
        throw error("\"\(sign.rawValue)\" does not close the \"\(last.sign.rawValue)\" of line \(line)", at: start)
      }
    default: break
    }
    offset += sign.rawValue.utf8.count
    return Token(kind: .sign(sign), offset: start, end: offset)
  }

  private func advice(_ first: UInt8, _ second: UInt8?) -> String? {
    switch first {
    case UInt8(ascii: "/") where second == UInt8(ascii: "/") || second == UInt8(ascii: "*"): Advice.comment
    case UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"): Advice.arithmetic
    case UInt8(ascii: ".") where second.map(isDigit) ?? false: Advice.fraction
    case UInt8(ascii: "."): Advice.brackets
    case UInt8(ascii: "&"), UInt8(ascii: "|"): Advice.conditions
    case UInt8(ascii: "!"): Advice.negation
    case UInt8(ascii: "'"): Advice.quotes
    default: nil
    }
  }

  /// `@selector(name)`, with or without spaces around the name.
  private mutating func selector(from start: Int) throws -> Token {
    let opening = Array("@selector(".utf8)
    guard source.bytes[start...].starts(with: opening) else {
      throw error("\"@\" must be followed by \"[\", \"{\" or \"selector(\"", at: start)
    }
    var from = start + opening.count
    guard var to = source.bytes[from...].firstIndex(where: { $0 == UInt8(ascii: ")") || isLineEnd($0) }),
      source.bytes[to] == UInt8(ascii: ")")
    else { throw error("\"@selector(\" is not closed on its line", at: start) }
    offset = to + 1
    while from < to, source.bytes[from] == UInt8(ascii: " ") { from += 1 }
    while to > from, source.bytes[to - 1] == UInt8(ascii: " ") { to -= 1 }
    let name = try source.checkedSelector(source.text(from..<to), at: from)
    return Token(kind: .selector(name), offset: start, end: offset)
  }

  private mutating func word(from start: Int) throws -> Token {
    let name = takeWord()
    if name.utf8.count > 1024 || !name.utf8.allSatisfy({ $0 < 0x80 }) {
      do { _ = try MessageSelector.numberOfArguments(inName: name) } catch {
        throw notAName(name, error, at: start)
      }
    }
    return Token(kind: .word(name), offset: start, end: offset)
  }

  /// An error at the first character that resembles a quote or space, or else at `start`.
  private func notAName(_ text: String, _ reason: MessageSelectorError, at start: Int) -> ScriptError {
    var place = start
    for scalar in text.unicodeScalars {
      let code = "U+" + String(scalar.value, radix: 16, uppercase: true)
      switch scalar.properties.generalCategory {
      case .initialPunctuation, .finalPunctuation, .openPunctuation:
        return error("unexpected \"\(scalar)\" (\(code))", at: place, Advice.quotes)
      case .spaceSeparator, .format, .control, .lineSeparator, .paragraphSeparator:
        return error("not a name: \(code) looks like a space but is not one", at: place)
      default: place += UTF8.width(scalar)
      }
    }
    guard reason.code != .tooLong else {
      return error("not a name: more than \(MessageSelector.maximumLength) bytes", at: start)
    }
    let index = text.utf8.index(text.startIndex, offsetBy: reason.byteOffset, limitedBy: text.endIndex)
    let culprit: Unicode.Scalar? = index.flatMap { $0 < text.endIndex ? text.unicodeScalars[$0] : nil }
    return error("not a name" + (culprit.map { ": unexpected \(String(reflecting: String($0)))" } ?? ""), at: start)
  }

  private mutating func number(from start: Int, digitsFrom: Int) throws -> Token {
    offset = digitsFrom
    let isHex = byte(at: offset) == UInt8(ascii: "0") && byte(at: offset + 1).map { $0 | 0x20 } == UInt8(ascii: "x")
    var isFloating = false
    if isHex {
      offset += 2
    } else {
      pass(isDigit)
      if byte(at: offset) == UInt8(ascii: "."), byte(at: offset + 1).map(isDigit) ?? false {
        isFloating = true
        offset += 1
        pass(isDigit)
      }
      isFloating = takeExponent() || isFloating
    }
    let word = takeWord()
    let text = source.text(start..<offset)
    guard isHex == !word.isEmpty, word.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit) else {
      throw error("\"\(text)\" is not a number", at: start)
    }
    let kind: Token.Kind? =
      switch (isHex, isFloating) {
      case (true, _): Int((digitsFrom > start ? "-" : "") + word, radix: 16).map { .integer($0) }
      case (_, true): Double(text).flatMap { $0.isFinite ? .floating($0) : nil }
      default: Int(text).map { .integer($0) }
      }
    guard let kind else {
      throw error("the number \(isFloating ? "is too large" : "does not fit in a signed 64-bit integer")", at: start)
    }
    return Token(kind: kind, offset: start, end: offset)
  }

  private mutating func takeWord() -> String {
    let start = offset
    pass(isWordByte)
    return source.text(start..<offset)
  }

  private mutating func takeExponent() -> Bool {
    guard let mark = byte(at: offset), mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
    var digits = offset + 1
    if let sign = byte(at: digits), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits += 1 }
    guard let first = byte(at: digits), isDigit(first) else { return false }
    offset = digits
    pass(isDigit)
    return true
  }

  private mutating func string(from start: Int) throws -> Token {
    var text: [UInt8] = []
    offset += 1
    while true {
      guard let byte = byte(at: offset), !isLineEnd(byte) else {
        throw error("the text is not closed on its line", at: start)
      }
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return Token(kind: .string(String(decoding: text, as: UTF8.self)), offset: start, end: offset)
      case UInt8(ascii: "\\"): text += try escape()
      default:
        text.append(byte)
        offset += 1
      }
    }
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "\""): 34, UInt8(ascii: "\\"): 92,
  ]

  private mutating func escape() throws -> [UInt8] {
    let start = offset
    let letter = byte(at: start + 1)
    if let letter, let byte = Lexer.escapes[letter] {
      offset += 2
      return [byte]
    }
    guard letter == UInt8(ascii: "u"), byte(at: start + 2) == UInt8(ascii: "{") else {
      throw error("an escape must be \\n, \\t, \\\", \\\\ or \\u{…}", at: start)
    }
    offset += 3
    let digits = takeWord()
    guard byte(at: offset) == UInt8(ascii: "}"), digits.utf8.count <= 8,
      digits.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit),
      let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
    else { throw error("\"\\u{…}\" must hold the hexadecimal number of a character", at: start) }
    offset += 1
    return Array(String(Character(scalar)).utf8)
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
private func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

private func isWordByte(_ byte: UInt8) -> Bool {
  isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    || byte >= 0x80
}
