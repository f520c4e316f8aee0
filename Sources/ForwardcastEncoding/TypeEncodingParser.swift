// TypeEncodingParser.swift: parses type encodings.

/// Reads types from left to right, each byte at most three times.
struct TypeEncodingParser {
  struct Place {
    /// True in a record's member, and in a text that is one type.
    var allowsBitField = false
    /// True in a record with quoted names: quoted text after `@` may be the next member's name.
    var precedesNames = false
  }

  private let text: String
  private let bytes: [UInt8]
  private(set) var position = 0
  private var depth = 0

  init(_ text: String) throws(TypeEncodingError) {
    let length = text.utf8.count
    guard length <= TypeEncodingError.Limits.length else {
      throw TypeEncodingError(code: .tooLong, encoding: text, byteOffset: TypeEncodingError.Limits.length)
    }
    self.text = text
    bytes = Array(text.utf8)
  }

  var isAtEnd: Bool { position == bytes.count }

  func error(_ code: TypeEncodingError.Code, at offset: Int? = nil) -> TypeEncodingError {
    TypeEncodingError(code: code, encoding: text, byteOffset: offset ?? position)
  }

  mutating func readType(in place: Place = Place()) throws(TypeEncodingError) -> TypeEncoding {
    var qualifiers: [TypeEncoding.Qualifier] = []
    while let byte = peek(), let qualifier = TypeEncoding.Qualifier(rawValue: byte) {
      qualifiers.append(qualifier)
      position += 1
    }
    let start = position
    let kind = try readKind(in: place)
    let type = TypeEncoding(kind, qualifiers: qualifiers)
    if let layout = type.layout, layout.size > TypeEncodingError.Limits.size { throw error(.typeTooLarge, at: start) }
    return type
  }

  private mutating func readKind(in place: Place) throws(TypeEncodingError) -> TypeEncoding.Kind {
    guard let byte = peek() else { throw error(.unexpectedEnd) }
    let start = position
    position += 1
    if let scalar = TypeEncoding.Scalar(rawValue: byte) { return .scalar(scalar) }
    switch byte {
    case UInt8(ascii: "v"): return .void
    case UInt8(ascii: "*"): return .cString
    case UInt8(ascii: "#"): return .classObject
    case UInt8(ascii: ":"): return .selector
    case UInt8(ascii: "?"): return .unknown
    case UInt8(ascii: "@"): return try readObject(in: place)
    case UInt8(ascii: "j"): return try readComplex()
    case UInt8(ascii: "b"):
      guard place.allowsBitField else { throw error(.misplacedBitField, at: start) }
      return .bitField(try readBitField())
    case UInt8(ascii: "^"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "("):
      try enter(at: start)
      defer { depth -= 1 }
      switch byte {
      case UInt8(ascii: "^"): return .pointer(to: try readType(in: Place(precedesNames: place.precedesNames)))
      case UInt8(ascii: "["): return try readArray()
      case UInt8(ascii: "{"): return .structure(try readRecord(until: UInt8(ascii: "}")))
      default: return .union(try readRecord(until: UInt8(ascii: ")")))
      }
    default: throw error(.unknownType, at: start)
    }
  }

  private mutating func enter(at start: Int) throws(TypeEncodingError) {
    guard depth < TypeEncodingError.Limits.depth else { throw error(.tooDeep, at: start) }
    position = start + 1
    depth += 1
  }

  // MARK: - Objects, blocks, arrays, numbers

  private mutating func readObject(in place: Place) throws(TypeEncodingError) -> TypeEncoding.Kind {
    switch peek() {
    case UInt8(ascii: "?"):
      position += 1
      guard peek() == UInt8(ascii: "<") else { return .block(signature: nil) }
      try enter(at: position)
      defer { depth -= 1 }
      return .block(signature: try readBlockSignature())
    case UInt8(ascii: "\""):
      if place.precedesNames && quotedTextIsMemberName() { return .object(name: nil) }
      return .object(name: try readQuoted())
    default:
      return .object(name: nil)
    }
  }

