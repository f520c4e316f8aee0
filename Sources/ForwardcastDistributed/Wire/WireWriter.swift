// WireWriter.swift: writes the items of a text for another process.
// Layer: Wire. See the article "The wire".

/// Appends items to a text.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  /// The text so far.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text so far and what `other` has written.
  func text(with other: WireWriter) -> String {
    String(unsafeUninitializedCapacity: bytes.count + other.bytes.count) { buffer in
      let end = buffer.update(fromContentsOf: bytes)
      return buffer[end...].update(fromContentsOf: other.bytes)
    }
  }

  mutating func null() { bytes.append(UInt8(ascii: "n")) }
  mutating func bool(_ value: Bool) { bytes.append(value ? UInt8(ascii: "t") : UInt8(ascii: "f")) }
  mutating func integer(_ value: some FixedWidthInteger) { number(UInt8(ascii: "i"), value.description) }
  mutating func real(_ value: some BinaryFloatingPoint & LosslessStringConvertible) {
    number(UInt8(ascii: "d"), value.description)
  }

  private mutating func number(_ letter: UInt8, _ digits: String) {
    bytes.append(letter)
    bytes += digits.utf8
    bytes.append(UInt8(ascii: ";"))
  }

  mutating func text(_ value: String) {
    let utf8 = value.utf8
    bytes += utf8.count.description.utf8
    bytes.append(UInt8(ascii: ":"))
    bytes += utf8
  }

  mutating func data(_ value: [UInt8]) {
    bytes.append(UInt8(ascii: "b"))
    bytes += Base64.length(of: value.count).description.utf8
    bytes.append(UInt8(ascii: ":"))
    Base64.write(value, to: &bytes)
  }

  mutating func list(_ body: (inout WireWriter) throws -> Void) rethrows {
    bytes.append(UInt8(ascii: "["))
    try body(&self)
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func record(_ body: (inout WireWriter) throws -> Void) rethrows {
    bytes.append(UInt8(ascii: "{"))
    try body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  /// The beginning and the end of a record whose fields are written in parts.
  mutating func beginRecord() { bytes.append(UInt8(ascii: "{")) }
  mutating func endRecord() { bytes.append(UInt8(ascii: "}")) }

  mutating func field(_ name: String, _ value: String) {
    text(name)
    text(value)
  }

  mutating func field(_ name: String, _ value: Int) {
    text(name)
    integer(value)
  }

  /// Items that were written apart.
  mutating func items(_ written: [UInt8]) { bytes += written }

  /// The heading of a message, which names the version.
  mutating func heading() {
    bytes.reserveCapacity(128)
    bytes += WireVersion.heading.utf8
    bytes.append(UInt8(ascii: " "))
  }
}

/// The version of the wire that this process speaks.
enum WireVersion {
  static let heading = "forwardcast/2"

  /// Where the items of a text begin.
  ///
  /// - Throws: ``WireError`` that names the version of a text which is of another one.
  static func bodyStart(of bytes: [UInt8]) throws(WireError) -> Int {
    let expected = Array(heading.utf8) + [UInt8(ascii: " ")]
    if bytes.starts(with: expected) { return expected.count }
    let word = bytes.prefix(40).prefix { $0 != UInt8(ascii: " ") }
    guard word.starts(with: "forwardcast/".utf8) else { throw WireError("a text without a version") }
    throw WireError(
      "unknown version \(WireError.quoted(String(decoding: word, as: UTF8.self))), this process speaks \(heading)")
  }
}

/// Bytes as letters, since engines carry text best.
enum Base64 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  /// How many letters there are for so many bytes.
  static func length(of count: Int) -> Int { (count * 4 + 2) / 3 }

  static func write(_ value: [UInt8], to text: inout [UInt8]) {
    var (bits, held) = (UInt32(0), 0)
    for byte in value {
      bits = bits << 8 | UInt32(byte)
      held += 8
      while held >= 6 {
        held -= 6
        text.append(letters[Int(bits >> held & 63)])
      }
    }
    if held > 0 { text.append(letters[Int(bits << (6 - held) & 63)]) }
  }

  /// The bytes, or `nil` for what is no such text: each value has one spelling.
  static func read(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var value: [UInt8] = []
    value.reserveCapacity(text.count * 3 / 4)
    var (bits, held) = (UInt32(0), 0)
    for letter in text {
      let six = values[Int(letter)]
      guard six < 64 else { return nil }
      bits = bits << 6 | UInt32(six)
      held += 6
      if held >= 8 {
        held -= 8
        value.append(UInt8(truncatingIfNeeded: bits >> held))
      }
    }
    return bits & ((1 << held) - 1) == 0 ? value : nil
  }
}
