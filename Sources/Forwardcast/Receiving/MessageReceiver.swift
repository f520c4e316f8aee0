// MessageReceiver.swift: objects that answer from a table, and objects that forward.

/// An object that answers messages from a selector table: most need only a `static let` table. A subclass overrides a `class var`
/// of its superclass with a table that inherits the superclass's.
///
/// Swift does not let a subclass override a requirement that its superclass left to the default. Such a base class declares the
/// member itself, for example `class func resolveMethod(for:)`; where it cannot be changed, the subclass adopts
/// ``MethodResolving`` or ``ObjectTableOwning``.
public protocol MessageReceiver: AnyObject {
  /// The table of the class; the same one each time, since it is read whenever a route is made.
  static var selectorTable: SelectorTable { get }

  /// The table of this one object, searched before its class's; by default `nil`.
  ///
  /// Change the table, not the property: changes of a table are noticed everywhere, a different table is not.
  var objectTable: SelectorTable? { get }

  /// Last chance of a class to add a method to its table, called once for each class and selector when neither object nor class has
  /// one. Returns whether it added one; if it says so and did not, messages of the selector throw ``MessageError``
  /// `resolverAddedNothing`. The default adds nothing.
  ///
  /// It runs on the first sender's thread; other senders of the selector wait for it. A thread that would thereby wait for itself,
  /// across any number of hooks and services under construction, throws ``MessageError`` `wouldDeadlock` naming them all.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

extension MessageReceiver {
  /// `nil`: the class's table alone.
  public var objectTable: SelectorTable? { nil }
  /// Adds nothing.
  public static func resolveMethod(for selector: MessageSelector) -> Bool {
    selectorTable.storage.resolvesNothing.note(ObjectIdentifier(self))
    return false
  }
}

/// A class with its own resolver hook below a receiver class that left ``MessageReceiver/resolveMethod(for:)`` to the default.
///
///     class Document: MessageReceiver { class var selectorTable: SelectorTable { … } }
///     final class Letter: Document, MethodResolving {
///       static func resolveMethod(for selector: MessageSelector) -> Bool { … }
///     }
///
/// It is asked in place of that of ``MessageReceiver``.
public protocol MethodResolving: AnyObject {
  /// As ``MessageReceiver/resolveMethod(for:)``.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

/// A class with object tables below a receiver class that left ``MessageReceiver/objectTable`` to the default. Asked when the
/// default gave `nil`.
public protocol ObjectTableOwning: AnyObject {
  /// As ``MessageReceiver/objectTable``.
  var objectTable: SelectorTable? { get }
}

/// A receiver whose answers can change: a proxy, or an object with forwarding hooks.
///
/// Nothing it says is cached. Every message asks again, in the order table, resolver, forwarding target, signature and
/// forwarding, not recognized.
public protocol MessageForwarding: MessageReceiver {
  /// Whether a message of `selector` would be answered, by a table or by forwarding.
  ///
  /// The default follows the steps of a send: a table's method, else the forwarding target's answer, else whether
  /// ``methodSignature(for:)`` gives types.
  func responds(to selector: MessageSelector) -> Bool

  /// The types of a message that the object would forward; `nil` when it does not forward it.
  func methodSignature(for selector: MessageSelector) -> MethodSignature?

  /// Another receiver for the message, asked before an invocation is made; `nil` or the object itself for none.
  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)?

  /// Handles a message that no table answers, and leaves the answer in `invocation.result`.
  ///
  /// Called only after ``methodSignature(for:)`` gave a signature, which is `invocation.signature`. The arguments have been
  /// converted to it; the answer is converted to its return type or refused.
  @discardableResult
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport

  /// As ``forward(_:)`` for a sender that waits: it may suspend. By default it calls ``forward(_:)``.
  ///
  /// An object that sends the message on overrides this with a waiting send, so that suspending methods and queued targets are
  /// waited for.
  ///
  /// - Returns: what became of the message, with its answer in ``DeliveryReport/result``.
  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport

  /// The error for a message that nothing answers; by default `unrecognizedSelector`.
  func doesNotRecognize(_ selector: MessageSelector) -> any Error
}

extension MessageForwarding {
  /// Follows the steps of a send.
  public func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }
  /// The types of a method in the object's tables; nothing else is forwarded.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    (try? tableMethod(of: self, for: selector))?.signature
  }
  /// None.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }
  /// Throws what ``MessageForwarding/doesNotRecognize(_:)`` gives.
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

  /// The report of ``forward(_:)``; the invocation's result becomes an answer if the hook reported none.
  package func forwardInTurn(_ invocation: Invocation) throws -> DeliveryReport {
    var invocation = invocation
    var report = try forward(&invocation)
    if report.answers.isEmpty, report.failures.isEmpty, let result = invocation.result {
      report.answers.append(.init(target: self, result: result))
    }
    return report
  }

  func defaultResponds(to selector: MessageSelector) -> Bool {
    // The steps of a send, so that both agree. A hook may ask this very question; then nobody has answered yet.
    ProxyQuestion.ask(self, selector, otherwise: false) {
      switch try? follow(selector, from: self, past: self).resolution {
      case .method: true
      case .forward(let hooks, _): hooks === self || hooks.responds(to: selector)
      case nil: false
      }
    }
  }
}

/// A receiver whose forwarding must suspend, since what it stands for is in another process.
///
/// On its own context it gets ``MessageForwarding/forwardAndWait(_:)``, and its next message waits for the end of that one, as with
/// a suspending method. Its ``MessageForwarding/forward(_:)`` throws.
package protocol SuspendingForwarding: MessageForwarding {}

/// A receiver whose ``MessageForwarding/methodSignature(for:)`` is that of one of several targets; each checks the arguments
/// itself.
package protocol ForwardingToMany: MessageForwarding {
  /// Reports failures that no sender gets to the handlers that get a broadcast's errors.
  func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector)
}

extension ForwardingToMany {
  /// Empty: every message is forwarded.
  package static var selectorTable: SelectorTable { noMethods }

  /// Does nothing: a receiver that stands for a single one throws its failures.
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
  /// Whether a message of `selector` would be answered; see also ``MessageForwarding/responds(to:)``.
  public func responds(to selector: MessageSelector) -> Bool { answers(self, selector) }

  /// Whether a message of the key would be answered.
  public func responds<F>(to key: Message<F>) -> Bool { answers(self, key.selector) }

  /// The types of the method that would answer `selector`; `nil` when none would.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? { signature(of: self, selector) }
}
