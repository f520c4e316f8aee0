// ScriptValue+Printing.swift: values as text.

import Forwardcast

extension ScriptValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as `print` shows it. A text is quoted only within lists and dictionaries.
  public var description: String { text ?? debugDescription }

  /// The value as text. A text is always quoted, as in the language.
  public var debugDescription: String {
    var text = ""
    write(into: &text)
    return text
  }

  /// ``debugDescription``, shortened for an error. The cost does not depend on the value's size.
  var evidence: String {
    var text = ""
    write(into: &text, enough: 200)
    guard text.utf8.count > 200 else { return text }
    return String(text.prefix(180)) + "…"
  }

  /// - Parameter enough: the length in bytes after which the rest may be omitted.
  private func write(into text: inout String, enough: Int = .max) {
    guard text.utf8.count <= enough else { return }
    switch self {
    case .null: text += "nil"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += "\(value)"
    case .floating(let value): text += "\(value)"
    case .string(let value): ScriptValue.quote(value, into: &text, enough: enough)
    case .list(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if text.utf8.count > enough { break }
        if index > 0 { text += ", " }
        element.write(into: &text, enough: enough)
      }
      text += "]"
    case .dictionary(let entries) where enough < .max && entries.count > 32:
      text += "a dictionary of \(entries.count) keys"
    case .dictionary(let entries):
      text += "{"
      // The keys are sorted by their bytes, because comparing characters would normalize texts.
      let sorted = entries.sorted { ScriptValue.precedes($0.key, $1.key, enough) }
      for (index, (key, value)) in sorted.enumerated() {
        if text.utf8.count > enough { break }
        if index > 0 { text += ", " }
        ScriptValue.quote(key, into: &text, enough: enough)
        text += ": "
        value.write(into: &text, enough: enough)
      }
      text += "}"
    case .selector(let selector): text += selector.name
    case .signature(let signature): text += signature.description
    case .object(let reference): text += clipped(reference.description, to: enough)
    case .registration: text += "<registration>"
    case .hook: text += "<hook>"
    case .queue(let queue): text += queue.description
    case .foreign(let value): text += "\(value.box)"
    }
  }

  /// Compares the first `enough` bytes in place, because that is faster than comparing UTF-8 views.
  private static func precedes(_ left: String, _ right: String, _ enough: Int) -> Bool {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 { right in left.prefix(enough).lexicographicallyPrecedes(right.prefix(enough)) }
    }
  }

  /// Writes a quoted text. Escapes what the language requires and what `isEscaped` selects.
  static func quote(
    _ value: String, into text: inout String, enough: Int = .max,
    isEscaped: (Unicode.Scalar) -> Bool = { $0.value < 0x20 || $0.value == 0x7F }
  ) {
    text += "\""
    for scalar in value.unicodeScalars {
      if text.utf8.count > enough { break }
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case _ where isEscaped(scalar): text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
