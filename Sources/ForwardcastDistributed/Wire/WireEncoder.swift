// WireEncoder.swift: encodes values as items of the wire.

/// Writes one value: a common type directly, any other type with its `encode(to:)`. Throws for a
/// value that nests too deeply to be decoded.
func writeValue(_ value: any Encodable, to writer: inout WireWriter) throws {
  let item = EncodedItem(nil)
  swap(&item.writer, &writer)
  defer { swap(&item.writer, &writer) }
  try item.write(value, at: nil)
  try item.fill()
}

private let deepestValue = 64

/// A value under construction. A class, because an encoder may create several containers for it.
///
/// An item appends to the writer of the enclosing value, and holds that writer until the item is
/// complete. Only parts that may be filled later, as by `superEncoder()`, are written separately.
private final class EncodedItem {
  enum Content {
    /// A value that encodes nothing becomes an empty record.
    case nothing, single, list, record
  }
  var writer = WireWriter(reserving: 0)
  private var content = Content.nothing
  private var start = 0
  private(set) var count = 0
  private var later: [(place: Int, item: EncodedItem)] = []
  let path: WirePath?

  init(_ path: WirePath?) { self.path = path }

  /// Begins a container unless the value already is one of this kind. Discards other content.
  func begin(_ wanted: Content) {
    guard content != wanted else { return }
    writer.cut(to: start)
    later.removeAll { $0.place > start }
    (content, count) = (wanted, 0)
    if wanted == .list { writer.beginList() }
    if wanted == .record { writer.beginRecord() }
  }

  private func end() {
    if content == .nothing { begin(.record) }
    if content == .list { writer.endList() }
    if content == .record { writer.endRecord() }
  }

  /// Writes the next value; in a record, after its key. Writes nothing if the encoding throws.
  func write(_ value: some Encodable, key: String? = nil, at inner: @autoclosure () -> WirePath?) throws {
    let place = writer.bytes.count
    if let key { writer.text(key) }
    do { try append(value, inner()) } catch {
      writer.cut(to: place)
      throw error
    }
    count += 1
  }

  private func append(_ value: some Encodable, _ inner: @autoclosure () -> WirePath?) throws {
    switch value {
    case let value as Int: writer.integer(value)
    case let value as String: writer.text(value)
    case let value as Bool: writer.bool(value)
    case let value as Double: writer.real(value)
    // Matched by exact type, because an empty array of any type can be cast to an array of bytes.
    case let bytes as [UInt8] where type(of: value) == [UInt8].self: writer.data(bytes)
    default:
      let item = EncodedItem(inner())
      try item.checkDepth()
      swap(&item.writer, &writer)
      item.start = item.writer.bytes.count
      defer { swap(&item.writer, &writer) }
      try value.encode(to: WireEncoder(item: item))
      item.end()
      later += item.later
    }
  }

  func null() {
    count += 1
    writer.null()
  }

  /// The next item, which may be filled later.
  func nested(_ key: any CodingKey) -> EncodedItem {
    count += 1
    let item = EncodedItem(WirePath(key, in: path))
    later.append((writer.bytes.count, item))
    return item
  }

  /// Inserts the parts that were written separately.
  func fill() throws {
    try checkDepth()
    if later.isEmpty { return }
    var (whole, place) = (WireWriter(), 0)
    for (next, item) in later {
      item.end()
      try item.fill()
      whole.items(writer.bytes[place..<next])
      whole.items(item.writer.bytes[...])
      place = next
    }
    whole.items(writer.bytes[place...])
    writer = whole
  }

  private func checkDepth() throws {
    guard path?.depth ?? 0 > deepestValue else { return }
    throw EncodingError.invalidValue(
      deepestValue,
      .init(
        codingPath: WirePath.keys(path), debugDescription: "the value is nested more than \(deepestValue) levels deep"))
  }
}

private struct WireEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
  let item: EncodedItem
  var isList = false
  var codingPath: [any CodingKey] { WirePath.keys(item.path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var count: Int { item.count }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    item.begin(.record)
    return KeyedEncodingContainer(Keyed<Key>(item: item))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    item.begin(.list)
    return WireEncoder(item: item, isList: true)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// Begins a single value. If several values are encoded, the last value is used.
  private func begin() {
    if isList { return }
    item.begin(.nothing)
    item.begin(.single)
  }

  func encodeNil() {
    begin()
    item.null()
  }
  func encode(_ value: some Encodable) throws { try write(value) }
  func encode(_ value: Int128) throws { try write(value) }
  func encode(_ value: UInt128) throws { try write(value) }

  private func write(_ value: some Encodable) throws {
    begin()
    switch value {
    case let value as any FixedWidthInteger where !isList: item.writer.integer(value)
    case let value as Float where !isList: item.writer.real(value)
    // A value that encodes another value in its place adds a level, so infinite recursion ends.
    default: try item.write(value, at: WirePath(key, in: item.path))
    }
  }

  private var key: WireKey { isList ? WireKey(count) : WireKey("value") }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    superEncoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { WireEncoder(item: item.nested(key)) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let item: EncodedItem
    var codingPath: [any CodingKey] { WirePath.keys(item.path) }

    func encodeNil(forKey key: Key) {
      item.writer.text(key.stringValue)
      item.null()
    }
    func encode(_ value: some Encodable, forKey key: Key) throws { try write(value, key) }
    // The protocol's default implementations of these two methods throw.
    func encode(_ value: Int128, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try write(value, key) }

    private func write(_ value: some Encodable, _ key: Key) throws {
      try item.write(value, key: key.stringValue, at: WirePath(key, in: item.path))
    }
    func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) -> KeyedEncodingContainer<K> {
      superEncoder(forKey: key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      superEncoder(forKey: key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { nested(WireKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> WireEncoder {
      item.writer.text(key.stringValue)
      return WireEncoder(item: item.nested(key))
    }
  }
}
