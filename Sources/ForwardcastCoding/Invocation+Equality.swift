// Invocation+Equality.swift: whether two messages say the same.

public import Forwardcast

extension ArgumentBox {
  /// Whether the values are of one type and equal; `nil` where the type has no equality.
  ///
  /// Values are compared by their `==`, objects without one by identity, arrays and dictionaries element by element,
  /// and nothing equals nothing. An optional is compared by what is in it. Numbers of different types are different: they arrive
  /// differently where a method takes any value.
  ///
  /// A box is not `Equatable`, since a value without an equality is neither equal to itself nor unequal.
  public func isEqual(to other: ArgumentBox) -> Bool? {
    if isNil || other.isNil { return isNil && other.isNil }
    let (left, right) = (unwrapped(value), unwrapped(other.value))
    guard Swift.type(of: left) == Swift.type(of: right) else { return false }
    if let equatable = left as? any Equatable { return equatable.equals(right) }
    if let one = left as? any Any.Type, let two = right as? any Any.Type {
      return ObjectIdentifier(one) == ObjectIdentifier(two)
    }
    if Swift.type(of: left) is AnyObject.Type { return left as AnyObject === right as AnyObject }
    if let one = left as? [Any], let two = right as? [Any] {
      return boxesAreEqual(one.map { ArgumentBox($0) }, two.map { ArgumentBox($0) })
    }
    if let one = left as? [AnyHashable: Any], let two = right as? [AnyHashable: Any] {
      let keys = Array(one.keys)
      guard one.count == two.count, keys.allSatisfy({ two[$0] != nil }) else { return false }
      func boxes(_ entries: [AnyHashable: Any]) -> [ArgumentBox] {
        keys.compactMap { entries[$0].map { ArgumentBox($0) } }
      }
      return boxesAreEqual(boxes(one), boxes(two))
    }
    return left is Void ? true : nil
  }
}

extension Invocation {
  /// Whether both messages say the same: selector, types and arguments; `nil` where an argument's type has no equality
  /// and nothing else differs. What was answered does not count.
  ///
  ///     let said = Invocation("add:to:", arguments: [.init(1), .init(2)])
  ///     // true:
  ///     said.isEqual(to: Invocation("add:to:", arguments: [.init(1), .init(2)]))
  public func isEqual(to other: Invocation) -> Bool? {
    guard selector == other.selector, signature == other.signature else { return false }
    return boxesAreEqual(arguments, other.arguments)
  }
}

private func boxesAreEqual(_ left: [ArgumentBox], _ right: [ArgumentBox]) -> Bool? {
  guard left.count == right.count else { return false }
  return areAllEqual(zip(left, right).map { $0.isEqual(to: $1) })
}

/// Whether all parts are equal: no as soon as one is not, and unknown where one is unknown.
package func areAllEqual(_ parts: [Bool?]) -> Bool? { parts.contains(false) ? false : parts.contains(nil) ? nil : true }

extension Equatable { fileprivate func equals(_ other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false } }
