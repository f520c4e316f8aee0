// ArgumentBox+Text.swift: arguments from text.

public import Forwardcast

extension ArgumentBox {
  /// The value that `text` denotes, for a parameter of a type.
  ///
  ///     let signature = plugIns.methodSignature(for: selector)
  ///     let types = signature?.argumentTypes.dropFirst(2) ?? []
  ///     let arguments = try zip(words, types).map { try ArgumentBox(text: $0, as: $1) }
  ///
  /// Numbers have a sign, a point or an exponent, and must fit as in `converted(to:)`; `Bool` is `true` or `false`. For strings and
  /// objects the text is taken as it is. A selector must be known, since nothing is interned. An optional may be `nil`. Other types
  /// cannot be written.
  ///
  /// - Throws: `UnboxingError` with the wanted encoding and the text.
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

  /// An integer, or else a floating point number.
  private static func number(_ text: String) -> ArgumentBox? {
    if let whole = Int128(text) { return ArgumentBox(whole) }
    if let large = UInt128(text) { return ArgumentBox(large) }
    // In base 10 only.
    let isHexadecimal = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "x") }
    guard !isHexadecimal, let double = Double(text), double.isFinite else { return nil }
    return ArgumentBox(double)
  }
}
