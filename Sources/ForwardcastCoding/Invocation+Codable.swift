// Invocation+Codable.swift: a message, and a signature, written down and read back.

public import Forwardcast

extension Invocation: Codable {
  /// The key under which `userInfo` of a decoder holds the ``InvocationTypes`` that may be read besides the standard
  /// ones.
  public static let typesKey = codingKey("Forwardcast.InvocationTypes")

  /// As many arguments as the longest selector has colons; more are not read.
  public static let argumentLimit = MessageSelector.maximumLength

  private enum CodingKeys: String, CodingKey {
    case selector, signature, arguments, result
  }

  /// Writes the selector, the signature where one was stated, and each argument and the result with its type's name.
  /// - Throws: `EncodingError.invalidValue`, naming the first argument that is not `Encodable`; what an argument throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(selector, forKey: .selector)
    if hasStatedSignature { try container.encode(signature, forKey: .signature) }
    var list = container.nestedUnkeyedContainer(forKey: .arguments)
    for (index, argument) in arguments.enumerated() {
      try list.encode(CodedBox(argument, role: "argument \(index) of \(selector)"))
    }
    if let result { try container.encode(CodedBox(result, role: "the result of \(selector)"), forKey: .result) }
  }

  /// Reads a message.
  ///
  /// Known are the standard numbers, `Bool`, `String`, `MessageSelector`, `Void`, `nil`, and those that the decoder's
  /// `userInfo` names under `typesKey`; and arrays, dictionaries and optionals of them. The selector, and every selector
  /// among the arguments, is one that the process knows, and is listed under `MessageSelector.selectorsKey` where the
  /// decoder has that. Whether the arguments fit is found out when the message is sent, as for any other.
  ///
  /// Reading interns no name. What it keeps is bounded by ``InvocationTypes/readTypeLimit``, and what it reads by
  /// `argumentLimit`: text from outside cannot fill memory.
  ///
  /// - Throws: `DecodingError` for a malformed or unknown selector, a malformed signature, a type that is not known, nested
  ///   too deeply or one too many, more arguments than a selector has colons, and a value that is not of its type.
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

/// Types of a program's own that may be read as arguments of an `Invocation`.
///
///     decoder.userInfo[Invocation.typesKey] = InvocationTypes(["Color": Color.self])
///     let call = try decoder.decode(Invocation.self, from: data)
///
/// Nothing else is ever made from what is read: text from outside cannot choose among all types of a program. A composed
/// type, such as an array of arrays, may be named as a whole; so it is read however many others have been.
public struct InvocationTypes: Sendable {
  /// How many arrays, dictionaries and optionals of other types a process makes because a text names them: the runtime
  /// keeps each type for ever. One more is a decoding error, unless the reader names it as a whole.
  public static let readTypeLimit = 1000

  package let types: [String: any (Codable & Sendable).Type]

  /// - Parameter types: each under the name that it is written with: the type's own, without its module.
  public init(_ types: [String: any (Codable & Sendable).Type]) { self.types = types }
}

extension MethodSignature: Codable {
  /// Reads a signature as its text. A malformed one is a `DecodingError` that holds the ``TypeEncodingError``'s words.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  /// Writes the signature as its text. What only Swift knows, the layout of a type encoded by name, is not written.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
