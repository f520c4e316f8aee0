// WireDecoder.swift: items of the wire as values of a program.
// Layer: Wire. See the article "The wire".

/// What a value is read with: the items, and what its types find in `userInfo`.
final class WireReading {
  let tree: WireTree
  let userInfo: [CodingUserInfoKey: Any]

  init(_ tree: WireTree, userInfo: [CodingUserInfoKey: Any]) { (self.tree, self.userInfo) = (tree, userInfo) }

  /// The value at a node, as a type that the reader has chosen.
  func value<T: Decodable>(_ type: T.Type, at node: Int) throws -> T { try value(type, at: node, nil) }

  fileprivate func value<T: Decodable>(_ type: T.Type, at node: Int, _ path: WirePath?) throws -> T {
    if type == [UInt8].self, tree.kind(node) == .bytes, let value = try data(at: node, path) as? T { return value }
    if type == Int.self, let value = try integer(Int.self, at: node, path) as? T { return value }
    if type == String.self, let value = try text(at: node, path) as? T { return value }
    guard (path?.depth ?? 0) <= 256 else { throw mismatch(type, node, path) }
    return try T(from: WireDecoder(reading: self, node: node, path: path))
  }

  fileprivate func text(at node: Int, _ path: @autoclosure () -> WirePath?) throws -> String {
    guard tree.kind(node) == .text else { throw mismatch(String.self, node, path()) }
    return tree.text(node)
  }

  fileprivate func bool(at node: Int, _ path: @autoclosure () -> WirePath?) throws -> Bool {
    switch tree.kind(node) {
    case .yes: true
    case .no: false
    default: throw mismatch(Bool.self, node, path())
    }
  }

  fileprivate func integer<T: FixedWidthInteger>(
    _ type: T.Type, at node: Int, _ path: @autoclosure () -> WirePath?
  ) throws -> T {
    guard tree.kind(node) == .integer, let value = T(tree.text(node)) else { throw mismatch(type, node, path()) }
    return value
  }

  fileprivate func real<T: LosslessStringConvertible>(
    _ type: T.Type, at node: Int, _ path: @autoclosure () -> WirePath?
  ) throws -> T {
    let kind = tree.kind(node)
    guard kind == .real || kind == .integer, let value = T(tree.text(node)) else { throw mismatch(type, node, path()) }
    return value
  }

  fileprivate func data(at node: Int, _ path: WirePath?) throws -> [UInt8] {
    let item = tree.nodes[node]
    guard item.kind == .bytes, let value = Base64.read(tree.bytes[Int(item.start)..<Int(item.end)]) else {
      throw mismatch([UInt8].self, node, path)
    }
    return value
  }

  fileprivate func mismatch(_ type: Any.Type, _ node: Int, _ path: WirePath?) -> DecodingError {
    DecodingError.typeMismatch(
      type,
      .init(codingPath: WirePath.keys(path), debugDescription: "wanted \(type), found \(tree.kind(node))"))
  }
}

private struct WireDecoder: Decoder {
  let reading: WireReading
  let node: Int
  let path: WirePath?
  var codingPath: [any CodingKey] { WirePath.keys(path) }
  var userInfo: [CodingUserInfoKey: Any] { reading.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard reading.tree.kind(node) == .record else { throw reading.mismatch([String: Any].self, node, path) }
    return KeyedDecodingContainer(Keyed<Key>(reading: reading, record: node, path: path))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard reading.tree.kind(node) == .list else { throw reading.mismatch([Any].self, node, path) }
    return Unkeyed(reading: reading, items: reading.tree.children(of: node), path: path)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    Single(reading: reading, node: node, path: path)
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reading: WireReading
    let path: WirePath?
    /// The keys and values of a record of few fields, which are searched one after another.
    private let few: [Int]
    /// The values of one of many fields by their keys: the time to read it grows with its size alone.
    private let many: [String: Int]?

    init(reading: WireReading, record: Int, path: WirePath?) {
      (self.reading, self.path) = (reading, path)
      few = reading.tree.children(of: record)
      many = few.count > 32 ? reading.tree.fields(of: record) : nil
    }

    var codingPath: [any CodingKey] { WirePath.keys(path) }

    var allKeys: [Key] {
      if let many { return many.keys.compactMap(Key.init(stringValue:)) }
      return stride(from: 0, to: few.count, by: 2).compactMap { Key(stringValue: reading.tree.text(few[$0])) }
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

    private func find(_ name: String) -> Int? {
      if let many { return many[name] }
      for index in stride(from: 0, to: few.count, by: 2) where reading.tree.text(few[index], is: name) {
        return few[index + 1]
      }
      return nil
    }

    private func node(_ key: some CodingKey) throws -> Int {
      guard let node = find(key.stringValue) else {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "no field \(key.stringValue)"))
      }
      return node
    }

