// Channel.swift: messages to and from the compiler over standard input and output.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Sends and receives messages: eight little-endian bytes with the length, then JSON.
struct Channel {
  /// The longest message that is read: 256 MiB, far more than a compiler sends.
  static let maximumLength: UInt64 = 256 << 20
  private let input = fdopen(0, "rb")
  private let output = fdopen(1, "wb")

  /// The next message; `nil` at the end of the input, or for a length of zero or over the maximum.
  func receive() -> [UInt8]? {
    guard let header = read(8) else { return nil }
    let length = header.enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
    guard length > 0, length <= Self.maximumLength else { return nil }
    return read(Int(length))
  }

  func send(_ text: String) -> Bool {
    let body = Array(text.utf8)
    let header = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(body.count) >> UInt64($0 * 8)) }
    guard let output else { return false }
    return fwrite(header + body, 1, 8 + body.count, output) == 8 + body.count && fflush(output) == 0
  }

  private func read(_ count: Int) -> [UInt8]? {
    guard let input else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return fread(&bytes, 1, count, input) == count ? bytes : nil
  }
}
