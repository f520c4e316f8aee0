// MessageSelectorError.swift: the errors of malformed selectors.

/// The rule that a malformed selector breaks, and the position.
///
///     invalid selector "a b": unexpected " " at byte 1
public struct MessageSelectorError: Error, Hashable, Sendable {
  /// The broken rule. More rules may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate let reason: String
    fileprivate var isAtByte = true

    /// The text is empty.
    public static var empty: Code { Code(reason: "no text", isAtByte: false) }
    /// The selector has more than ``MessageSelector/maximumLength`` bytes.
    public static var tooLong: Code {
      Code(reason: "more than \(MessageSelector.maximumLength) bytes", isAtByte: false)
    }
    /// A character that is not allowed at its position, such as a space, a leading digit or `+`.
    public static var unexpectedCharacter: Code { Code(reason: "unexpected") }
    /// A Swift name that ends before its closing parenthesis or backtick.
    public static var unexpectedEnd: Code { Code(reason: "unexpected end") }
    /// Text after the last colon, as in `a:b`.
    public static var textAfterLastColon: Code { Code(reason: "text after the last colon") }
    /// A Swift `subscript`, whose selector depends on the type of its index.
    public static var subscripting: Code {
      Code(reason: "a subscript has no selector of its own", isAtByte: false)
    }
  }

  /// The broken rule.
  public let code: Code
  /// The whole text.
  public let name: String
  /// Offset into `name.utf8`, counted from 0.
  public let byteOffset: Int

  init(_ code: Code, in name: String, at byteOffset: Int) {
    (self.code, self.name, self.byteOffset) = (code, name, byteOffset)
  }
}

extension MessageSelectorError: CustomStringConvertible {
  /// One line with at most 64 scalars of ``name``, control characters escaped.
  public var description: String {
    let scalars = name.unicodeScalars
    var shown = String(String.UnicodeScalarView(scalars.prefix(64)))
    if shown.utf8.count < name.utf8.count { shown += "…" }
    return "invalid selector \(String(reflecting: shown)): \(code.reason)"
      + (code == .unexpectedCharacter ? " \(culprit)" : "") + (code.isAtByte ? " at byte \(byteOffset)" : "")
  }

  private var culprit: String {
    let bytes = name.utf8
    let index = bytes.index(bytes.startIndex, offsetBy: byteOffset, limitedBy: bytes.endIndex) ?? bytes.endIndex
    guard index < bytes.endIndex else { return "end" }
    return String(reflecting: String(name.unicodeScalars[index]))
  }
}
