// ValueTarget.swift: a value that stands among objects as a target.
// Layer: Sending. See DESIGN.md, "Registrations".

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

/// The object that stands for a target: the target itself where it is one, else a ``ValueTarget``.
package func targetObject<T>(for target: T) -> AnyObject {
  isObject(target) ? target as AnyObject : ValueTarget(target)
}

/// Whether `target` is an instance of a class, which has an identity that others can know.
package func isObject<T>(_ target: T) -> Bool { type(of: target as Any) is AnyObject.Type }
