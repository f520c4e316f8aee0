// ExtensionPoint.swift: who has registered for the messages of one protocol.

import Forwardcast
import Synchronization

/// The place where observers register for the messages of one protocol, or are made when the first one comes.
///
///     let messages = ExtensionPoint<any MessageExtension>(
///       selectors: ["onAddMsg:msgData:", "onDeleteMsg:"])
///     messages.register(window)                                  // weak, in order
///     // made by the first message that it implements:
///     messages.registerLazily(ArchiveService.self) { $0 }
///     messages.broadcast(.onAddMsg, "alice", [1, 2])             // typed key
///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }        // typed call
///
/// It is a `MulticastProxy`, ``observers``, and what makes it an extension point: it refuses who does not conform or is
/// there already, and makes lazy observers. So a message is delivered, removed observers are passed over and results and
/// errors are treated as there.
///
/// **Which selectors a point has** is stated: Swift cannot list the requirements of a protocol. A list of selectors, or a
/// table for the protocol, limits the point to those; a point without either takes every message that its observers'
/// own tables have. For a protocol that inherits from another, the list holds the selectors of both, and a table is made
/// `inheriting:` the other's.
///
/// The point is `Sendable` exactly when its interface is. It may then be used from any thread.
public final class ExtensionPoint<Interface>: ForwardingProxy, ForwardingToMany, CustomStringConvertible {
  /// The observers that exist. What is sent through this proxy makes no lazy observer.
  public let observers: MulticastProxy<Interface>

  let lazy: LazyMarks
  private let stated: Set<MessageSelector>?

  /// A point.
  ///
  /// - Parameters:
  ///   - selectors: the messages of the point; `nil` for those of `table`, or, without one, for whatever observers have.
  ///   - table: methods for every observer, whose own tables come first. With it an observer needs no table.
  ///   - services: where lazy observers are made and live; kept alive by the point.
  ///   - options: how duplicates, silence and errors are treated.
  public convenience init(
    selectors: [MessageSelector]? = nil, table: SelectorTable? = nil, services: ServiceCenter = .shared,
    options: MulticastOptions = MulticastOptions()
  ) {
    self.init(selectors: selectors, table: table, options: options) { services }
  }

  init(
    selectors: [MessageSelector]?, table: SelectorTable?, options: MulticastOptions,
    services: @escaping @Sendable () -> ServiceCenter?
  ) {
    observers = MulticastProxy(table: table, options: options)
    stated = (selectors ?? table?.selectors).map(Set.init)
    lazy = LazyMarks(observers.core, scope: stated, services: services)
    super.init()
  }

  /// Around all observers, lazy ones too.
  public override var hookPlace: HookPlace { observers.hookPlace }

  /// The messages of the point, sorted by name, or `nil` when they are not stated.
  public var selectors: [MessageSelector]? { stated?.sorted { $0.name < $1.name } }

  // MARK: Registering

  /// Registers an observer, weakly, from the next message on. Higher priorities come first, equal ones in the order of
  /// registration.
  ///
  /// - Returns: the registration, with which the observer can be muted; `nil`, and nothing happens, when the observer is
  ///   registered already, is no object, or has none of the point's messages.
  @discardableResult
  public func register(_ observer: Interface, priority: Int = 0) -> Registration? {
    enter(observer, priority, (.direct, .unbounded, .dropPending))
  }

  func enter(
    _ observer: Interface, _ priority: Int, _ delivery: (Delivery, DeliveryBuffer, PendingDeliveries)
  ) -> Registration? {
    guard isObject(observer) else { return nil }
    let object = observer as AnyObject
    guard conforms(object) else { return nil }
    // A lazy observer that registers itself while it is made has the place that its class was given.
    if let registration = lazy.takePlace(object) { return registration }
    return observers.core.addUnlessThere(object, priority: priority, scope: stated, delivery: delivery)
  }

  /// Registers an object of which the compiler does not know whether it conforms.
  /// - Returns: as ``register(_:priority:)``; `nil` also when the object is not an `Interface`.
  @discardableResult
  public func register(ifConforming object: AnyObject?, priority: Int = 0) -> Registration? {
    guard let object, let observer = object as? Interface else { return nil }
    return register(observer, priority: priority)
  }

  /// Unregisters an observer: it gets nothing further, not even later in a message that is on its way.
  ///
  /// An observer may call this in its own `deinit`. It may register again afterwards, at the end of the order.
  ///
  /// - Returns: whether it was registered.
  @discardableResult
  public func unregister(_ observer: Interface) -> Bool { observers.remove(observer) > 0 }

  private func conforms(_ object: AnyObject) -> Bool {
    guard let stated else { return true }
    return stated.contains { observers.core.wouldReach(object, $0) }
  }

  // MARK: Asking

