// PartialTarget.swift: targets that do not implement every message.

#if canImport(ObjectiveC)
  public import ObjectiveC
#endif

/// A target that does not implement every requirement of its protocol.
///
/// Only Objective-C protocols have optional requirements. In Swift, give the requirement a default
/// body in an extension of the protocol, and list the requirement's selector in ``unimplemented``.
/// The target does not get messages of listed selectors, and a proxy without other targets does not
/// respond to these selectors.
///
///     extension ListDelegate { func height(ofRow row: Int) -> Double { 0 } }
///     final class Plain: ListDelegate, PartialTarget {
///       static let unimplemented = [ListDelegateProxy.Messages.height.selector]
///     }
///     list.add(plain)
///     list.responds(to: "heightOfRow:")  // false
public protocol PartialTarget: AnyObject, SendableMetatype {
  /// The selectors that the class does not implement. Not read for each message.
  nonisolated static var unimplemented: [MessageSelector] { get }
}

extension Method {
  final func ifImplemented(by target: AnyObject) -> Method? {
    if let partial = target as? any PartialTarget, type(of: partial).unimplemented.contains(selector) { return nil }
    return isPresent?(target) ?? true ? self : nil
  }
}

extension Responds {
  /// Returns the row, limited to targets that satisfy `isPresent`. The result of `isPresent` must
  /// be the same for all objects of a class.
  public func present(where isPresent: @escaping @Sendable (AnyObject) -> Bool) -> Self {
    let method = method.copy()
    method.isPresent = isPresent
    return Self(method: method)
  }
}

#if canImport(ObjectiveC)
  /// True if an object has an Objective-C method. For tables that are written by hand.
  public func implements(_ object: AnyObject, _ selector: Selector) -> Bool {
    if let object = object as? any NSObjectProtocol { return object.responds(to: selector) }
    return class_respondsToSelector(object_getClass(object), selector)
  }
#endif

/// Thrown by ``MessageForwarding/forward(_:)`` if the target needed the whole message to find out
/// that it does not respond. A multicast then treats it like other targets that do not respond.
package struct MessageNotTaken: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "does not respond" }
}

/// A target that rejects some messages and can explain the rejection.
package protocol NotTakenAdvising: AnyObject {
  /// The advice in the error of a message that requires an answer; may be empty.
  func advice(for selector: MessageSelector) -> String
}
