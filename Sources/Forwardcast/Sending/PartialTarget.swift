// PartialTarget.swift: targets that leave out requirements or messages.

#if canImport(ObjectiveC)
  public import ObjectiveC
#endif

/// A target that does not answer every requirement of the protocol under which it is added.
///
/// Swift has optional requirements only for Objective-C. Elsewhere an extension gives the requirement a default body, and the
/// target lists it as left out: it gets no such message, and a proxy without another target does not respond.
///
///     extension ListDelegate { func height(ofRow row: Int) -> Double { 0 } }
///     final class Plain: ListDelegate, PartialTarget {
///       static let leftOut = [ListDelegateProxy.Messages.height.selector]
///     }
///     list.add(plain)
///     list.responds(to: "heightOfRow:")        // false
public protocol PartialTarget: AnyObject, SendableMetatype {
  /// The selectors that objects of the class leave out. Read once for each class, when a route is made.
  nonisolated static var leftOut: [MessageSelector] { get }
}

extension Method {
  /// The method, unless `target` leaves it out.
  final func unlessLeftOut(by target: AnyObject) -> Method? {
    if let partial = target as? any PartialTarget, type(of: partial).leftOut.contains(selector) { return nil }
    return isPresent?(target) ?? true ? self : nil
  }
}

extension Responds {
  /// The row, for targets for which `isPresent`, as their class tells.
  public func present(where isPresent: @escaping @Sendable (AnyObject) -> Bool) -> Self {
    method.isPresent = isPresent
    return self
  }
}

#if canImport(ObjectiveC)
  /// Whether an object has an Objective-C method; for written rows of optional requirements.
  public func implements(_ object: AnyObject, _ selector: Selector) -> Bool {
    if let object = object as? any NSObjectProtocol { return object.responds(to: selector) }
    return class_respondsToSelector(object_getClass(object), selector)
  }
#endif

/// Thrown by ``MessageForwarding/forward(_:)`` of a target that had to see a message to know that it does not answer it. A
/// multicast counts the target as one that does not respond.
package struct MessageNotTaken: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "does not respond" }
}

/// A target that does not take some messages, and advises its user on that.
package protocol NotTakenAdvising: AnyObject {
  /// Text for the error of a message that had to be answered; may be empty.
  func advice(for selector: MessageSelector) -> String
}