  /// The observers that exist and that a message of `selector` goes to, in order, muted ones included.
  public func observers(of selector: MessageSelector) -> [Interface] {
    observers.core.responding(to: selector).compactMap { $0.target as? Interface }
  }

  /// The names of the lazy observers that do not exist yet, in the order of registration.
  public var lazyObservers: [String] { lazy.vacant.map(\.mark.receiverName) }

  /// Whether somebody would get `selector`: an observer that exists or one that would be made. Makes none.
  public override func responds(to selector: MessageSelector) -> Bool {
    observers.responds(to: selector) || !lazy.marks(for: selector).isEmpty
  }

  /// The types of the first observer that would get `selector`; `nil` for a message that is not the point's.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let stated, !stated.contains(selector) { return nil }
    if observers.count(for: selector) == 0, let placed = lazy.marks(for: selector).first {
      return placed.mark.signature(selector)
    }
    return observers.methodSignature(for: selector)
  }

  /// Messages written like calls, without a key, to every target: see `DynamicMessages`.
  public var dynamic: DynamicMessages { (self as any MulticastSending).dynamic }

  /// No single receiver stands behind a point.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every observer that responds, lazy ones included, and says what became of it at each.
  ///
  /// - Throws: as `MulticastProxy.forward(_:)`, and `unrecognizedSelector` for a message that is not the point's.
  ///   Observers that could not be made are among the report's failures.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    if let stated, !stated.contains(invocation.selector) { throw doesNotRecognize(invocation.selector) }
    return try forwardBoxed(&invocation, along: visit(invocation.selector), by: self)
  }

  /// Forwards a message as ``forward(_:)`` does, and waits for all.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    if let stated, !stated.contains(invocation.selector) { throw doesNotRecognize(invocation.selector) }
    return try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self)
  }

  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    observers.tell(failures, of: selector)
  }

  /// The stated messages, each with who gets it in order; an observer that does not exist yet is called lazy.
  public var description: String {
    let places = observers.core.registrations
    let vacant = lazy.vacant.map { ($0.mark, observers.core.registration(in: $0.place)) }
    let selectors = selectors ?? []
    let lines = selectors.map { selector -> String in
      let existing = Set(observers.core.responding(to: selector))
      let names = places.compactMap { place -> String? in
        if let target = place.target { return existing.contains(place) ? typeName(of: target) : nil }
        guard let mark = vacant.first(where: { $0.1 === place })?.0 else { return nil }
        return mark.signature(selector) == nil ? nil : "\(mark.receiverName) (lazy)"
      }
      return "\n- \(selector): \(names.isEmpty ? "nobody" : names.joined(separator: ", "))"
    }
    return "extension point of \(Interface.self), \(observers.count) observers, \(lazyObservers.count) lazy"
      + lines.joined()
  }
}

// The proxy's lock and that of the marks guard all state, and an interface that is Sendable has Sendable observers only.
extension ExtensionPoint: @unchecked Sendable where Interface: Sendable {}

extension ExtensionPoint: MulticastSending {
  /// The observers that exist and that a message of `selector` would go to. Makes none.
  public func route(for selector: MessageSelector) -> MessageRoute {
    let route = observers.route(for: selector)
    guard let placed = lazy.marks(for: selector).first else { return route }
    return route.makingObservers(placed.mark.signature(selector))
  }

  /// Who gets a message that begins now, after making the lazy observers that implement it. Who could not be made counts
  /// as a target that failed, behind all others.
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute {
    let failures = lazy.wake(selector)
    let route = observers.beginMessage(selector)
    return failures.isEmpty ? route : route.failing(failures.map { ($0.mark, $0.error) })
  }

  /// Makes an ordinary call to every observer, in the sender's turn and in order.
  ///
  ///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }
  ///
  /// Whoever conforms to a Swift protocol implements all of it, so the call goes to all observers, and makes all lazy
  /// ones. Given the selector that the call stands for, it goes to those whose tables have it, and makes only such.
  /// Otherwise as `MulticastProxy.broadcast(for:_:)`.
  ///
  /// - Parameters:
  ///   - selector: the message that the call stands for; `nil` calls all.
  ///   - call: the call. What it throws counts as the observer's error.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    let failures = lazy.wake(selector)
    var summary = observers.broadcast(for: selector, call)
    for failure in failures {
      observers.core.report(failure.error, selector ?? "typedCall", nil, receiver: failure.mark.receiverName)
    }
    summary.failed += failures.count
    return summary
  }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers an observer whose messages run where and when `delivery` says.
  /// - Returns: as ``register(_:priority:)``; an observer has one place in a point, whatever its delivery.
  @discardableResult
  public func register(
    _ observer: Interface, delivery: Delivery, priority: Int = 0, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration? {
    enter(observer, priority, (delivery, buffer, pending))
  }
}
