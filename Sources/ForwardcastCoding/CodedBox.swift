// CodedBox.swift: encodes a value with the name of its type.

import Forwardcast

struct CodedBox: Codable {
  let box: ArgumentBox
  private let role: String

  init(_ box: ArgumentBox, role: String) { (self.box, self.role) = (box, role) }

  private enum CodingKeys: String, CodingKey {
    case type, value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let value = box.value
    if value is Void { return try container.encode("Void", forKey: .type) }
    if box.isNil { return try container.encode("nil", forKey: .type) }
    guard let encodable = value as? any Encodable else {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: encoder.codingPath, debugDescription: "\(role) is not Encodable: \(Swift.type(of: value))"))
    }
    try container.encode(CodedType.name(of: Swift.type(of: value)), forKey: .type)
    try container.encode(encodable, forKey: .value)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decode(String.self, forKey: .type)
    role = name
    switch name {
    case "Void": box = ArgumentBox(())
    case "nil": box = ArgumentBox(uncheckedSendable: AnyObject?.none)
    default:
      let others = (decoder.userInfo[Invocation.typesKey] as? KnownTypes)?.types ?? [:]
      let type: any Codable.Type
      do { type = try CodedType.type(named: name, others) } catch {
        let advice = error == .unknown ? "; add it to decoder.userInfo[Invocation.typesKey]" : ""
        throw DecodingError.dataCorruptedError(
          forKey: .type, in: container, debugDescription: "\(error) \"\(shortened(name))\"" + advice)
      }
      box = try CodedBox.read(type, container)
    }
  }

  private static func read<T: Decodable>(_ type: T.Type, _ container: KeyedDecodingContainer<CodingKeys>) throws
    -> ArgumentBox
  {
    ArgumentBox(uncheckedSendable: try container.decode(T.self, forKey: .value))
  }
}

/// The names of encoded types: `Int`, `[String: [Color]]`, `Double?`.
package enum CodedType {
  private static let standard: [String: any (Codable & Sendable).Type] = {
    let types: [any (Codable & Sendable).Type] = [
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
      UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
      Float.self, Double.self, Bool.self, String.self, MessageSelector.self,
    ]
    var standard: [String: any (Codable & Sendable).Type] = .init()
    for type in types { standard["\(type)"] = type }
    #if !(os(macOS) && arch(x86_64))
      standard["Float16"] = Float16.self
    #endif
    return standard
  }()

  /// How deep arrays, dictionaries and optionals may nest in a decoded name.
  static let maximumDepth = 16

  package static func name(of type: any Any.Type) -> String { (type as? any NamedByParts.Type)?.codedName ?? "\(type)" }

  package enum Refusal: String, Error, CustomStringConvertible {
    case unknown = "unknown type"
    case tooMany = "decoded types exceed KnownTypes.readTypeLimit:"

    package var description: String { rawValue }
  }

  package static func type(named name: String, _ others: [String: any (Codable & Sendable).Type]) throws(Refusal)
    -> any Codable.Type
  {
    guard name.utf8.count <= MessageSelector.maximumLength else { throw .unknown }
    return try read(name[...], others, maximumDepth)
  }

  private static func read(
    _ name: Substring, _ others: [String: any (Codable & Sendable).Type], _ depth: Int
  ) throws(Refusal) -> any Codable.Type {
    if let named = named(name, others) { return named }
    guard depth > 0 else { throw .unknown }
    if name.hasSuffix("?") {
      let wrapped = try read(name.dropLast(), others, depth - 1)
      let isFlat = named(name.dropLast(), others) != nil
      return try ReadTypes.make(.optional(of: ObjectIdentifier(wrapped)), isFlat) { optional(of: wrapped) }
    }
    guard name.hasPrefix("["), name.hasSuffix("]") else { throw .unknown }
    let inside = name.dropFirst().dropLast()
    if let colon = topLevelColon(in: inside) {
      let valueName = inside[colon...].dropFirst().drop { $0 == " " }
      let value = try read(valueName, others, depth - 1)
      guard let key = try read(inside[..<colon], others, depth - 1) as? any (Hashable & Codable).Type else {
        throw .unknown
      }
      let isFlat = standard[String(inside[..<colon])] != nil && named(valueName, others) != nil
      return try ReadTypes.make(.dictionary(of: ObjectIdentifier(key), ObjectIdentifier(value)), isFlat) {
        dictionary(of: key, value)
      }
    }
    let element = try read(inside, others, depth - 1)
    return try ReadTypes.make(.array(of: ObjectIdentifier(element)), named(inside, others) != nil) {
      array(of: element)
    }
  }

  private static func named(
    _ name: Substring, _ others: [String: any (Codable & Sendable).Type]
  ) -> (any Codable.Type)? { standard[String(name)] ?? others[String(name)] }

  private static func topLevelColon(in name: Substring) -> Substring.Index? {
    var depth = 0
    for index in name.indices {
      switch name[index] {
      case "[": depth += 1
      case "]": depth -= 1
      case ":" where depth == 0: return index
      default: break
      }
    }
    return nil
  }

  private static func array<T: Codable>(of type: T.Type) -> any Codable.Type { [T].self }
  private static func optional<T: Codable>(of type: T.Type) -> any Codable.Type { T?.self }
  private static func dictionary<K: Hashable & Codable, V: Codable>(of key: K.Type, _ value: V.Type)
    -> any Codable.Type
  {
    [K: V].self
  }
}

/// The types instantiated by name. The runtime never frees types, so their number is limited.
/// *Flat* types, of one level, are few and do not count, so they stay decodable at the limit.
private enum ReadTypes {
  enum Composition: Hashable {
    case array(of: ObjectIdentifier)
    case optional(of: ObjectIdentifier)
    case dictionary(of: ObjectIdentifier, ObjectIdentifier)
  }

  private static let made = Guarded<Set<Composition>>(.init())

  static func make(
    _ composition: Composition, _ isFlat: Bool, _ make: () -> any Codable.Type
  ) throws(CodedType.Refusal) -> any Codable.Type {
    if isFlat { return make() }
    let isWithinBound = made.withLock { made in
      if made.contains(composition) { return true }
      guard made.count < KnownTypes.readTypeLimit else { return false }
      made.insert(composition)
      return true
    }
    guard isWithinBound else { throw .tooMany }
    return make()
  }
}

/// A type whose name contains the names of its type parameters.
private protocol NamedByParts {
  static var codedName: String { get }
}

extension Array: NamedByParts {
  fileprivate static var codedName: String { "[\(CodedType.name(of: Element.self))]" }
}

extension Dictionary: NamedByParts {
  fileprivate static var codedName: String { "[\(CodedType.name(of: Key.self)): \(CodedType.name(of: Value.self))]" }
}

extension Optional: NamedByParts {
  fileprivate static var codedName: String { "\(CodedType.name(of: Wrapped.self))?" }
}
