// Lexer.swift: splits Swift text into tokens.

/// Splits Swift text into tokens. Accepts every text: bytes that are not Swift become `unknown`.
struct Lexer {
  static let maximumInterpolation = 32
  /// The maximum bytes of a regular expression literal; for an extended literal, 32 times as many.
  static let maximumRegex = 512

  /// The maximum number of `#` signs before a literal. Like `maximumRegex`, it keeps lexing linear.
  static let maximumHashes = 256

  let bytes: [UInt8]
  private var index = 0
  /// The last token, which may be inside an interpolation.
  private var last: Token?
  private var depth = 0
  private var documentation: [Range<Int>] = []
  /// The offset up to which a search found no end of an extended regular expression.
  private var searched = 0
  /// For raw strings by their number of `#` signs, the offset of the next closing quote or, without
  /// one, of the line's end.
  private var closings: [Int: Int] = [:]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func tokens(of bytes: [UInt8]) -> [Token] {
    var (lexer, tokens) = (Lexer(bytes), [Token]())
    while tokens.last?.kind != .end { tokens.append(lexer.next()) }
    return tokens
  }

  /// The ranges of the documentation comments before a token.
  static func documentation(before token: Token, in bytes: [UInt8]) -> [Range<Int>] {
    var lexer = Lexer(bytes)
    lexer.index = token.leading
    lexer.skipTrivia()
    return lexer.documentation
  }

  private func byte(_ ahead: Int = 0) -> UInt8? { index + ahead < bytes.count ? bytes[index + ahead] : nil }
  private func at(_ text: StaticString) -> Bool {
    let end = index + text.utf8CodeUnitCount
    return end <= bytes.count && text.withUTF8Buffer { $0.elementsEqual(bytes[index..<end]) }
  }

  mutating func next() -> Token {
    let leading = index
    skipTrivia()
    let start = index
    let beginsLine = leading == 0 || bytes[leading..<start].contains { $0 == 0x0A || $0 == 0x0D }
    let kind = scan()
    if kind != .end, index == start { index += 1 }
    let token = Token(kind: kind, range: start..<index, leading: leading, beginsLine: beginsLine)
    last = token
    return token
  }

  private mutating func skipTrivia() {
    while let here = byte() {
      let start = index
      switch here {
      case 0x0A, 0x0D, 0x20, 0x09, 0x0B, 0x0C, 0x00: index += 1
      case UInt8(ascii: "/") where at("//"):
        let documents = at("///") && !at("////")
        while let inside = byte(), inside != 0x0A, inside != 0x0D { index += 1 }
        if documents { documentation.append(start..<index) }
      case UInt8(ascii: "/") where at("/*"):
        let documents = at("/**") && !at("/***") && !at("/**/")
        skipBlockComment()
        if documents, byte() != nil { documentation.append(start..<index) }
      case 0xEF where at("\u{FEFF}"): index += 3
      default: return
      }
    }
  }

  private mutating func skipBlockComment() {
    var level = 0
    repeat {
      let isOpening = byte() == UInt8(ascii: "/") && byte(1) == UInt8(ascii: "*")
      let isClosing = byte() == UInt8(ascii: "*") && byte(1) == UInt8(ascii: "/")
      level += isOpening ? 1 : isClosing ? -1 : 0
      index += isOpening || isClosing ? 2 : 1
    } while level > 0 && index < bytes.count
  }

  private mutating func scan() -> Token.Kind {
    guard let here = byte() else { return .end }
    switch here {
    case UInt8(ascii: "`"): return scanQuotedWord()
    case UInt8(ascii: "\""): return scanString(hashes: 0)
    case UInt8(ascii: "#"): return scanHash()
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return scanNumber()
    case UInt8(ascii: "$"): return scanWord()
    case UInt8(ascii: "/"): return scanSlash()
    case UInt8(ascii: "-") where byte(1) == UInt8(ascii: ">"):
      index += 2
      return .mark
    case _ where "()[]{},:;.@=-+!*%<>&|^~?\\".utf8.contains(here):
      index += 1
      return .mark
    default: return scanWord()
    }
  }

  // MARK: Words

  private func scalar() -> Unicode.Scalar? {
    guard let first = byte() else { return nil }
    if first < 0x80 { return Unicode.Scalar(first) }
    var decoder = UTF8()
    var iterator = bytes[index..<min(index + 4, bytes.count)].makeIterator()
    if case .scalarValue(let scalar) = decoder.decode(&iterator) { return scalar }
    return nil
  }

  private mutating func scanWord() -> Token.Kind {
    guard let first = scalar() else { return .unknown }
    if first != "$", !first.beginsSwiftIdentifier {
      index += UTF8.width(first)
      return first.value < 0x80 ? .unknown : .mark
    }
    index += UTF8.width(first)
    while let next = scalar(), next.continuesSwiftIdentifier { index += UTF8.width(next) }
    return .word
  }

  private mutating func scanQuotedWord() -> Token.Kind {
    let start = index
    index += 1
    while let next = scalar(), next != "`", next != "\n", next != "\r" { index += UTF8.width(next) }
    guard byte() == UInt8(ascii: "`"), index > start + 1 else { return .unknown }
    index += 1
    return .quotedWord
  }

