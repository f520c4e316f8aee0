// ArgumentBox+Text.swift: arguments and messages from text.

public import Forwardcast

extension Invocation {
  /// Creates a message from texts. The receiver's method determines the types of the arguments.
  ///
  ///     let call = try Invocation(text: ["ho", "3"], for: "echo:times:", of: plugIns)
  ///     print(call)  // echo: "ho" times: 3
  ///
  /// - Parameter text: one text for each argument, read as by `ArgumentBox(text:as:)`.
  /// - Throws: `MessageError` `unrecognizedSelector`; `wrongArgumentCount`, which names the missing
  ///   or surplus arguments; `typeMismatch`, which names the argument that cannot be read.
  public init(text: [String], for selector: MessageSelector, of receiver: some MessageReceiver) throws(MessageError) {
    guard let signature = receiver.methodSignature(for: selector) else {
      throw .unrecognized(selector, by: receiver)
    }
    let (name, types) = (typeName(of: receiver), signature.argumentTypes.dropFirst(2))
    guard text.count == types.count else {
      let missing = selector.parts.dropFirst(text.count).map { "\"\($0):\"" }
      let surplus = text.dropFirst(types.count).map { shortened($0.debugDescription) }
      let evidence =
        surplus.isEmpty ? "missing \(missing.joined(separator: ", "))" : "surplus \(surplus.joined(separator: ", "))"
      throw MessageError(
        .wrongArgumentCount, receiver: name, selector: selector.name,
        evidence: "wanted \(types.count), found \(text.count): \(evidence)")
    }
    var arguments: [ArgumentBox] = []
    for (index, (text, type)) in zip(text, types).enumerated() {
      do throws(UnboxingError) { arguments.append(try ArgumentBox(text: text, as: type)) } catch {
        throw .argument(index, selector, receiver: name, error)
      }
    }
    self.init(selector, arguments: arguments)
  }
}

extension ArgumentBox {
  /// Reads `text` as a value for a parameter of a type.
  ///
  ///     let count = try ArgumentBox(text: "3", as: TypeEncoding("q"))
  ///
  /// A number may have a sign, a point and an exponent, and must fit as in `converted(to:)`. A
  /// `Bool` is `true` or `false`. A string (also `String?`) or `@` is the text itself. A selector
  /// must be known to the process: reading interns no name. Optional numbers, `Bool`s and structs
  /// may be `nil`. Other types cannot be read. For a whole message use `Invocation(text:for:of:)`.
  /// - Throws: `UnboxingError` with the wanted encoding and the text.
  public init(text: String, as type: TypeEncoding) throws(UnboxingError) {
    func refused(_ reason: String) -> UnboxingError {
      UnboxingError(
        wanted: type.swiftName, found: "text", evidence: "(\(shortened(text.debugDescription))\(reason))")
    }
    guard let value = Self.value(of: text, as: type) else { throw refused(Self.refusal(of: type)) }
    do { self = try value.converted(to: type) } catch { throw refused(", which does not fit") }
  }

  /// The reason why a text is not a value of a type, if the text itself does not show the reason.
  private static func refusal(of type: TypeEncoding) -> String {
    switch type.kind {
    case .scalar: ""
    case .structure(let record) where record.optionalName != nil: ""
    case .selector: ", which is not a known selector"
    default: ", but this type cannot be read from text"
    }
  }

  private static func value(of text: String, as type: TypeEncoding) -> ArgumentBox? {
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

  private static func number(_ text: String) -> ArgumentBox? {
    if let whole = Int128(text) { return ArgumentBox(whole) }
    if let large = UInt128(text) { return ArgumentBox(large) }
    // `Double` also accepts base 16.
    let isHexadecimal = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "x") }
    guard !isHexadecimal, let double = Double(text), double.isFinite else { return nil }
    return ArgumentBox(double)
  }
}
