// Invocation+Codable.swift: a message written down and read back.
// Layer: Message. See DESIGN.md, "Boxes".

extension Invocation: Codable {
  /// The key under which `userInfo` of a decoder holds the ``InvocationTypes`` that may be read besides the standard
  /// ones.
  public static let typesKey: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "Forwardcast.InvocationTypes") else {
      preconditionFailure("the standard library refuses a coding key")
    }
    return key
  }()

  private enum CodingKeys: String, CodingKey {
    case selector, signature, arguments, result
  }

  /// Writes the selector, the signature where one was stated, and each argument and the result with its type's name.
  ///
  /// - Throws: `EncodingError.invalidValue`, naming the first argument that is not `Encodable`; what an argument throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(selector, forKey: .selector)
    if hasStatedSignature { try container.encode(signature.description, forKey: .signature) }
    var list = container.nestedUnkeyedContainer(forKey: .arguments)
    for (index, argument) in arguments.enumerated() {
      try list.encode(CodedBox(argument, role: "argument \(index) of \(selector)"))
    }
    if let result { try container.encode(CodedBox(result, role: "the result of \(selector)"), forKey: .result) }
  }

  /// Reads a message.
  ///
  /// Known are the standard numbers, `Bool`, `String`, `MessageSelector`, `Void`, `nil`, and those that the decoder's
  /// `userInfo` names under ``typesKey``; and arrays, dictionaries and optionals of them. The selector is interned.
  /// Whether the arguments fit is found out when the message is sent, as for any other.
  ///
  /// - Throws: `DecodingError` for a malformed selector or signature, a type that is not known, or nested too deeply, and
  ///   a value that is not of its type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    var signature: MethodSignature?
    if let text = try container.decodeIfPresent(String.self, forKey: .signature) {
      do { signature = try MethodSignature(text) } catch {
        throw DecodingError.dataCorruptedError(forKey: .signature, in: container, debugDescription: "\(error)")
      }
    }
    self.init(
      try container.decode(MessageSelector.self, forKey: .selector), signature: signature,
      arguments: try container.decode([CodedBox].self, forKey: .arguments).map(\.box))
    result = try container.decodeIfPresent(CodedBox.self, forKey: .result)?.box
  }
}

/// Types of a program's own that may be read as arguments of an ``Invocation``.
///
///     decoder.userInfo[Invocation.typesKey] = InvocationTypes(["Color": Color.self])
///     let call = try decoder.decode(Invocation.self, from: data)
///
/// Nothing else is ever made from what is read: text from outside cannot choose among all types of a program.
public struct InvocationTypes: Sendable {
  let types: [String: any (Codable & Sendable).Type]

  /// - Parameter types: each under the name that it is written with: the type's own, without its module.
  public init(_ types: [String: any (Codable & Sendable).Type]) { self.types = types }
}
