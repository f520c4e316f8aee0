// MessageSelector+Codable.swift: a selector is coded as its name.

// Who imports this module codes messages of that one.
@_exported public import Forwardcast

extension MessageSelector: Codable {
  /// The key under which `userInfo` of a decoder holds the selectors, a `Set<MessageSelector>`, that may be read.
  ///
  /// Without it every selector is read that the process knows. With it no other is, so a peer can name no message that it
  /// is not meant to name:
  ///
  ///     let known: Set<MessageSelector> = [Message.onAddMsg.selector, "ping"]
  ///     decoder.userInfo[MessageSelector.selectorsKey] = known
  public static let selectorsKey = codingKey("Forwardcast.Selectors")

  /// Reads a name that the process knows: reading interns nothing, so that text from outside cannot fill its memory.
  ///
  /// - Throws: `DecodingError` for a malformed name, for one that the process does not know, and for one that the
  ///   decoder's `selectorsKey` does not list.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    do { _ = try MessageSelector.numberOfArguments(inName: name) } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
    guard let known = MessageSelector(known: name) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "no selector is known as \(String(reflecting: shortened(name))): "
          + "make who answers it, or a key of it, before it is read")
    }
    if let listed = decoder.userInfo[MessageSelector.selectorsKey] {
      guard let listed = listed as? Set<MessageSelector>, listed.contains(known) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "the selector \(shortened(name)) is not among those that may be read")
      }
    }
    self = known
  }

  /// Writes the name.
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
