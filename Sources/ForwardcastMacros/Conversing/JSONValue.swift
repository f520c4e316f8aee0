// JSONValue.swift: the compiler's messages as values, read from text and written back.

indirect enum JSONValue: Equatable {
  /// A number, or `true`, `false` or `null`.
  case plain(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The member of an object; `nil` for other values.
  subscript(key: String) -> JSONValue? { if case .object(let members) = self { members[key] } else { nil } }

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  var integer: Int? { if case .plain(let digits) = self { Int(digits) } else { nil } }

  static func int(_ value: Int) -> JSONValue { .plain(String(value)) }
  static let null = JSONValue.plain("null")
}

// MARK: Writing

extension JSONValue {
  /// The value as text, with only the escapes that JSON demands: the compiler misreads surrogate pairs of escapes.
  var encoded: String {
    switch self {
    case .plain(let text): return text
    case .string(let value): return Self.quoted(value)
    case .array(let values): return "[\(values.map(\.encoded).joined(separator: ","))]"
    case .object(let members):
      let fields = members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\($0.value.encoded)" }
      return "{\(fields.joined(separator: ","))}"
    }
  }

  private static func quoted(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..<" ": text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

// MARK: Reading

extension JSONValue {
  /// Reads one value that fills `bytes`; `nil` when it is not JSON or nests more than 128 levels deep.
  init?(_ bytes: [UInt8]) {
    var reader = JSONReader(bytes: bytes)
    guard let value = reader.value(depth: 0), reader.isAtEnd() else { return nil }
    self = value
  }
}

private struct JSONReader {
  static let maximumDepth = 128
  let bytes: [UInt8]
  var index = 0

  mutating func isAtEnd() -> Bool {
    skipBlanks()
    return index == bytes.count
  }

  private mutating func skipBlanks() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  mutating func value(depth: Int) -> JSONValue? {
    skipBlanks()
    guard depth < Self.maximumDepth, index < bytes.count else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "["): return array(depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    default: return plain()
    }
  }

  private mutating func object(_ depth: Int) -> JSONValue? {
    index += 1
    var members: [String: JSONValue] = [:]
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      guard case .string(let key)? = value(depth: depth + 1), take(UInt8(ascii: ":")),
        let member = value(depth: depth + 1)
      else { return nil }
      members[key] = member
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}")) ? .object(members) : nil
  }

  private mutating func array(_ depth: Int) -> JSONValue? {
    index += 1
    var elements: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "]")) ? .array(elements) : nil
  }

  private mutating func plain() -> JSONValue? {
    let start = index
    while index < bytes.count, !",]} \t\r\n".utf8.contains(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    return ["true", "false", "null"].contains(text) || Double(text) != nil ? .plain(text) : nil
  }

  private mutating func string() -> String? {
    index += 1
    var text: [UInt8] = []
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard index < bytes.count, let scalar = escape() else { return nil }
      text.append(contentsOf: String(scalar).utf8)
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    let letter = bytes[index]
    index += 1
    switch letter {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "u"):
      guard let high = unit() else { return nil }
      guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
      guard bytes[index...].starts(with: "\\u".utf8) else { return "\u{FFFD}" }
      index += 2
      guard let low = unit(), (0xDC00..<0xE000).contains(low) else { return "\u{FFFD}" }
      let (upper, lower) = (UInt32(high - 0xD800), UInt32(low - 0xDC00))
      return Unicode.Scalar(0x1_0000 + upper << 10 + lower)
    default: return nil
    }
  }

  private mutating func unit() -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[index..<index + 4], as: UTF8.self)
    index += 4
    return UInt16(digits, radix: 16)
  }
}
