// MulticastFacade.swift: a class that is a protocol and stands for many.

/// A class that holds a multicast proxy and conforms to its interface, as
/// ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)`` writes it.
///
/// It offers all that the proxy offers. A requirement of the interface that has the name of such a member is the
/// ordinary member and wins; the proxy's own is then reached through ``MulticastHolding/multicast``.
public protocol MulticastFacade<Interface>: MessageForwarding, MulticastHolding {
  /// The actor that the class is on, where its protocols do not say so.
  nonisolated static var actorOfClass: (any Actor)? { get }
}

extension MulticastFacade {
  /// None that is not the protocol's.
  public nonisolated static var actorOfClass: (any Actor)? { nil }

  /// No methods of its own: every message is forwarded.
  public static var selectorTable: SelectorTable { noMethods }

  /// Who gets a message that begins now, for as long as it takes.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }

  /// No single receiver stands behind it.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// The proxy's error for a message that nobody gets.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error { multicast.doesNotRecognize(selector) }

  /// Whether a live, unmuted target would get `selector`.
  public func responds(to selector: MessageSelector) -> Bool { multicast.responds(to: selector) }

  /// The types of the first target that would get `selector`: see ``MulticastProxy/methodSignature(for:)``.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    multicast.methodSignature(for: selector)
  }

  /// The proxy and its targets as a table, for a protocol that refines `CustomStringConvertible`: see
  /// ``MulticastProxy/description``.
  public var description: String { multicast.description }

  /// Messages written like calls, without a key, to every target: see ``DynamicMessages``.
  public var dynamic: DynamicMessages { multicast.dynamic }

  /// Forwards a message as a value and says what became of it: see ``MulticastProxy/forward(_:)``.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport { try multicast.forward(&invocation) }

  /// Forwards a message as a value, waits for all, and says what became of it: see
  /// ``MulticastProxy/forwardAndWait(_:)``.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await multicast.forwardAndWait(invocation)
  }
}

extension MulticastFacade where Interface: Sendable {
  /// Registers a closure that runs where it was written as a target for one message.
  ///
  /// A closure that is written on the main actor, such as `{ [weak self] in self?.label = $0 }` in a view, runs there:
  /// in the sender's turn when the sender is there too, else queued. So does a closure of any other actor. One without an
  /// isolation is run in the sender's turn.
  /// - Parameters:
  ///   - message: the key; it is the one message that the closure gets.
  ///   - priority: higher comes first; equal ones in the order in which they are added.
  ///   - body: gets the message's arguments, and is held until the registration is cancelled.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let actor = body.isolation
    let body = UncheckedBody(IsolatedBody(call: body))
    switch actor {
    case nil: return multicast.on(message, priority: priority, body.call)
    case let actor? where actor === MainActor.shared:
      return multicast.on(message, delivery: .automatic(), priority: priority, body.call)
    case let actor?: return multicast.on(message, delivery: .actor(actor), priority: priority, body.call)
    }
  }
}
