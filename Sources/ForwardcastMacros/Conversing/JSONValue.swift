// JSONValue.swift: parses and writes the compiler's messages.

indirect enum JSONValue: Equatable {
  /// A number, or `true`, `false` or `null`.
  case plain(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  subscript(key: String) -> JSONValue? { if case .object(let members) = self { members[key] } else { nil } }

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  var integer: Int? { if case .plain(let digits) = self { Int(digits) } else { nil } }

  static func int(_ value: Int) -> JSONValue { .plain(String(value)) }
  static let null = JSONValue.plain("null")
}

extension JSONValue {
  /// The value as JSON, with as few escapes as possible: the compiler misreads escaped surrogates.
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

extension JSONValue {
  /// Reads one value that fills `bytes`; `nil` if it is not JSON or nests over 128 levels deep.
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

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard index < bytes.count, bytes[index] == UInt8(ascii: mark) else { return false }
    index += 1
    return true
  }

  mutating func value(depth: Int) -> JSONValue? {
    guard depth < Self.maximumDepth else { return nil }
    if take("{") { return container(before: "}", depth) }
    if take("[") { return container(before: "]", depth) }
    return take("\"") ? string().map { .string($0) } : plain()
  }

  /// The elements of an array, or the members of an object, up to a closing bracket.
  private mutating func container(before closing: Unicode.Scalar, _ depth: Int) -> JSONValue? {
    let isObject = closing == "}"
    var (members, elements) = ([String: JSONValue](), [JSONValue]())
    if !take(closing) {
      repeat {
        guard let element = value(depth: depth + 1) else { return nil }
        guard isObject else {
          elements.append(element)
          continue
        }
        guard let key = element.text, take(":"), let member = value(depth: depth + 1) else { return nil }
        members[key] = member
      } while take(",")
      guard take(closing) else { return nil }
    }
    return isObject ? .object(members) : .array(elements)
  }

  private mutating func plain() -> JSONValue? {
    let start = index
    while index < bytes.count, !",]} \t\r\n".utf8.contains(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    return ["true", "false", "null"].contains(text) || Double(text) != nil ? .plain(text) : nil
  }

  private mutating func string() -> String? {
    var text: [UInt8] = []
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard index < bytes.count, let scalars = escape() else { return nil }
      text.append(contentsOf: scalars.utf8)
    }
    return nil
  }

  private mutating func escape() -> String? {
    let letter = bytes[index]
    index += 1
    switch letter {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Unicode.Scalar(letter))
    case UInt8(ascii: "u"):
      // Reads consecutive escapes together, for surrogate pairs. A lone surrogate becomes U+FFFD.
      var units: [UInt16] = []
      index -= 2
      while bytes[index...].starts(with: "\\u".utf8) {
        let digits = bytes[index...].dropFirst(2).prefix(4)
        guard digits.count == 4, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
          return nil
        }
        units.append(unit)
        index += 6
      }
      return String(decoding: units, as: UTF16.self)
    default: return nil
    }
  }
}
