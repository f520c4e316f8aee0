// WireDecoder.swift: items of the wire as values of a program.
// Layer: Wire. See DESIGN.md, "Other processes".

/// What a value is read with: the items, and what its types find in `userInfo`.
final class WireReading {
  let tree: WireTree
  let userInfo: [CodingUserInfoKey: Any]

  init(_ tree: WireTree, userInfo: [CodingUserInfoKey: Any]) { (self.tree, self.userInfo) = (tree, userInfo) }

  /// The value at a node, as a type that the reader has chosen.
  func value<T: Decodable>(_ type: T.Type, at node: Int) throws -> T { try value(type, at: node, []) }

  fileprivate func value<T: Decodable>(_ type: T.Type, at node: Int, _ path: [any CodingKey]) throws -> T {
    switch type {
    case is Int.Type: if let value = try integer(Int.self, at: node, path) as? T { return value }
    case is String.Type: if let value = try text(at: node, path) as? T { return value }
    case is [UInt8].Type:
      if tree.kind(node) == .bytes, let value = try data(at: node, path) as? T { return value }
    default: break
    }
    guard path.count <= 256 else { throw mismatch(type, node, path) }
    return try T(from: WireDecoder(reading: self, node: node, codingPath: path))
  }

  fileprivate func text(at node: Int, _ path: [any CodingKey]) throws -> String {
    guard tree.kind(node) == .text else { throw mismatch(String.self, node, path) }
    return tree.text(node)
  }

  fileprivate func bool(at node: Int, _ path: [any CodingKey]) throws -> Bool {
    switch tree.kind(node) {
    case .yes: true
    case .no: false
    default: throw mismatch(Bool.self, node, path)
    }
  }

  fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type, at node: Int, _ path: [any CodingKey]) throws -> T {
    guard tree.kind(node) == .integer, let value = T(tree.text(node)) else { throw mismatch(type, node, path) }
    return value
  }

  fileprivate func real<T: LosslessStringConvertible>(_ type: T.Type, at node: Int, _ path: [any CodingKey]) throws
    -> T
  {
    let kind = tree.kind(node)
    guard kind == .real || kind == .integer, let value = T(tree.text(node)) else { throw mismatch(type, node, path) }
    return value
  }

  fileprivate func data(at node: Int, _ path: [any CodingKey]) throws -> [UInt8] {
    let item = tree.nodes[node]
    guard item.kind == .bytes, let value = Base64.read(tree.bytes[Int(item.start)..<Int(item.end)]) else {
      throw mismatch([UInt8].self, node, path)
    }
    return value
  }

  fileprivate func mismatch(_ type: Any.Type, _ node: Int, _ path: [any CodingKey]) -> DecodingError {
    DecodingError.typeMismatch(
      type, .init(codingPath: path, debugDescription: "wanted \(type), found \(tree.kind(node))"))
  }
}

private struct IndexKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}

private struct WireDecoder: Decoder {
  let reading: WireReading
  let node: Int
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { reading.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard reading.tree.kind(node) == .record else { throw reading.mismatch([String: Any].self, node, codingPath) }
    return KeyedDecodingContainer(
      Keyed<Key>(reading: reading, fields: reading.tree.fields(of: node), codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard reading.tree.kind(node) == .list else { throw reading.mismatch([Any].self, node, codingPath) }
    return Unkeyed(reading: reading, items: reading.tree.children(of: node), codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    Single(reading: reading, node: node, codingPath: codingPath)
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reading: WireReading
    let fields: [String: Int]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    private func node(_ key: some CodingKey) throws -> Int {
      guard let node = fields[key.stringValue] else {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "no field \(key.stringValue)"))
      }
      return node
    }

    func decodeNil(forKey key: Key) throws -> Bool { reading.tree.kind(try node(key)) == .null }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      try reading.value(type, at: try node(key), codingPath + [key])
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
      let key = IndexKey("super")
      return WireDecoder(reading: reading, node: try node(key), codingPath: codingPath + [key])
    }
    func superDecoder(forKey key: Key) throws -> any Decoder {
      WireDecoder(reading: reading, node: try node(key), codingPath: codingPath + [key])
    }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    let reading: WireReading
    let items: [Int]
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    private var place: [any CodingKey] { codingPath + [IndexKey(currentIndex)] }

    private func node() throws -> Int {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          Any.self, .init(codingPath: place, debugDescription: "the list has \(items.count) items"))
      }
      return items[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
      guard reading.tree.kind(try node()) == .null else { return false }
      currentIndex += 1
      return true
    }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
      let value = try reading.value(type, at: try node(), place)
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
      let decoder = WireDecoder(reading: reading, node: try node(), codingPath: place)
      currentIndex += 1
      return decoder
    }
  }

  private struct Single: SingleValueDecodingContainer {
    let reading: WireReading
    let node: Int
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { reading.tree.kind(node) == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try reading.bool(at: node, codingPath) }
    func decode(_ type: String.Type) throws -> String { try reading.text(at: node, codingPath) }
    func decode(_ type: Double.Type) throws -> Double { try reading.real(type, at: node, codingPath) }
    func decode(_ type: Float.Type) throws -> Float { try reading.real(type, at: node, codingPath) }
    func decode(_ type: Int.Type) throws -> Int { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: Int8.Type) throws -> Int8 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: Int16.Type) throws -> Int16 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: Int32.Type) throws -> Int32 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: Int64.Type) throws -> Int64 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: Int128.Type) throws -> Int128 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt.Type) throws -> UInt { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try reading.integer(type, at: node, codingPath) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try reading.integer(type, at: node, codingPath) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
      try reading.value(type, at: node, codingPath + [IndexKey("value")])
    }
  }
}