  /// After an `@` in a record with names, quoted text is the class unless a type follows the text.
  private func quotedTextIsMemberName() -> Bool {
    guard let closing = bytes[(position + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { return false }
    guard closing + 1 < bytes.count else { return false }
    let next = bytes[closing + 1]
    return next != UInt8(ascii: "\"") && next != UInt8(ascii: "}") && next != UInt8(ascii: ")")
  }

  private mutating func readBlockSignature() throws(TypeEncodingError) -> [TypeEncoding] {
    var types = [try readType()]
    let start = position
    let block = try readType()
    guard block == .block else { throw error(.blockExpected, at: start) }
    types.append(block)
    while peek() != UInt8(ascii: ">") { types.append(try readType()) }
    position += 1
    return types
  }

  private mutating func readArray() throws(TypeEncodingError) -> TypeEncoding.Kind {
    let start = position
    let count = try readNumber()
    let element = try readType()
    guard let byte = peek() else { throw error(.unexpectedEnd) }
    guard byte == UInt8(ascii: "]") else { throw error(.bracketExpected) }
    position += 1
    if let size = element.layout?.size, size > 0, count > TypeEncodingError.Limits.size / size {
      throw error(.typeTooLarge, at: start - 1)
    }
    return .array(count: count, element: element)
  }

  private mutating func readComplex() throws(TypeEncodingError) -> TypeEncoding.Kind {
    guard let byte = peek() else { throw error(.unexpectedEnd) }
    guard let part = TypeEncoding.Scalar(rawValue: byte), part != .bool else { throw error(.complexPartExpected) }
    position += 1
    return .complex(part)
  }

  /// Reads `b3`, or `b64I3` with position and declared type. The letter is a declared type only if
  /// digits follow: `{?=b3I}` has a bit-field and an `unsigned int`.
  private mutating func readBitField() throws(TypeEncodingError) -> TypeEncoding.BitField {
    let start = position
    let number = try readNumber()
    guard let letter = peek(), let container = TypeEncoding.Scalar(rawValue: letter), container.isInteger,
      position + 1 < bytes.count, Self.isDigit(bytes[position + 1])
    else {
      guard number <= 128 else { throw error(.bitFieldTooWide, at: start) }
      return TypeEncoding.BitField(width: number, position: nil, container: nil)
    }
    position += 1
    let widthStart = position
    let width = try readNumber()
    guard width <= TypeLayout(container, on: .current).size * 8 else { throw error(.bitFieldTooWide, at: widthStart) }
    return TypeEncoding.BitField(width: width, position: number, container: container)
  }

  // MARK: - Records

  private mutating func readRecord(until close: UInt8) throws(TypeEncodingError) -> TypeEncoding.Record {
    let start = position
    let name = try readRecordName(until: close)
    if bytes[position] == close {
      guard !name.isEmpty else { throw error(.emptyRecord, at: start) }
      position += 1
      return TypeEncoding.Record(name: name, members: nil)
    }
    position += 1
    // Decided by the first member that has a name or is no bit-field. A bit-field can lack a name.
    var areNamed: Bool?
    var members: [TypeEncoding.Member] = []
    while let byte = peek(), byte != close {
      var memberName: String?
      if byte == UInt8(ascii: "\""), areNamed ?? true {
        areNamed = true
        memberName = try readQuoted()
      } else if byte != UInt8(ascii: "b") {
        if areNamed ?? false { throw error(.memberNameExpected) }
        areNamed = false
      }
      let place = Place(allowsBitField: true, precedesNames: areNamed ?? false)
      members.append(TypeEncoding.Member(name: memberName, type: try readType(in: place)))
    }
    guard !isAtEnd else { throw error(.unexpectedEnd) }
    position += 1
    return TypeEncoding.Record(name: name, members: members)
  }

  private mutating func readRecordName(until close: UInt8) throws(TypeEncodingError) -> String {
    let start = position
    if peek() == UInt8(ascii: "?") { position += 1 }
    while let byte = peek(), byte != UInt8(ascii: "="), byte != close {
      let isUnnamed = position == start + 1 && bytes[start] == UInt8(ascii: "?")
      if byte == UInt8(ascii: "<"), position > start, !isUnnamed {
        try skipTemplateArguments()
      } else if Self.isNamePart(byte), !isUnnamed {
        position += 1
      } else {
        throw error(.invalidName)
      }
    }
    guard !isAtEnd else { throw error(.unexpectedEnd) }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Skips `<…>` of a C++ or Swift type. Arrows and literals such as `'>'` do not end it.
  private mutating func skipTemplateArguments() throws(TypeEncodingError) {
    var open = 0
    repeat {
      guard let byte = peek() else { throw error(.unexpectedEnd) }
      guard byte >= 0x20, byte != 0x7F else { throw error(.invalidName) }
      switch byte {
      case UInt8(ascii: "<"): open += 1
      case UInt8(ascii: ">") where bytes[position - 1] != UInt8(ascii: "-"): open -= 1
      case UInt8(ascii: "'"):
        let escape = position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "\\") ? 1 : 0
        if position + 2 + escape < bytes.count, bytes[position + 2 + escape] == byte { position += 2 + escape }
      default: break
      }
      position += 1
    } while open > 0
  }

  // MARK: - Bytes

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func readQuoted() throws(TypeEncodingError) -> String {
    position += 1
    let start = position
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      guard Self.isQuotable(byte) else { throw error(.invalidName) }
      position += 1
    }
    guard !isAtEnd else { throw error(.unexpectedEnd) }
    defer { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  @inline(never) mutating func readNumber() throws(TypeEncodingError) -> Int {
    let start = position
    guard let first = peek() else { throw error(.unexpectedEnd) }
    guard Self.isDigit(first) else { throw error(.numberExpected) }
    var number = 0
    while let byte = peek(), Self.isDigit(byte) {
      guard position == start || first != UInt8(ascii: "0") else { throw error(.leadingZero, at: start) }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
      guard number <= TypeEncodingError.Limits.size else { throw error(.numberTooLarge, at: start) }
      position += 1
    }
    return number
  }

  @inline(never) mutating func readNumberIfAny() throws(TypeEncodingError) -> Int? {
    guard let byte = peek(), Self.isDigit(byte) else { return nil }
    return try readNumber()
  }

  mutating func readOffsetIfAny() throws(TypeEncodingError) -> String? {
    let start = position
    guard let byte = peek(), byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") else {
      return try readNumberIfAny().map { "\($0)" }
    }
    position += 1
    _ = try readNumber()
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  static func isQuotable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") }

  /// Letters and digits of any script, and punctuation that compilers use in names.
  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: ":"), UInt8(ascii: "."): true
    default: isDigit(byte)
    }
  }

  static func isRecordName(_ name: String) -> Bool {
    guard !name.isEmpty, var parser = try? TypeEncodingParser(name + "}") else { return false }
    guard (try? parser.readRecordName(until: UInt8(ascii: "}"))) != nil else { return false }
    return parser.position == parser.bytes.count - 1
  }
}
