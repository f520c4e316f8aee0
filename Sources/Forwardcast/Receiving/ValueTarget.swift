// ValueTarget.swift: a value that stands among objects as a target.

/// A value as target: the object that stands for it where objects are expected.
///
/// Swift's own conversion of values to objects is not used: with Foundation linked it makes numbers, strings and
/// collections into objects of other types, which no longer conform to the protocol of a table.
@usableFromInline
package final class ValueTarget: @unchecked Sendable {  // immutable; a proxy that is Sendable has Sendable values only
  @usableFromInline package let value: Any

  package init(_ value: Any) { self.value = value }
}

extension ValueTarget: NamedReceiver {
  @usableFromInline package var receiverName: String { "\(type(of: value))" }
}

/// Whether an object stands for a value, whose type its class does not tell: a ``ValueTarget``, or an object that Swift itself
/// has made of a value.
func standsForValue(_ object: AnyObject) -> Bool {
  object is ValueTarget || ObjectIdentifier(type(of: object)) == boxClass
}

private struct AnyValue {}
private let boxClass = ObjectIdentifier(type(of: AnyValue() as AnyObject))

/// The object that stands for a target: the target itself where it is one, else a ``ValueTarget``.
package func targetObject<T>(for target: T) -> AnyObject {
  if let object = boundObject(target) { return object.takeUnretainedValue() }
  return isObject(target) ? target as AnyObject : ValueTarget(target)
}

/// Whether `target` is an instance of a class, which has an identity that others can know.
package func isObject<T>(_ target: T) -> Bool {
  isBoundToClass(T.self) || type(of: target as Any) is AnyObject.Type
}

/// `target` itself where its type says that it is an instance of a class, as long as the caller keeps it.
///
/// The first word of a value of such a type is the address of the object. So no cast is needed, which would cost some
/// hundred instructions and count the object several times.
func boundObject<T>(_ target: T) -> Unmanaged<AnyObject>? {
  guard isBoundToClass(T.self) else { return nil }
  return withUnsafeBytes(of: target) { $0.load(as: Unmanaged<AnyObject>.self) }
}

/// Whether each value of a type is an object: the type is a class, or the existential of a protocol for classes only.
///
/// `false` where that is not known. What the first words of metadata mean belongs to the binary interface that every Swift
/// program shares: a kind, which for classes is an address or 0, and behind that of an existential its flags.
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
