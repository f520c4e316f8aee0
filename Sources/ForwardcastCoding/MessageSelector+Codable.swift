// MessageSelector+Codable.swift: encodes selectors by name.

// Exported because clients encode and decode messages of that module.
@_exported public import Forwardcast

extension MessageSelector: Codable {
  /// The `userInfo` key for the set of selectors that a decoder accepts, a `Set<MessageSelector>`.
  /// Without this set, a peer can name every selector that the process knows.
  ///
  ///     let known: Set<MessageSelector> = [Message.onAddMsg.selector, "ping"]
  ///     decoder.userInfo[MessageSelector.selectorsKey] = known
  public static let selectorsKey = codingKey("Forwardcast.Selectors")

  /// Decodes a name that the process knows. Interns no name, so untrusted text cannot fill memory.
  /// - Throws: `DecodingError` for a name that is malformed, unknown to the process, or not listed
  ///   under the decoder's `selectorsKey`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    do { _ = try MessageSelector.numberOfArguments(inName: name) } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
    guard let known = MessageSelector(known: name) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "no selector is known as \(String(reflecting: shortened(name))); "
          + "create a table or a key that has it before decoding")
    }
    if let listed = decoder.userInfo[MessageSelector.selectorsKey] {
      guard let listed = listed as? Set<MessageSelector>, listed.contains(known) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "the selector \(String(reflecting: shortened(name))) may not be decoded; "
            + "add it to decoder.userInfo[MessageSelector.selectorsKey]")
      }
    }
    self = known
  }

  /// Encodes the name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}

func codingKey(_ name: String) -> CodingUserInfoKey {
  guard let key = CodingUserInfoKey(rawValue: name) else {
    preconditionFailure("the standard library refuses a coding key")
  }
  return key
}
