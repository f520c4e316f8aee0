// Invocation+Codable.swift: messages and signatures as Codable values.

public import Forwardcast

extension Invocation: Codable {
  /// The `userInfo` key for ``KnownTypes``, which a decoder accepts besides the standard types.
  public static let typesKey = codingKey("Forwardcast.InvocationTypes")

  /// The maximum number of decoded arguments: the number of colons of the longest selector.
  public static let argumentLimit = MessageSelector.maximumLength

  private enum CodingKeys: String, CodingKey {
    case selector, signature, arguments, result
  }

  /// Encodes the selector, the signature if it was stated, and the arguments and the result, each
  /// with the name of its type.
  /// - Throws: `EncodingError.invalidValue` for the first argument, or else the result, that is not
  ///   `Encodable`; errors that arguments and the result throw.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(selector, forKey: .selector)
    if hasStatedSignature { try container.encode(signature, forKey: .signature) }
    var list = container.nestedUnkeyedContainer(forKey: .arguments)
    for (index, argument) in arguments.enumerated() {
      try list.encode(CodedBox(argument, role: "argument \(index) of '\(selector)'"))
    }
    if let result { try container.encode(CodedBox(result, role: "the result of '\(selector)'"), forKey: .result) }
  }

  /// Decodes a message.
  ///
  /// Decodable types are the standard numbers, `Bool`, `String`, `MessageSelector`, `Void`, `nil`,
  /// the types under `typesKey` in the decoder's `userInfo`, and arrays, dictionaries and optionals
  /// of them. Selectors must be known to the process. If the decoder's `userInfo` has a set under
  /// `MessageSelector.selectorsKey`, selectors must be in that set. The arguments are checked when
  /// the message is sent.
  ///
  /// Untrusted text cannot fill memory: decoding interns no names, and is limited by
  /// ``KnownTypes/readTypeLimit`` and `argumentLimit`.
  /// - Throws: `DecodingError` for a malformed or unknown selector; a malformed signature; a type
  ///   that is unknown, nested too deeply or beyond ``KnownTypes/readTypeLimit``; too many
  ///   arguments; or a value of another type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let signature = try container.decodeIfPresent(MethodSignature.self, forKey: .signature)
    let selector = try container.decode(MessageSelector.self, forKey: .selector)
    var list = try container.nestedUnkeyedContainer(forKey: .arguments)
    var arguments: [ArgumentBox] = []
    while !list.isAtEnd {
      guard arguments.count < Invocation.argumentLimit else {
        throw DecodingError.dataCorruptedError(
          in: list, debugDescription: "more than \(Invocation.argumentLimit) arguments")
      }
      arguments.append(try list.decode(CodedBox.self).box)
    }
    self.init(selector, signature: signature, arguments: arguments)
    result = try container.decodeIfPresent(CodedBox.self, forKey: .result)?.box
  }
}

/// Types of the program that may be decoded as arguments of an `Invocation`.
///
///     decoder.userInfo[Invocation.typesKey] = KnownTypes(["Color": Color.self])
///     let call = try decoder.decode(Invocation.self, from: data)
///
/// No other types are decoded, so untrusted text cannot choose among all types of a program.
///
/// If a peer uses up ``readTypeLimit``, messages of other peers can still have standard and listed
/// types, arrays and optionals of these, and dictionaries of these whose keys are standard types.
/// To always accept another composition, such as an array of arrays, list it.
public struct KnownTypes: Sendable {
  /// The maximum number of nested array, dictionary and optional types that a process creates from
  /// decoded names. The runtime never frees these types. A further type is a decoding error, unless
  /// it is listed.
  public static let readTypeLimit = 1000

  package let types: [String: any (Codable & Sendable).Type]

  /// - Parameter types: the types. The keys are their printed names without the module.
  public init(_ types: [String: any (Codable & Sendable).Type]) { self.types = types }
}

@available(*, deprecated, renamed: "KnownTypes")
public typealias InvocationTypes = KnownTypes

extension MethodSignature: Codable {
  /// Decodes a signature from text. A `DecodingError` has the text of the ``TypeEncodingError``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  /// Encodes the signature as text, without the layouts of types that are encoded by name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