    private func inner(_ key: any CodingKey) -> WirePath { WirePath(key, in: path) }

    func decodeNil(forKey key: Key) throws -> Bool { reading.tree.kind(try node(key)) == .null }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
      try reading.text(at: try node(key), inner(key))
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
      try reading.integer(type, at: try node(key), inner(key))
    }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try reading.bool(at: try node(key), inner(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
      try reading.real(type, at: try node(key), inner(key))
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      try reading.value(type, at: try node(key), inner(key))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
      -> KeyedDecodingContainer<Nested>
    {
      try superDecoder(forKey: key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try superDecoder(forKey: key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder {
      let key = WireKey("super")
      return WireDecoder(reading: reading, node: try node(key), path: inner(key))
    }
    func superDecoder(forKey key: Key) throws -> any Decoder {
      WireDecoder(reading: reading, node: try node(key), path: inner(key))
    }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    let reading: WireReading
    let items: [Int]
    let path: WirePath?
    var currentIndex = 0
    var codingPath: [any CodingKey] { WirePath.keys(path) }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    private var inner: WirePath { WirePath(WireKey(currentIndex), in: path) }

    private func node() throws -> Int {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          Any.self,
          .init(codingPath: WirePath.keys(inner), debugDescription: "the list has \(items.count) items"))
      }
      return items[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
      guard reading.tree.kind(try node()) == .null else { return false }
      currentIndex += 1
      return true
    }
    mutating func decode(_ type: String.Type) throws -> String {
      let value = try reading.text(at: try node(), inner)
      currentIndex += 1
      return value
    }
    mutating func decode(_ type: Int.Type) throws -> Int {
      let value = try reading.integer(type, at: try node(), inner)
      currentIndex += 1
      return value
    }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
      let value = try reading.value(type, at: try node(), inner)
      currentIndex += 1
      return value
    }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
      -> KeyedDecodingContainer<Nested>
    {
      try superDecoder().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try superDecoder().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder {
      let decoder = WireDecoder(reading: reading, node: try node(), path: inner)
      currentIndex += 1
      return decoder
    }
  }

  private struct Single: SingleValueDecodingContainer {
    let reading: WireReading
    let node: Int
    let path: WirePath?
    var codingPath: [any CodingKey] { WirePath.keys(path) }

    func decodeNil() -> Bool { reading.tree.kind(node) == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try reading.bool(at: node, path) }
    func decode(_ type: String.Type) throws -> String { try reading.text(at: node, path) }
    func decode(_ type: Double.Type) throws -> Double { try reading.real(type, at: node, path) }
    func decode(_ type: Float.Type) throws -> Float { try reading.real(type, at: node, path) }
    func decode(_ type: Int.Type) throws -> Int { try reading.integer(type, at: node, path) }
    func decode(_ type: Int8.Type) throws -> Int8 { try reading.integer(type, at: node, path) }
    func decode(_ type: Int16.Type) throws -> Int16 { try reading.integer(type, at: node, path) }
    func decode(_ type: Int32.Type) throws -> Int32 { try reading.integer(type, at: node, path) }
    func decode(_ type: Int64.Type) throws -> Int64 { try reading.integer(type, at: node, path) }
    func decode(_ type: Int128.Type) throws -> Int128 { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt.Type) throws -> UInt { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try reading.integer(type, at: node, path) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try reading.integer(type, at: node, path) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
      try reading.value(type, at: node, WirePath(WireKey("value"), in: path))
    }
  }
}
