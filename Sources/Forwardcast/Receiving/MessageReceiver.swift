// MessageReceiver.swift: objects that answer from a table, and objects that forward.

/// An object that answers messages from a selector table. Most classes need only a `static let`
/// table. A class with subclasses has a `class var`. A subclass overrides it with a table that
/// inherits the superclass's table.
///
/// If a superclass uses the default of a member, a subclass cannot override it. Declare the member
/// in the superclass, for example `class func resolveMethod(for:)`. If you cannot change the
/// superclass, adopt ``MethodResolving`` or ``ObjectTableOwning`` in the subclass.
public protocol MessageReceiver: AnyObject {
  /// The table of the class. It is read repeatedly, so return the same table each time.
  static var selectorTable: SelectorTable { get }

  /// The table of this object, searched before the table of its class; `nil` by default. To change
  /// methods, change this table. If the property returns another table, caches do not notice.
  var objectTable: SelectorTable? { get }

  /// Adds a method to the class's table at run time. Returns true if it added one.
  ///
  /// Called once for each class and selector, if no table has a method. It runs on the first
  /// sender's thread, and other senders of the selector wait. A sender whose wait would deadlock
  /// gets `wouldDeadlock`. If the call returns true but has added no method, messages of the
  /// selector throw ``MessageError`` `resolverAddedNothing`.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

extension MessageReceiver {
  /// `nil`, so only the class's table is used.
  public var objectTable: SelectorTable? { nil }
  /// Adds nothing.
  public static func resolveMethod(for selector: MessageSelector) -> Bool {
    // A `MethodResolving` subclass may call this method, and then adds methods itself.
    if !(self is any MethodResolving.Type) { selectorTable.storage.resolvesNothing.note(ObjectIdentifier(self)) }
    return false
  }
}

/// A subclass's own resolver hook, called instead of ``MessageReceiver/resolveMethod(for:)`` if the
/// superclass uses the default one.
///
///     class Document: MessageReceiver { class var selectorTable: SelectorTable { … } }
///     final class Letter: Document, MethodResolving {
///       static func resolveMethod(for selector: MessageSelector) -> Bool { … }
///     }
public protocol MethodResolving: AnyObject {
  /// See ``MessageReceiver/resolveMethod(for:)``.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

/// A subclass's own object tables, if the superclass uses the default
/// ``MessageReceiver/objectTable``. These tables are used only if that property returns `nil`.
public protocol ObjectTableOwning: AnyObject {
  /// See ``MessageReceiver/objectTable``.
  var objectTable: SelectorTable? { get }
}

/// A receiver whose selectors can change: a proxy, or an object with forwarding hooks. The
/// selectors are not cached. Every send tries in order: tables, resolver, forwarding target,
/// ``forward(_:)`` if there is a signature, ``doesNotRecognize(_:)``.
public protocol MessageForwarding: MessageReceiver {
  /// True if a message of `selector` would be answered. By default true if a table has a method or
  /// the forwarding target responds. Without a forwarding target, true if ``methodSignature(for:)``
  /// returns types.
  func responds(to selector: MessageSelector) -> Bool

  /// The types of a message that the object would forward; `nil` if it would not.
  func methodSignature(for selector: MessageSelector) -> MethodSignature?

  /// Another receiver, tried before `forward`. `nil` or the object itself means none.
  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)?

  /// Handles a message that no table answers, and sets `invocation.result`. Called only if
  /// ``methodSignature(for:)`` returned a signature, which is `invocation.signature`. The arguments
  /// have been converted to its types, and the result must fit its return type.
  @discardableResult
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport

  /// Handles the message for a waiting sender; by default calls ``forward(_:)``. If the object
  /// sends the message on, override this with a waiting send. Otherwise asynchronous methods and
  /// queued targets are not awaited. A target with a ``Delivery`` other than ``Delivery/direct``
  /// gets ``forward(_:)`` instead.
  ///
  /// - Returns: the outcome of the message, with its answer in ``DeliveryReport/result``.
  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport

  /// The error for a message that nothing answers; by default `unrecognizedSelector`.
  func doesNotRecognize(_ selector: MessageSelector) -> any Error
}

extension MessageForwarding {
  /// Follows the steps of a send, without sending the message.
  public func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }
  /// The types of a method in the object's tables; `nil` if there is none.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    (try? tableMethod(of: self, for: selector))?.signature
  }
  /// `nil`.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }
  /// Throws the error of ``MessageForwarding/doesNotRecognize(_:)``.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    throw doesNotRecognize(invocation.selector)
  }
  /// Calls ``MessageForwarding/forward(_:)``.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try forwardInTurn(invocation)
  }
  /// `unrecognizedSelector`.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.unrecognized(selector, by: self)
  }

  /// The report of ``forward(_:)``. If it lists no answers and no failures, adds the invocation's
  /// result.
  package func forwardInTurn(_ invocation: Invocation) throws -> DeliveryReport {
    var invocation = invocation
    var report = try forward(&invocation)
    if report.answers.isEmpty, report.failures.isEmpty, let result = invocation.result {
      report.answers.append(.init(target: self, result: result))
    }
    return report
  }

  func defaultResponds(to selector: MessageSelector) -> Bool {
    // Follows the steps of a send, so the query and a send agree. A hook that makes the same query
    // gets false.
    ProxyQuestion.ask(self, selector, otherwise: false) {
      switch try? follow(selector, from: self, past: self).resolution {
      case .method: true
      case .forward(let hooks, _): hooks === self || hooks.responds(to: selector)
      case nil: false
      }
    }
  }
}

/// A receiver that must suspend to forward, since its object is in another process. Deliveries on
/// its own context await ``MessageForwarding/forwardAndWait(_:)`` before the next message.
package protocol SuspendingForwarding: MessageForwarding {}

/// A receiver whose ``MessageForwarding/methodSignature(for:)`` returns the signature of one of its
/// targets. Each target checks the arguments itself.
package protocol ForwardingToMany: MessageForwarding {
  /// Reports failures to the error handlers, like a broadcast, since no sender receives them.
  func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector)
}

extension ForwardingToMany {
  /// Empty, so that every message is forwarded.
  package static var selectorTable: SelectorTable { noMethods }

  /// Does nothing, since a receiver with a single target throws that target's failure.
  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {}
}

let noMethods = SelectorTable(for: (any MessageForwarding).self, rows: [])

@inline(never) package func answers(_ receiver: AnyObject, _ selector: MessageSelector) -> Bool {
  if let forwarding = receiver as? any MessageForwarding { return forwarding.responds(to: selector) }
  guard let receiver = receiver as? any MessageReceiver else { return false }
  return (try? tableMethod(of: receiver, for: selector)) != nil
}

package func signature(of receiver: AnyObject, _ selector: MessageSelector) -> MethodSignature? {
  guard let receiver = receiver as? any MessageReceiver else { return nil }
  if let method = try? tableMethod(of: receiver, for: selector) { return method.signature }
  return (receiver as? any MessageForwarding)?.methodSignature(for: selector)
}

extension MessageReceiver {
  /// True if a message of `selector` would be answered, see ``MessageForwarding/responds(to:)``.
  public func responds(to selector: MessageSelector) -> Bool { answers(self, selector) }

  /// True if a message of the key would be answered.
  public func responds<F>(to key: Message<F>) -> Bool { answers(self, key.selector) }

  /// The types of the method that would answer `selector`; `nil` if there is none.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? { signature(of: self, selector) }
}
