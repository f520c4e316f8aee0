// MessageSelectorError.swift: why a text is not a selector.

/// A text that is not a selector, with the rule it breaks and where.
///
///     invalid selector "a b": unexpected " " at byte 1
public struct MessageSelectorError: Error, Hashable, Sendable {
  /// Which rule was broken. More may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate enum Rule { case empty, tooLong, unexpectedCharacter, unexpectedEnd, textAfterLastColon, subscripting }
    fileprivate let rule: Rule

    /// The text is empty.
    public static var empty: Code { Code(rule: .empty) }
    /// The selector has more than ``MessageSelector/maximumLength`` bytes.
    public static var tooLong: Code { Code(rule: .tooLong) }
    /// A character not allowed at its place: a space, a leading digit, an operator.
    public static var unexpectedCharacter: Code { Code(rule: .unexpectedCharacter) }
    /// A Swift name that ends before its closing parenthesis or backtick.
    public static var unexpectedEnd: Code { Code(rule: .unexpectedEnd) }
    /// Colons followed by a word without one: `a:b`.
    public static var textAfterLastColon: Code { Code(rule: .textAfterLastColon) }
    /// A Swift `subscript`, whose selector depends on the type of its index.
    public static var subscripting: Code { Code(rule: .subscripting) }
  }

  /// Which rule was broken.
  public let code: Code
  /// The whole text.
  public let name: String
  /// Offset into `name.utf8`, counted from 0.
  public let byteOffset: Int

  init(_ code: Code, in name: String, at byteOffset: Int) {
    self.code = code
    self.name = name
    self.byteOffset = byteOffset
  }
}

extension MessageSelectorError: CustomStringConvertible {
  /// One line with at most 64 scalars of ``name``, control characters escaped.
  public var description: String {
    let scalars = name.unicodeScalars
    var shown = String(String.UnicodeScalarView(scalars.prefix(64)))
    if shown.utf8.count < name.utf8.count { shown += "…" }
    return "invalid selector \(String(reflecting: shown)): \(reason)"
  }

  private var reason: String {
    switch code.rule {
    case .empty: "no text"
    case .tooLong: "more than \(MessageSelector.maximumLength) bytes"
    case .unexpectedCharacter: "unexpected \(culprit) at byte \(byteOffset)"
    case .unexpectedEnd: "unexpected end at byte \(byteOffset)"
    case .textAfterLastColon: "text after the last colon at byte \(byteOffset)"
    case .subscripting: "a subscript has no selector of its own"
    }
  }

  private var culprit: String {
    let bytes = name.utf8
    let index = bytes.index(bytes.startIndex, offsetBy: byteOffset, limitedBy: bytes.endIndex) ?? bytes.endIndex
    guard index < bytes.endIndex else { return "end" }
    return String(reflecting: String(name.unicodeScalars[index]))
  }
}
