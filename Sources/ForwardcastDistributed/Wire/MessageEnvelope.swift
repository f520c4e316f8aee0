// MessageEnvelope.swift: what an engine carries from one process to another.
// Layer: Wire. See the article "The wire".

/// One message or answer on its way between two processes, as a text that only its two ends read.
///
/// An engine encodes it like any other argument. What is in it is looked at when it is opened, by the rules of who opens it:
/// the engine's coder needs to know no type of the program.
public struct MessageEnvelope: Codable, Hashable, Sendable {
  /// The text: see <doc:TheWire>.
  public let text: String

  /// An envelope around a text, which may be anything: who opens it checks it.
  public init(text: String) { self.text = text }

  /// Reads the text, which stands alone.
  public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

  /// Writes the text as a single value: whatever carries a `String` carries it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
