// ValueTarget.swift: values as targets.

/// Wraps a value target in an object. Swift's bridging is not used: with Foundation linked, it
/// would turn numbers, strings and collections into objects of other types, which do not conform to
/// a table's protocol.
@usableFromInline
package final class ValueTarget: @unchecked Sendable {  // immutable; a Sendable proxy has Sendable values only
  @usableFromInline package let value: Any

  package init(_ value: Any) { self.value = value }
}

extension ValueTarget: NamedReceiver {
  @usableFromInline package var receiverName: String { "\(type(of: value))" }
}

/// True if an object wraps a value, so its class does not show the value's type.
func standsForValue(_ object: AnyObject) -> Bool {
  object is ValueTarget || ObjectIdentifier(type(of: object)) == boxClass
}

private struct AnyValue {}
private let boxClass = ObjectIdentifier(type(of: AnyValue() as AnyObject))

/// `target` itself if it is an object, otherwise a ``ValueTarget``.
package func targetObject<T>(for target: T) -> AnyObject {
  if let object = boundObject(target) { return object.takeUnretainedValue() }
  return isObject(target) ? target as AnyObject : ValueTarget(target)
}

/// True if `target` is an instance of a class, so it has an identity.
package func isObject<T>(_ target: T) -> Bool {
  isBoundToClass(T.self) || type(of: target as Any) is AnyObject.Type
}

/// `target` if its static type is a class or class-bound protocol; valid while the caller retains
/// it. Reads the address from the first word, since a cast would be much slower.
func boundObject<T>(_ target: T) -> Unmanaged<AnyObject>? {
  guard isBoundToClass(T.self) else { return nil }
  return withUnsafeBytes(of: target) { $0.load(as: Unmanaged<AnyObject>.self) }
}

/// True if values of a type are known to be objects: a class, or the existential of a class-bound
/// protocol. In Swift's stable ABI, the first word of metadata is a kind; for classes the word is
/// an address or 0. In an existential's metadata, flags follow the kind.
private func isBoundToClass<T>(_ type: T.Type) -> Bool {
  let metadata = unsafeBitCast(T.self as Any.Type, to: UnsafeRawPointer.self)
  let kind = metadata.load(as: UInt.self)
  if kind == existentialKind {
    return metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) & notBoundToClass == 0
  }
  return kind == 0 || kind > lastKind
}

private let existentialKind: UInt = 0x303
private let lastKind: UInt = 0x7FF
/// The flag of existentials whose values may be of any type.
private let notBoundToClass: UInt32 = 0x8000_0000
