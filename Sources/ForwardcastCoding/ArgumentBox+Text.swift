// ArgumentBox+Text.swift: a value that text says, by the type that a signature wants.

public import Forwardcast

extension ArgumentBox {
  /// The value that `text` says, as a method whose signature says `type` receives it.
  ///
  ///     let signature = plugIns.methodSignature(for: selector)
  ///     let types = signature?.argumentTypes.dropFirst(2) ?? []
  ///     let arguments = try zip(words, types).map { try ArgumentBox(text: $0, as: $1) }
  ///
  /// Numbers are digits with a sign, a point or an exponent, and fit exactly as `converted(to:)` says; `true` and `false` are
  /// the two of `Bool`. Where text is wanted, or any object, the text is meant as it is. A selector is one that the process knows:
  /// nothing is interned. An optional takes `nil` too. Other types cannot be said.
  ///
  /// - Throws: `UnboxingError` with the encoding that was wanted and the text.
  public init(text: String, as type: TypeEncoding) throws(UnboxingError) {
    guard let said = Self.said(by: text, as: type) else {
      throw UnboxingError(
        wanted: "\(type.meaning) (\(type))", found: "text", evidence: "(\(shortened(text.debugDescription)))")
    }
    self = try said.converted(to: type)
  }

  private static func said(by text: String, as type: TypeEncoding) -> ArgumentBox? {
    switch type.kind {
    case .object(name: nil), .object(name: "String"?), .object(name: "NSString"?), .cString: ArgumentBox(text)
    case .scalar(.bool): Bool(text).map { ArgumentBox($0) }
    case .scalar: number(text)
    case .selector: MessageSelector(known: text).map { ArgumentBox($0) }
    case .structure(let record):
      switch record.optionalName {
      case nil: nil
      case _ where text == "nil": ArgumentBox(uncheckedSendable: AnyObject?.none)
      case "String"?: ArgumentBox(text)
      case "Bool"?: Bool(text).map { ArgumentBox($0) }
      default: number(text)
      }
    default: nil
    }
  }

  /// Whole numbers of any size, or else one with a point or an exponent.
  private static func number(_ text: String) -> ArgumentBox? {
    if let whole = Int128(text) { return ArgumentBox(whole) }
    guard let double = Double(text), double.isFinite, !text.utf8.contains(UInt8(ascii: "x")) else { return nil }
    return ArgumentBox(double)
  }
}
