// MessageSelectorError.swift: why a text is not the name of a message.

/// A text that cannot be a selector, with the rule it breaks and the byte where it does.
///
///     invalid selector "a b": unexpected " " at byte 1
public struct MessageSelectorError: Error, Hashable, Sendable {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate enum Rule { case empty, tooLong, unexpectedCharacter, unexpectedEnd, textAfterLastColon, subscripting }
    fileprivate let rule: Rule

    /// There is no text at all.
    public static var empty: Code { Code(rule: .empty) }
    /// The selector has more than ``MessageSelector/maximumLength`` bytes.
    public static var tooLong: Code { Code(rule: .tooLong) }
    /// A character that cannot stand where it stands: a space, a digit in front, an operator.
    public static var unexpectedCharacter: Code { Code(rule: .unexpectedCharacter) }
    /// A Swift name that stops before its closing parenthesis or backtick.
    public static var unexpectedEnd: Code { Code(rule: .unexpectedEnd) }
    /// Colons, and then a word that no colon follows: `a:b`.
    public static var textAfterLastColon: Code { Code(rule: .textAfterLastColon) }
    /// A Swift `subscript`: its selector depends on the type of its index, which its name does not tell.
    public static var subscripting: Code { Code(rule: .subscripting) }
  }

  /// Which rule was broken.
  public let code: Code
  /// The whole text, so that a log line can be understood by itself.
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
  /// One line, however long ``name`` is: at most 64 scalars of it are shown, control characters escaped.
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
