// LineName.swift: unguessable names of lines.

/// The name of a line: 96 random bits, and 32 bits that all names of an endpoint share, so that the
/// endpoint recognizes names of closed lines. Unidentified callers can use any line by its name.
///
/// The name is stored in two halves, because a task that captures a 128-bit number crashes in an
/// optimized build (Swift 6.3, Linux). Comparison has no early exit, so its time reveals nothing.
struct LineName: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  init(of endpoint: UInt32 = .random(in: 0 ... .max)) {
    var system = SystemRandomNumberGenerator()
    (high, low) = (system.next(), system.next() << 32 | UInt64(endpoint))
  }

  /// The common suffix of the endpoint's names.
  var endpoint: UInt32 { UInt32(truncatingIfNeeded: low) }

  /// The name with these 32 hexadecimal digits; `nil` for other text.
  init?(_ text: ArraySlice<UInt8>) {
    let digits = Array("0123456789abcdef".utf8)
    guard text.count == 32, text.allSatisfy(digits.contains),
      let number = UInt128(String(decoding: text, as: UTF8.self), radix: 16)
    else { return nil }
    (high, low) = (UInt64(number >> 64), UInt64(truncatingIfNeeded: number))
  }

  var description: String {
    let digits = String(UInt128(high) << 64 | UInt128(low), radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  static func == (one: LineName, other: LineName) -> Bool { (one.high ^ other.high) | (one.low ^ other.low) == 0 }
}
