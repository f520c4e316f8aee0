// WireEncoder.swift: values of a program as items of the wire.
// Layer: Wire. See the article "The wire".

/// Writes one value: the common ones at once, others by their own `encode(to:)`.
///
/// - Throws: what the value throws; `EncodingError` where it is nested more deeply than can be read.
func writeValue(_ value: any Encodable, to writer: inout WireWriter) throws {
  let content = try EncodedContent(value, in: nil)
  try content.write(to: &writer, depth: 0)
}

/// How deeply a value's parts may lie in one another.
private let deepestValue = 64

/// One item: a value as it is, or a container that an encoder fills.
private enum EncodedContent {
  case null
  case bool(Bool)
  case integer(Int)
  case text(String)
  case real(Double)
  case data([UInt8])
  /// Any other number, written.
  case written([UInt8])
  case item(EncodedItem)

  /// - Throws: what the value throws.
  init(_ value: some Encodable, in path: WirePath?) throws {
    switch value {
    case let value as Int: self = .integer(value)
    case let value as String: self = .text(value)
    case let value as Bool: self = .bool(value)
    case let value as Double: self = .real(value)
    // By its exact type: an empty array of anything can be cast to one of bytes.
    case let bytes as [UInt8] where type(of: value) == [UInt8].self: self = .data(bytes)
    default:
      let item = EncodedItem(path)
      guard item.depth <= deepestValue else { throw tooDeep(item) }
      try value.encode(to: WireEncoder(item: item))
      self = .item(item)
    }
  }

  init(written body: (inout WireWriter) -> Void) {
    var writer = WireWriter()
    body(&writer)
    self = .written(writer.bytes)
  }

  func write(to writer: inout WireWriter, depth: Int) throws {
    switch self {
    case .null: writer.null()
    case .bool(let value): writer.bool(value)
    case .integer(let value): writer.integer(value)
    case .text(let value): writer.text(value)
    case .real(let value): writer.real(value)
    case .data(let value): writer.data(value)
    case .written(let bytes): writer.items(bytes)
    case .item(let item): try item.write(to: &writer, depth: depth)
    }
  }
}

/// A container under construction. It is a reference, since an encoder may fill several at the same time.
private final class EncodedItem {
  enum Content {
    /// A value that encodes nothing is an empty record.
    case nothing
    case single(EncodedContent)
    case list([EncodedContent])
    case record([(String, EncodedContent)])
  }
  var content = Content.nothing
  let path: WirePath?

  init(_ path: WirePath?) { self.path = path }

  var depth: Int { path?.depth ?? 0 }
  var count: Int { if case .list(let items) = content { items.count } else { 0 } }

  func append(_ value: EncodedContent) {
    guard case .list(var items) = content else { return content = .list([value]) }
    content = .nothing
    items.append(value)
    content = .list(items)
  }

  func set(_ value: EncodedContent, for name: String) {
    guard case .record(var fields) = content else { return content = .record([(name, value)]) }
    content = .nothing
    fields.append((name, value))
    content = .record(fields)
  }

  func write(to writer: inout WireWriter, depth: Int) throws {
    guard depth <= deepestValue else { throw tooDeep(self) }
    switch content {
    case .nothing: writer.record { _ in }
    case .single(let value): try value.write(to: &writer, depth: depth + 1)
    case .list(let items): try writer.list { for item in items { try item.write(to: &$0, depth: depth + 1) } }
    case .record(let fields):
      try writer.record {
        for (name, item) in fields {
          $0.text(name)
          try item.write(to: &$0, depth: depth + 1)
        }
      }
    }
  }
}

private func tooDeep(_ item: EncodedItem) -> EncodingError {
  EncodingError.invalidValue(
    deepestValue,
    .init(
      codingPath: WirePath.keys(item.path),
      debugDescription: "the value has more than \(deepestValue) levels"))
}

private struct WireEncoder: Encoder {
  let item: EncodedItem
  var codingPath: [any CodingKey] { WirePath.keys(item.path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .record = item.content {} else { item.content = .record([]) }
    return KeyedEncodingContainer(Keyed<Key>(item: item))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .list = item.content {} else { item.content = .list([]) }
    return Unkeyed(item: item)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(item: item) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let item: EncodedItem
    var codingPath: [any CodingKey] { WirePath.keys(item.path) }

    func encodeNil(forKey key: Key) { item.set(.null, for: key.stringValue) }
    func encode(_ value: String, forKey key: Key) { item.set(.text(value), for: key.stringValue) }
    func encode(_ value: Int, forKey key: Key) { item.set(.integer(value), for: key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) { item.set(.bool(value), for: key.stringValue) }
    func encode(_ value: Double, forKey key: Key) { item.set(.real(value), for: key.stringValue) }
    func encode(_ value: some Encodable, forKey key: Key) throws {
      item.set(try EncodedContent(value, in: WirePath(key, in: item.path)), for: key.stringValue)
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    {
      superEncoder(forKey: key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      superEncoder(forKey: key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { nested(WireKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> WireEncoder {
      let inner = EncodedItem(WirePath(key, in: item.path))
      item.set(.item(inner), for: key.stringValue)
      return WireEncoder(item: inner)
    }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let item: EncodedItem
    var codingPath: [any CodingKey] { WirePath.keys(item.path) }
    var count: Int { item.count }

    func encodeNil() { item.append(.null) }
    func encode(_ value: String) { item.append(.text(value)) }
    func encode(_ value: Int) { item.append(.integer(value)) }
    func encode(_ value: Bool) { item.append(.bool(value)) }
    func encode(_ value: Double) { item.append(.real(value)) }
    func encode(_ value: some Encodable) throws {
      item.append(try EncodedContent(value, in: WirePath(WireKey(count), in: item.path)))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      superEncoder().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder {
      let inner = EncodedItem(WirePath(WireKey(count), in: item.path))
      item.append(.item(inner))
      return WireEncoder(item: inner)
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let item: EncodedItem
    var codingPath: [any CodingKey] { WirePath.keys(item.path) }

    private func set(_ value: EncodedContent) { item.content = .single(value) }
    private func number(_ body: (inout WireWriter) -> Void) { set(EncodedContent(written: body)) }

    func encodeNil() { set(.null) }
    func encode(_ value: Bool) { set(.bool(value)) }
    func encode(_ value: String) { set(.text(value)) }
    func encode(_ value: Double) { set(.real(value)) }
    func encode(_ value: Float) { number { $0.real(value) } }
    func encode(_ value: Int) { set(.integer(value)) }
    func encode(_ value: Int8) { number { $0.integer(value) } }
    func encode(_ value: Int16) { number { $0.integer(value) } }
    func encode(_ value: Int32) { number { $0.integer(value) } }
    func encode(_ value: Int64) { number { $0.integer(value) } }
    func encode(_ value: Int128) { number { $0.integer(value) } }
    func encode(_ value: UInt) { number { $0.integer(value) } }
    func encode(_ value: UInt8) { number { $0.integer(value) } }
    func encode(_ value: UInt16) { number { $0.integer(value) } }
    func encode(_ value: UInt32) { number { $0.integer(value) } }
    func encode(_ value: UInt64) { number { $0.integer(value) } }
    func encode(_ value: UInt128) { number { $0.integer(value) } }
    func encode(_ value: some Encodable) throws {
      // A value in the same place is one level more, so that one which holds itself ends.
      set(try EncodedContent(value, in: WirePath(WireKey("value"), in: item.path)))
    }
  }
}
