// MulticastFacade.swift: a class that conforms to a protocol and stands for many.

/// A class that holds a multicast proxy and conforms to its interface, as written by
/// ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)``. It has the proxy's members; a requirement with the name of one of them
/// hides it, and ``MulticastHolding/multicast`` still has it.
public protocol MulticastFacade<Interface>: MessageForwarding, MulticastHolding {
  /// The actor of the class, where its protocols do not state it.
  nonisolated static var actorOfClass: (any Actor)? { get }
}

extension MulticastFacade {
  /// None beyond the protocol's.
  public nonisolated static var actorOfClass: (any Actor)? { nil }

  /// Empty: every message is forwarded.
  public static var selectorTable: SelectorTable { noMethods }

  /// Who gets a message that begins now.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }

  /// None: no single receiver stands behind it.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// The proxy's error for a message that nobody gets.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error { multicast.doesNotRecognize(selector) }

  /// Whether a live, unmuted target would get `selector`.
  public func responds(to selector: MessageSelector) -> Bool { multicast.responds(to: selector) }

  /// The types of the first target that would get `selector`: see ``MulticastProxy/methodSignature(for:)``.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    multicast.methodSignature(for: selector)
  }

  /// See ``MulticastProxy/description``; for a protocol that refines `CustomStringConvertible`.
  public var description: String { multicast.description }

  /// The same text; for a protocol that refines `CustomDebugStringConvertible`.
  public var debugDescription: String { description }

  /// Messages to all targets, written like calls: see ``DynamicMessages``.
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
  /// Whether both are the same proxy; for a protocol that refines `Equatable`.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
}

extension MulticastFacade where Self: Hashable {
  /// Hashes the proxy's identity; for a protocol that refines `Hashable`.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
