// ScriptLiteral.swift: values as literals of a script.

import Forwardcast

/// Why a recording cannot be written as a script, such as
/// `argument 0 of "draw:" is of type Color, for which a script has no literal`.
public struct ScriptWritingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message that cannot be written.
  public let selector: String
  /// The argument that cannot be written, counted from 0; `nil` if the reason is not an argument.
  public let argumentIndex: Int?
  /// The name of the type without a literal; `nil` if the reason is not a value.
  public let type: String?
  /// The reason as text.
  public let reason: String

  public var description: String { (argumentIndex.map { "argument \($0) of " } ?? "") + "\"\(selector)\" \(reason)" }
}

struct ScriptLiteral {
  struct Refusal: Error {
    let type: String
    let reason: String

    init(_ value: Any, _ reason: String? = nil) {
      type = "\(Swift.type(of: value))"
      self.reason = reason ?? "is of type \(type), for which a script has no literal"
    }
  }

  /// How deep lists may nest. A text has at most 64 open brackets, and some are around the list.
  static let depthLimit = 60

  let names: [ObjectIdentifier: String]

  /// The literal of `value`, or of an equivalent value that methods accept.
  func text(for value: Any, depth: Int = 0) throws(Refusal) -> String {
    guard depth <= ScriptLiteral.depthLimit else {
      throw Refusal(value, "is nested in more than \(ScriptLiteral.depthLimit) lists")
    }
    let value = unwrapped(value)
    switch value {
    case _ where isNone(value): return "nil"
    case let value as Bool: return value ? "true" : "false"
    case let value as any BinaryInteger:
      guard let integer = Int(exactly: value) else { throw Refusal(value, "is \(value), which does not fit 64 bits") }
      return "\(integer)"
    case let value as any BinaryFloatingPoint:
      let double = Double(value)
      guard double.isFinite else { throw Refusal(value, "is \(value), which has no literal") }
      return "\(double)"
    case let value as String: return ScriptLiteral.quoted(value)
    case let value as Substring: return ScriptLiteral.quoted(String(value))
    case let value as MessageSelector: return "@selector(\(value))"
    case let value as ScriptSelector: return "@selector(\(value))"
    case let value as ScriptValue: return try text(for: value.plain, depth: depth)
    case let value as any MessageReceiver:
      guard let name = names[ObjectIdentifier(value)] else {
        throw Refusal(value, "is a \(Swift.type(of: value)) that has no name in the script")
      }
      if ScriptLiteral.isName(name) { return name }
      throw Refusal(value, "is \"\(name)\", which is not a valid name in a script")
    case let value as [Any]:
      let texts = try value.map { element throws(Refusal) in try text(for: element, depth: depth + 1) }
      return "@[" + texts.joined(separator: ", ") + "]"
    case let value as [String: Any]:
      let texts = try value.sorted { $0.key < $1.key }.map { entry throws(Refusal) in
        "\(ScriptLiteral.quoted(entry.key)): \(try text(for: entry.value, depth: depth + 1))"
      }
      return "@{" + texts.joined(separator: ", ") + "}"
    default: throw Refusal(value)
    }
  }

  static func isName(_ text: String) -> Bool {
    (try? MessageSelector.numberOfArguments(inName: text)) == 0 && !Parser.reservedWords.contains(text)
  }

  /// A quoted text. Invisible characters are escaped, so that they survive editors.
  static func quoted(_ text: String) -> String {
    var quoted = ""
    ScriptValue.quote(text, into: &quoted) { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
      default: false
      }
    }
    return quoted
  }
}