  private mutating func scanNumber() -> Token.Kind {
    while let next = scalar(), next.continuesSwiftIdentifier || next == "." {
      if next == ".", !(byte(1).map { (0x30...0x39).contains($0) } ?? false) { break }
      index += UTF8.width(next)
    }
    return .number
  }

  // MARK: Strings and regular expressions

  private mutating func scanHash() -> Token.Kind {
    var hashes = 0
    while hashes < Self.maximumHashes, byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    switch byte(hashes) {
    case UInt8(ascii: "\""):
      index += hashes
      return scanString(hashes: hashes)
    case UInt8(ascii: "/"): return scanExtendedRegex(hashes: hashes)
    default:
      index += 1
      while let next = scalar(), next.continuesSwiftIdentifier { index += UTF8.width(next) }
      return .directive
    }
  }

  private func closes(_ quote: StaticString, hashes: Int) -> Bool {
    at(quote) && (0..<hashes).allSatisfy { byte(quote.utf8CodeUnitCount + $0) == UInt8(ascii: "#") }
  }

  /// Whether a quote from the third one on closes a raw string on its line. If so, three quotes do
  /// not begin a multiline string.
  private mutating func closesOnLine(hashes: Int) -> Bool {
    let start = index
    defer { index = start }
    index = max(start + 2, closings[hashes] ?? 0)
    while let here = byte(), here != 0x0A, here != 0x0D, !closes("\"", hashes: hashes) { index += 1 }
    closings[hashes] = index
    return closes("\"", hashes: hashes)
  }

  /// Reads a string from its opening quotes. A single-line string cannot extend past its line.
  private mutating func scanString(hashes: Int) -> Token.Kind {
    let isMultiline = at("\"\"\"") && !(hashes > 0 && closesOnLine(hashes: hashes))
    index += isMultiline ? 3 : 1
    while let here = byte() {
      if isMultiline ? closes("\"\"\"", hashes: hashes) : closes("\"", hashes: hashes) {
        index += (isMultiline ? 3 : 1) + hashes
        return .string
      }
      if !isMultiline, here == 0x0A || here == 0x0D { return .unknown }
      let isEscape = here == UInt8(ascii: "\\") && closes("\\", hashes: hashes)
      if isEscape { index += 1 + hashes }
      if isEscape, byte() == UInt8(ascii: "(") {
        guard skipInterpolation() else { return .unknown }
      } else if byte() != nil {
        index += 1
      }
    }
    return .unknown
  }

  private mutating func skipInterpolation() -> Bool {
    guard depth < Self.maximumInterpolation else { return false }
    depth += 1
    defer { depth -= 1 }
    var level = 0
    repeat {
      let token = next()
      if token.kind == .end { return false }
      let byte = bytes[token.range.lowerBound]
      if token.kind == .mark { level += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0 }
    } while level > 0
    return true
  }

  private mutating func scanExtendedRegex(hashes: Int) -> Token.Kind {
    let start = index
    guard start >= searched else {
      index = start + 1
      return .unknown
    }
    index += hashes + 1
    let isMultiline = byte() == 0x0A || byte() == 0x0D
    while let here = byte(), index - start < 32 * Self.maximumRegex {
      if closes("/", hashes: hashes) {
        index += 1 + hashes
        return .regex
      }
      if !isMultiline, here == 0x0A || here == 0x0D { break }
      index += here == UInt8(ascii: "\\") && byte(1) != nil ? 2 : 1
    }
    searched = index
    index = start + 1
    return .unknown
  }

  /// Reads a regular expression if an expression may begin here and the line has a closing slash.
  /// As in Swift, the slash is an operator if a blank precedes the closing slash or a `)` is
  /// unmatched.
  private mutating func scanSlash() -> Token.Kind {
    let start = index
    index += 1
    guard beginsExpression, let first = byte(), first != 0x20, first != 0x09 else { return .mark }
    var (inSet, level, isAfterBlank) = (false, 0, false)
    scan: while let here = byte(), here != 0x0A, here != 0x0D, index - start < Self.maximumRegex {
      switch here {
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "["): inSet = true
      case UInt8(ascii: "]"): inSet = false
      case UInt8(ascii: "(") where !inSet: level += 1
      case UInt8(ascii: ")") where !inSet:
        level -= 1
        if level < 0 { break scan }
      case UInt8(ascii: "/") where !inSet:
        if isAfterBlank { break scan }
        index += 1
        return .regex
      default: break
      }
      isAfterBlank = here == 0x20 || here == 0x09
      index += 1
    }
    index = start + 1
    return .mark
  }

  /// Whether an expression may follow the last token.
  private var beginsExpression: Bool {
    guard let last else { return true }
    switch last.kind {
    case .mark: return !")]}".utf8.contains(bytes[last.range.lowerBound])
    case .word:
      let word = String(decoding: bytes[last.range], as: UTF8.self)
      return ["return", "in", "case", "where", "try", "await", "if", "while", "guard", "switch", "throw", "else"]
        .contains(word)
    default: return false
    }
  }
}
