// WireDecoder.swift: decodes values from items of the wire.

import Forwardcast

/// The items to decode, and the types and selectors that are allowed.
final class WireReading {
  let tree: WireTree
  let types: KnownTypes
  /// The allowed selectors; `nil` means all known selectors.
  private let selectors: Set<MessageSelector>?

  init(_ tree: WireTree, _ types: KnownTypes, selectors: Set<MessageSelector>? = nil) {
    (self.tree, self.types, self.selectors) = (tree, types, selectors)
  }

  private(set) lazy var userInfo: [CodingUserInfoKey: Any] = {
    var info: [CodingUserInfoKey: Any] = [Invocation.typesKey: types]
    if let selectors { info[MessageSelector.selectorsKey] = selectors }
    return info
  }()

  func value<T: Decodable>(_ type: T.Type, at node: Int, _ path: @autoclosure () -> WirePath? = nil) throws -> T {
    if type == [UInt8].self, tree.kind(node) == .bytes {
      if let value = try wanted(tree.data(node), node, path()) as? T { return value }
    }
    if type == Int.self, let value = try wanted(tree.number(node) as Int?, node, path()) as? T { return value }
    if type == String.self, let value = try wanted(tree.string(node), node, path()) as? T { return value }
    let path = path()
    guard (path?.depth ?? 0) <= 256 else { throw mismatch(type, node, path) }
    if tree.kind(node) == .list, let type = type as? any Hashing.Type { try checkKeys(node, type.itemsPerKey, path) }
    return try T(from: WireDecoder(reading: self, node: node, path: path))
  }

  /// Refuses keys of a list that would take quadratic time to hash.
  private func checkKeys(_ list: Int, _ itemsPerKey: Int, _ path: WirePath?) throws {
    for (index, key) in tree.children(of: list).enumerated() where index % itemsPerKey == 0 {
      for item in key..<Int(tree.nodes[key].next)
      where tree.kind(item) == .text && !WireName.isStreamSafe(tree.bytes(of: item)) {
        throw DecodingError.dataCorrupted(
          .init(codingPath: WirePath.keys(WirePath(WireKey(index), in: path)), debugDescription: WireName.unsafeKey))
      }
    }
  }

  /// Unwraps a value. Throws if the value is `nil`, which means that the item is of another kind.
  fileprivate func wanted<T>(_ value: T?, _ node: Int, _ path: @autoclosure () -> WirePath?) throws -> T {
    guard let value else { throw mismatch(T.self, node, path()) }
    return value
  }

  fileprivate func mismatch(_ type: Any.Type, _ node: Int, _ path: WirePath?) -> DecodingError {
    DecodingError.typeMismatch(
      type, .init(codingPath: WirePath.keys(path), debugDescription: "wanted \(type), found \(tree.kind(node))"))
  }
}

/// A collection that hashes its keys or members while it is decoded.
private protocol Hashing {
  /// The number of items that a list has for each key.
  static var itemsPerKey: Int { get }
}

extension Dictionary: Hashing { fileprivate static var itemsPerKey: Int { 2 } }
extension Set: Hashing { fileprivate static var itemsPerKey: Int { 1 } }

extension WireTree {
  fileprivate func string(_ node: Int) -> String? { kind(node) == .text ? text(node) : nil }
  func number<T: FixedWidthInteger>(_ node: Int) -> T? { kind(node) == .integer ? T(text(node)) : nil }
  fileprivate func real<T: LosslessStringConvertible>(_ node: Int) -> T? {
    kind(node) == .real || kind(node) == .integer ? T(text(node)) : nil
  }
  fileprivate func data(_ node: Int) -> [UInt8]? { kind(node) == .bytes ? Base64.read(bytes(of: node)) : nil }
}

private struct WireDecoder: Decoder, SingleValueDecodingContainer {
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
    return Unkeyed(reading: reading, path: path, items: reading.tree.children(of: node))
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { reading.tree.kind(node) == .null }
  func decode(_ type: String.Type) throws -> String { try wanted(reading.tree.string(node)) }
  func decode(_ type: Bool.Type) throws -> Bool { try wanted(reading.tree.bool(node)) }
  func decode(_ type: Double.Type) throws -> Double { try wanted(reading.tree.real(node)) }
  func decode(_ type: Float.Type) throws -> Float { try wanted(reading.tree.real(node)) }
  func decode(_ type: Int128.Type) throws -> Int128 { try number(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try number(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let type = type as? any FixedWidthInteger.Type, let value = try number(type) as? T { return value }
    return try reading.value(type, at: node, WirePath(WireKey("value"), in: path))
  }

  private func number<T: FixedWidthInteger>(_ type: T.Type) throws -> T { try wanted(reading.tree.number(node)) }
  private func wanted<T>(_ value: T?) throws -> T { try reading.wanted(value, node, path) }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reading: WireReading
    let record: Int
    let path: WirePath?
    /// The values of a large record by key. Small records are searched.
    private let many: [WireName: Int]?

    init(reading: WireReading, record: Int, path: WirePath?) {
      (self.reading, self.record, self.path) = (reading, record, path)
      many = Int(reading.tree.nodes[record].next) - record > 64 ? reading.tree.fields(of: record) : nil
    }

    var codingPath: [any CodingKey] { WirePath.keys(path) }

    var allKeys: [Key] {
      let items = reading.tree.children(of: record)
      return stride(from: 0, to: items.count, by: 2).compactMap { Key(stringValue: reading.tree.text(items[$0])) }
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

    private func find(_ name: String) -> Int? {
      if let many { return many[WireName(name)] }
      return reading.tree.field(name.utf8, of: record)
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
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try value(type, key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(type, key) }

    private func value<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
      try reading.value(type, at: try node(key), inner(key))
    }
    func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) throws -> KeyedDecodingContainer<K> {
      try superDecoder(forKey: key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try superDecoder(forKey: key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try decoder(WireKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: any CodingKey) throws -> WireDecoder {
      WireDecoder(reading: reading, node: try node(key), path: inner(key))
    }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    let reading: WireReading
    let path: WirePath?
    let items: [Int]
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { WirePath.keys(path) }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    private var inner: WirePath { WirePath(WireKey(currentIndex), in: path) }

    /// Reads the next item, and advances if that succeeds.
    private mutating func read<T>(_ body: (Int) throws -> T) throws -> T {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          Any.self, .init(codingPath: WirePath.keys(inner), debugDescription: "the list has \(currentIndex) items"))
      }
      let value = try body(items[currentIndex])
      currentIndex += 1
      return value
    }

    mutating func decodeNil() throws -> Bool {
      if !isAtEnd, reading.tree.kind(items[currentIndex]) != .null { return false }
      return try read { _ in true }
    }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try value(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try value(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try value(type) }

    private mutating func value<T: Decodable>(_ type: T.Type) throws -> T {
      let here = self
      return try read { try here.reading.value(type, at: $0, here.inner) }
    }
    mutating func nestedContainer<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
      try superDecoder().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try superDecoder().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder {
      let here = self
      return try read { WireDecoder(reading: here.reading, node: $0, path: here.inner) }
    }
  }
}
