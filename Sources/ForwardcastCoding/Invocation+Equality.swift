// Invocation+Equality.swift: equality of values in boxes and of messages.

public import Forwardcast

extension ArgumentBox {
  /// True if the values have one type and are equal; `nil` if that type has no equality.
  ///
  /// Values are compared by `==`, objects without `==` by identity, arrays and dictionaries by
  /// element, and optionals by value; `nil` equals `nil`. Numbers of different types differ,
  /// because a method that takes any value can distinguish them. A box is not `Equatable`, because
  /// some values cannot be compared, not even with themselves.
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
  /// True if selector, types and arguments are equal; `nil` if an argument has no equality and
  /// nothing else differs. Results are ignored.
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

package func areAllEqual(_ parts: [Bool?]) -> Bool? { parts.contains(false) ? false : parts.contains(nil) ? nil : true }

extension Equatable { fileprivate func equals(_ other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false } }
