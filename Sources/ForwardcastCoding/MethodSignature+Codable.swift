// MethodSignature+Codable.swift: a signature is coded as its text.

public import Forwardcast

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
