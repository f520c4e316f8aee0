// LineName.swift: what a sender calls its line by, and nobody else can guess.
// Layer: Wire. See the article "The wire".

/// The name of a line: 128 bits of the system's generator. Who knows it may use the line.
///
/// Names are compared without an early exit, so that the time a refusal takes tells nothing of a name that is near.
struct LineName: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  init() {
    var system = SystemRandomNumberGenerator()
    (high, low) = (system.next(), system.next())
  }

  /// The name that 32 hexadecimal digits spell; `nil` for any other text.
  init?(_ text: String) {
    guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    (self.high, self.low) = (high, low)
  }

  var description: String { LineName.digits(high) + LineName.digits(low) }

  private static func digits(_ half: UInt64) -> String {
    let digits = String(half, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  static func == (one: LineName, other: LineName) -> Bool { (one.high ^ other.high) | (one.low ^ other.low) == 0 }
}
