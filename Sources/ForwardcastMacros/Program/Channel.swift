// Channel.swift: messages with the compiler over standard input and output.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The two ends of the conversation: eight bytes of length, little-endian, then so many bytes of JSON.
struct Channel {
  /// No message of a compiler is longer; a longer one is not read.
  static let maximumLength: UInt64 = 256 << 20
  let input: Int32
  let output: Int32

  /// The next message; `nil` when the compiler has ended the conversation, by closing it or by a length of zero.
  func receive() -> [UInt8]? {
    guard let header = read(8) else { return nil }
    let length = header.enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
    guard length > 0, length <= Self.maximumLength else { return nil }
    return read(Int(length))
  }

  /// Sends one message. `false` when nobody reads any more.
  func send(_ text: String) -> Bool {
    let body = Array(text.utf8)
    let header = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(body.count) >> UInt64($0 * 8)) }
    return write(header + body)
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        systemRead(input, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      }
      if got < 0, errno == EINTR { continue }
      if got <= 0 { return nil }
      filled += got
    }
    return bytes
  }

  private func write(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let put = bytes.withUnsafeBytes { systemWrite(output, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      if put < 0, errno == EINTR { continue }
      if put <= 0 { return false }
      sent += put
    }
    return true
  }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(file, buffer.baseAddress, buffer.count)
}
