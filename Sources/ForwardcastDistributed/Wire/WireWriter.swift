// WireWriter.swift: writes items of the wire.

struct WireWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 128) { bytes.reserveCapacity(capacity) }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  func text(with other: WireWriter) -> String {
    String(unsafeUninitializedCapacity: bytes.count + other.bytes.count) { buffer in
      let end = buffer.update(fromContentsOf: bytes)
      return buffer[end...].update(fromContentsOf: other.bytes)
    }
  }

  mutating func null() { bytes.append(UInt8(ascii: "n")) }
  mutating func bool(_ value: Bool) { bytes.append(value ? UInt8(ascii: "t") : UInt8(ascii: "f")) }

  mutating func integer(_ value: some FixedWidthInteger) {
    bytes.append(UInt8(ascii: "i"))
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(of: value.magnitude)
    bytes.append(UInt8(ascii: ";"))
  }

  private mutating func digits<Number: FixedWidthInteger>(of value: Number) {
    if value > 9 { digits(of: value / 10) }
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
  }

  mutating func real(_ value: some BinaryFloatingPoint & LosslessStringConvertible) {
    bytes.append(UInt8(ascii: "d"))
    bytes += value.description.utf8
    bytes.append(UInt8(ascii: ";"))
  }

  mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { text($0) }
  }

  private mutating func text(_ utf8: UnsafeBufferPointer<UInt8>) {
    digits(of: utf8.count.magnitude)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(contentsOf: utf8)
  }

  mutating func data(_ value: [UInt8]) {
    bytes.append(UInt8(ascii: "b"))
    digits(of: Base64.length(of: value.count).magnitude)
    bytes.append(UInt8(ascii: ":"))
    Base64.write(value, to: &bytes)
  }

  mutating func beginList() { bytes.append(UInt8(ascii: "[")) }
  mutating func endList() { bytes.append(UInt8(ascii: "]")) }
  mutating func beginRecord() { bytes.append(UInt8(ascii: "{")) }
  mutating func endRecord() { bytes.append(UInt8(ascii: "}")) }

  mutating func list<Failure: Error>(_ body: (inout WireWriter) throws(Failure) -> Void) throws(Failure) {
    beginList()
    try body(&self)
    endList()
  }

  /// Writes the name of a field, before its value.
  mutating func name(_ name: StaticString) { name.withUTF8Buffer { text($0) } }

  mutating func field(_ name: StaticString, _ value: String) {
    self.name(name)
    text(value)
  }

  mutating func field(_ name: StaticString, _ value: Int) {
    self.name(name)
    integer(value)
  }

  mutating func items(_ written: ArraySlice<UInt8>) { bytes += written }

  mutating func cut(to place: Int) { bytes.removeLast(bytes.count - place) }

  /// Writes a message's heading, which names the version.
  mutating func heading() { bytes += WireVersion.bytes }

  /// A reply of the given kind, with the fields that `body` writes.
  static func message<Failure: Error>(
    _ kind: String, _ number: Int? = nil, tag: Int?, _ body: (inout WireWriter) throws(Failure) -> Void
  ) throws(Failure) -> String {
    var writer = WireWriter()
    writer.heading()
    writer.beginRecord()
    writer.field("k", kind)
    if let number { writer.field("n", number) }
    try body(&writer)
    if let tag { writer.field("g", tag) }
    writer.endRecord()
    return writer.text
  }
}

/// The version of the wire format. It has no slash, since JSON encoders escape slashes.
enum WireVersion {
  static let heading = "forwardcast:2"
  fileprivate static let bytes = Array("\(heading) ".utf8)

  /// The start of the items of a text. Refuses a text of another version.
  static func bodyStart(of text: [UInt8]) throws(WireRefusal) -> Int {
    if text.starts(with: bytes) { return bytes.count }
    let word = text.prefix(40).prefix { $0 != UInt8(ascii: " ") }
    guard word.starts(with: "forwardcast".utf8) else {
      throw WireRefusal(.unknownVersion, "the text does not begin with a version")
    }
    let version = WireRefusal.quoted(String(decoding: word, as: UTF8.self))
    throw WireRefusal(.unknownVersion, "unknown version \(version); this process reads only \(heading)")
  }
}

/// Encodes bytes as base64, because texts on the wire are strings.
enum Base64 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

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

  /// The bytes; `nil` for invalid text. Each value has exactly one encoding.
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
