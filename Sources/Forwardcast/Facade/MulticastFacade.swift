// MulticastFacade.swift: a class that is a protocol and stands for many.
// Layer: Facade. See DESIGN.md, "The attributes".

/// A class that holds a multicast proxy and conforms to its interface, as ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)`` writes it.
///
/// It offers all that the proxy offers. A requirement of the interface that has the name of such a member is the
/// ordinary member and wins; the proxy's own is then reached through ``multicast``.
public protocol MulticastFacade<Interface>: MessageForwarding, MulticastSending {
  /// What may be added: the existential of the protocol that the class conforms to.
  associatedtype Interface

  /// The proxy that has the targets and sends the messages.
  var multicast: MulticastProxy<Interface> { get }
}

// MARK: As a target

extension MulticastFacade {
  /// Who would get a message of `selector`: the proxy's targets, also where the object is a target of another proxy.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }

  /// Who gets a message that begins now.
  @inlinable
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute { multicast.beginMessage(selector) }

  /// No methods of its own: every message is forwarded.
  public static var selectorTable: SelectorTable { emptyFacadeTable }

  /// No single receiver stands behind it.
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// The proxy's error for a message that nobody gets.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error { multicast.doesNotRecognize(selector) }
}

private let emptyFacadeTable = SelectorTable(for: (any MessageForwarding).self, rows: [])

// MARK: Targets

extension MulticastFacade {
  /// What the proxy does about duplicates, silence and errors.
  public var options: MulticastOptions { multicast.options }

  /// Registers a target: see ``MulticastProxy/add(_:priority:ownership:only:)-(_,_,_,[MessageSelector]?)``.
  @discardableResult
  public func add(
    _ target: Interface, priority: Int = 0, ownership: Ownership = .weak, only selectors: [MessageSelector]? = nil
  ) -> Registration {
    multicast.add(target, priority: priority, ownership: ownership, only: selectors)
  }

  /// Registers a closure as a target for one message: see ``MulticastProxy/on(_:priority:_:)-8c8q1``.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, priority: Int = 0, _ body: @escaping (repeat each A) throws -> R
  ) -> Registration {
    multicast.on(message, priority: priority, body)
  }

  /// Removes every registration of a target, and gives how many there were.
  @discardableResult
  public func remove(_ target: Interface) -> Int { multicast.remove(target) }

  /// Cancels a registration of the proxy. Gives whether it is one.
  @discardableResult
  public func remove(_ registration: Registration) -> Bool { multicast.remove(registration) }

  /// Removes every target of a class, subclasses included.
  public func removeAll<T: AnyObject>(of type: T.Type) { multicast.removeAll(of: type) }

  /// Removes every target.
  public func removeAll() { multicast.removeAll() }

  /// Mutes every registration of a target.
  public func mute(_ target: Interface) { multicast.mute(target) }

  /// Lets messages through to every registration of a target again.
  public func unmute(_ target: Interface) { multicast.unmute(target) }

  /// The registrations whose targets are alive, in the order of delivery, muted ones and closures included.
  public var registrations: [Registration] { multicast.registrations }

  /// The live targets in the order of delivery, once for each registration. Closures are not among them.
  public var targets: [Interface] { multicast.targets }

  /// How many live registrations there are, muted ones and closures included.
  public var count: Int { multicast.count }

  /// How many live registrations have a target of that class or a subclass.
  public func count<T: AnyObject>(of type: T.Type) -> Int { multicast.count(of: type) }

  /// How many live, unmuted registrations would get `selector`.
  public func count(for selector: MessageSelector) -> Int { multicast.count(for: selector) }

  /// Gets every error that nobody can be thrown: see ``MulticastProxy/onError``.
  public var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { multicast.onError }
    set { multicast.onError = newValue }
  }
}

// MARK: Messages

extension MulticastFacade {
  /// Whether a live, unmuted target would get `selector`.
  public func responds(to selector: MessageSelector) -> Bool { multicast.responds(to: selector) }

  /// The types of the first target that would get `selector`: see ``MulticastProxy/methodSignature(for:)``.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    multicast.methodSignature(for: selector)
  }

  /// Makes an ordinary call to every target: see ``MulticastProxy/broadcast(for:_:)``.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    multicast.broadcast(for: selector, call)
  }

  /// Forwards a message as a value and says what became of it: see ``MulticastProxy/forward(_:)``.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport { try multicast.forward(&invocation) }

  /// Forwards a message as a value, waits for all, and says what became of it: see
  /// ``MulticastProxy/forwardAndWait(_:)``.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await multicast.forwardAndWait(invocation)
  }

  /// Messages written like calls, without a key: see ``DynamicMessages``.
  public var dynamic: DynamicMessages { multicast.dynamic }

  /// Holds the targets for a burst of messages: see ``MulticastProxy/pinned(_:)``.
  public func pinned<T>(_ body: (PinnedMulticast<Interface>) throws -> T) rethrows -> T { try multicast.pinned(body) }
}
