// WireEncoder.swift: values of a program as items of the wire.
// Layer: Wire. See DESIGN.md, "Other processes".

/// Writes one value: the common ones at once, others by their own `encode(to:)`.
///
/// - Throws: what the value throws; `EncodingError` where it is nested more deeply than can be read.
func writeValue(_ value: any Encodable, to writer: inout WireWriter) throws {
  switch value {
  case let value as Int: writer.integer(value)
  case let value as String: writer.text(value)
  case let value as Bool: writer.bool(value)
  case let value as Double: writer.real(value)
  default:
    let slot = EncodedItem()
    try encode(value, into: slot, [])
    try slot.write(to: &writer, depth: 0)
  }
}

/// One item under construction. Containers are references, since an encoder may fill several at the same time.
private final class EncodedItem {
  enum Content {
    case empty
    case leaf([UInt8])
    case list([EncodedItem])
    case record([(String, EncodedItem)])
  }
  var content = Content.empty

  func set(_ body: (inout WireWriter) -> Void) {
    var writer = WireWriter()
    body(&writer)
    content = .leaf(writer.bytes)
  }

  func append() -> EncodedItem {
    let item = EncodedItem()
    if case .list(var items) = content {
      content = .empty
      items.append(item)
      content = .list(items)
    } else {
      content = .list([item])
    }
    return item
  }

  func field(_ name: String) -> EncodedItem {
    let item = EncodedItem()
    if case .record(var fields) = content {
      content = .empty
      fields.append((name, item))
      content = .record(fields)
    } else {
      content = .record([(name, item)])
    }
    return item
  }

  var count: Int { if case .list(let items) = content { items.count } else { 0 } }

  func write(to writer: inout WireWriter, depth: Int) throws {
    guard depth <= deepestValue else { throw tooDeep([]) }
    switch content {
    // A value that encodes nothing is an empty record.
    case .empty: writer.record { _ in }
    case .leaf(let bytes): writer.items(bytes)
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

/// How deeply a value's parts may lie in one another.
private let deepestValue = 64

private func tooDeep(_ path: [any CodingKey]) -> EncodingError {
  EncodingError.invalidValue(
    deepestValue, .init(codingPath: path, debugDescription: "the value has more than \(deepestValue) levels"))
}

private func encode(_ value: some Encodable, into item: EncodedItem, _ path: [any CodingKey]) throws {
  guard path.count <= deepestValue else { throw tooDeep(path) }
  switch value {
  case let value as Int: item.set { $0.integer(value) }
  case let value as String: item.set { $0.text(value) }
  case let value as Bool: item.set { $0.bool(value) }
  case let value as Double: item.set { $0.real(value) }
  // By its exact type: an empty array of anything can be cast to one of bytes.
  case let bytes as [UInt8] where type(of: value) == [UInt8].self: item.set { $0.data(bytes) }
  default: try value.encode(to: WireEncoder(item: item, codingPath: path))
  }
}

private struct PlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}

private struct WireEncoder: Encoder {
  let item: EncodedItem
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .record = item.content {} else { item.content = .record([]) }
    return KeyedEncodingContainer(Keyed<Key>(item: item, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .list = item.content {} else { item.content = .list([]) }
    return Unkeyed(item: item, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(item: item, codingPath: codingPath) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let item: EncodedItem
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { item.field(key.stringValue).set { $0.null() } }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
      try ForwardcastDistributed.encode(value, into: item.field(key.stringValue), codingPath + [key])
    }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    {
      superEncoder(forKey: key).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      superEncoder(forKey: key).unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder {
      WireEncoder(item: item.field("super"), codingPath: codingPath + [PlaceKey("super")])
    }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
      WireEncoder(item: item.field(key.stringValue), codingPath: codingPath + [key])
    }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let item: EncodedItem
    let codingPath: [any CodingKey]
    var count: Int { item.count }

    mutating func encodeNil() { item.append().set { $0.null() } }
    mutating func encode(_ value: some Encodable) throws {
      let path = codingPath + [PlaceKey(count)]
      try ForwardcastDistributed.encode(value, into: item.append(), path)
    }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      superEncoder().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder {
      let path = codingPath + [PlaceKey(count)]
      return WireEncoder(item: item.append(), codingPath: path)
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let item: EncodedItem
    let codingPath: [any CodingKey]

    mutating func encodeNil() { item.set { $0.null() } }
    mutating func encode(_ value: Bool) { item.set { $0.bool(value) } }
    mutating func encode(_ value: String) { item.set { $0.text(value) } }
    mutating func encode(_ value: Double) { item.set { $0.real(value) } }
    mutating func encode(_ value: Float) { item.set { $0.real(value) } }
    mutating func encode(_ value: Int) { item.set { $0.integer(value) } }
    mutating func encode(_ value: Int8) { item.set { $0.integer(value) } }
    mutating func encode(_ value: Int16) { item.set { $0.integer(value) } }
    mutating func encode(_ value: Int32) { item.set { $0.integer(value) } }
    mutating func encode(_ value: Int64) { item.set { $0.integer(value) } }
    mutating func encode(_ value: Int128) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt8) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt16) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt32) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt64) { item.set { $0.integer(value) } }
    mutating func encode(_ value: UInt128) { item.set { $0.integer(value) } }
    mutating func encode(_ value: some Encodable) throws {
      // A value in the same place is one level more, so that one which holds itself ends.
      try ForwardcastDistributed.encode(value, into: item, codingPath + [PlaceKey("value")])
    }
  }
}
