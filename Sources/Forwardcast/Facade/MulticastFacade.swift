// MulticastFacade.swift: a class that conforms to a protocol and forwards to many.

/// A class that holds a multicast proxy and conforms to the proxy's interface. The attribute
/// ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)`` generates such classes. The class has
/// the proxy's members. If a requirement has the same name as a member of the proxy, call the
/// proxy's member on ``MulticastHolding/multicast``.
public protocol MulticastFacade<Interface>: MessageForwarding, MulticastHolding, CustomDebugStringConvertible {
  /// The class's actor, or `nil` if the protocols of the class state the actor.
  nonisolated static var actorOfClass: (any Actor)? { get }
}

extension MulticastFacade {
  /// `nil`, for a class whose protocol states the actor.
  public nonisolated static var actorOfClass: (any Actor)? { nil }

  /// Empty, so that every message is forwarded.
  public static var selectorTable: SelectorTable { noMethods }

  /// The receivers of a message that is about to be sent.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }

  /// `nil`, since a multicast has no single receiver.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// The proxy's error for an unanswered message.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error { multicast.doesNotRecognize(selector) }

  /// True if a live, unmuted target responds to `selector`.
  public func responds(to selector: MessageSelector) -> Bool { multicast.responds(to: selector) }

  /// The signature of the first target that responds, see ``MulticastProxy/methodSignature(for:)``.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    multicast.methodSignature(for: selector)
  }

  /// See ``MulticastProxy/description``; for a protocol that refines `CustomStringConvertible`.
  public var description: String { multicast.description }

  /// The name of the class. `print` uses it if the protocol does not refine
  /// `CustomStringConvertible`.
  public nonisolated var debugDescription: String { typeName(of: self) }

  /// Sends messages to all targets by call syntax, see ``DynamicMessages``.
  public var dynamic: DynamicMessages { multicast.dynamic }

  /// See ``MulticastProxy/forward(_:)``.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport { try multicast.forward(&invocation) }

  /// See ``MulticastProxy/forwardAndWait(_:)``.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await multicast.forwardAndWait(invocation)
  }
}

extension MulticastFacade where Self: Equatable {
  /// True if both are the same proxy. Needed if the protocol refines `Equatable`.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
}

extension MulticastFacade where Self: Hashable {
  /// Hashes the proxy's identity, for a protocol that refines `Hashable`.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
