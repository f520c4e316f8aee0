// PartialTarget.swift: targets that leave out requirements of their protocol.

#if canImport(ObjectiveC)
  public import ObjectiveC
#endif

/// A target that does not answer every requirement of the protocol under which it is added.
///
/// Swift has optional requirements only for Objective-C. Elsewhere an extension gives the requirement a body, and the
/// target says that it has none of its own: it gets no such message, and a proxy without another target does not respond.
///
///     extension ListDelegate { func height(ofRow row: Int) -> Double { 0 } }
///     final class Plain: ListDelegate, PartialTarget {
///       static let leftOut = [ListDelegateProxy.Messages.height.selector]
///     }
///     list.add(plain)
///     list.responds(to: "heightOfRow:")        // false
///
/// It is asked once for each class, when a proxy works out who gets a message.
public protocol PartialTarget: AnyObject, SendableMetatype {
  /// The selectors of the requirements that objects of the class leave out.
  nonisolated static var leftOut: [MessageSelector] { get }
}

extension Method {
  /// The method, unless `target` is one that leaves it out.
  final func unlessLeftOut(by target: AnyObject) -> Method? {
    if let partial = target as? any PartialTarget, type(of: partial).leftOut.contains(selector) { return nil }
    return isPresent?(target) ?? true ? self : nil
  }
}

extension Responds {
  /// The row, for those targets that have the method, as far as their class tells.
  /// - Parameter isPresent: whether that target has it.
  public func present(where isPresent: @escaping @Sendable (AnyObject) -> Bool) -> Self {
    method.isPresent = Presence(isPresent)
    return self
  }
}

#if canImport(ObjectiveC)
  /// Whether an object has a method of Objective-C. Stands in the written rows of optional requirements.
  public func implements(_ object: AnyObject, _ selector: Selector) -> Bool {
    if let object = object as? any NSObjectProtocol { return object.responds(to: selector) }
    return class_respondsToSelector(object_getClass(object), selector)
  }
#endif
