// ExtensionPoint.swift: the observers of one protocol.

import Forwardcast
import Synchronization

/// Observers of the messages of one protocol, which register, or are made by their first message.
///
///     let messages = ExtensionPoint<any MessageExtension>(
///       selectors: ["onAddMsg:msgData:", "onDeleteMsg:"])
///     messages.register(window)                                  // weak, in order
///     // made by the first message that it implements:
///     messages.registerLazily(ArchiveService.self) { $0 }
///     messages.broadcast(.onAddMsg, "alice", [1, 2])             // typed key
///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }        // typed call
///
/// It wraps a `MulticastProxy`, ``observers``, refuses objects that do not conform or are registered already, and makes lazy
/// observers. Delivery, removal, results and errors are those of the proxy.
///
/// **The selectors of a point** are stated, since Swift cannot list the requirements of a protocol. A list of selectors, or a table
/// for the protocol, limits the point to those; a point without either takes every message in its observers' own tables. For a
/// protocol that inherits another, list the selectors of both, or make the table `inheriting:` the other's.
///
/// The point is `Sendable`, and may be used from any thread, exactly when its interface is `Sendable`.
public final class ExtensionPoint<Interface>: ForwardingProxy, ForwardingToMany, CustomStringConvertible {
  /// The existing observers. Messages that are sent through this proxy make no lazy observers.
  public let observers: MulticastProxy<Interface>

  let lazy: LazyMarks
  private let stated: Set<MessageSelector>?

  /// Creates a point.
  ///
  /// - Parameters:
  ///   - selectors: the messages of the point; `nil` for those of `table`, or, without one, all that observers have.
  ///   - table: methods for all observers, whose own tables come first; observers then need no table.
  ///   - services: makes and keeps lazy observers; kept alive by the point.
  ///   - options: the treatment of duplicates, silence and errors.
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

  /// The place of hooks around all observers, lazy ones included.
  public override var hookPlace: HookPlace { observers.hookPlace }

  /// The stated messages of the point, sorted by name; `nil` when none are stated.
  public var selectors: [MessageSelector]? { stated?.sorted { $0.name < $1.name } }

  // MARK: Registering

  /// Registers an observer weakly, from the next message on. Higher priorities come first, equal ones in the order of registration.
  ///
  /// - Returns: the registration; `nil` when the observer is registered already, is not an object, or has none of the point's
  ///   messages.
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
    // A lazy observer that registers itself while it is made gets the place of its class.
    if let registration = lazy.takePlace(object) { return registration }
    return observers.core.addUnlessThere(object, priority: priority, scope: stated, delivery: delivery)
  }

  /// Registers an object that may conform.
  /// - Returns: as ``register(_:priority:)``; `nil` also when the object is not an `Interface`.
  @discardableResult
  public func register(ifConforming object: AnyObject?, priority: Int = 0) -> Registration? {
    guard let object, let observer = object as? Interface else { return nil }
    return register(observer, priority: priority)
  }

  /// Unregisters an observer: it gets no further message, nor one that is being delivered. May be called in the observer's
  /// `deinit`.
  ///
  /// - Returns: whether it was registered.
  @discardableResult
  public func unregister(_ observer: Interface) -> Bool { observers.remove(observer) > 0 }

  private func conforms(_ object: AnyObject) -> Bool {
    guard let stated else { return true }
    return stated.contains { observers.core.wouldReach(object, $0) }
  }

  // MARK: Asking

  /// The existing observers that a message goes to, in order, muted ones included.
  public func observers(of selector: MessageSelector) -> [Interface] {
    observers.core.responding(to: selector).compactMap { $0.target as? Interface }
  }

  /// The names of the lazy observers that do not exist, in the order of registration.
  public var lazyObservers: [String] { lazy.vacant().map(\.mark.receiverName) }

  /// Whether an observer that exists, or would be made, gets `selector`. Makes none.
  public override func responds(to selector: MessageSelector) -> Bool {
    observers.responds(to: selector) || !lazy.vacant(for: selector).isEmpty
  }

  /// The types of the first observer that would get `selector`; `nil` for a message that the point does not have.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let stated, !stated.contains(selector) { return nil }
    if observers.count(for: selector) == 0, let placed = lazy.vacant(for: selector).first {
      return placed.mark.signature(selector)
    }
    return observers.methodSignature(for: selector)
  }

  /// Messages in the syntax of calls, to every observer: see `DynamicMessages`.
  public var dynamic: DynamicMessages { (self as any MulticastSending).dynamic }

  /// Always `nil`, since a point has many targets.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every observer that responds, lazy ones included, and reports the outcomes.
  ///
  /// - Throws: as `MulticastProxy.forward(_:)`, and `unrecognizedSelector` for a message that the point does not have. Observers
  ///   that could not be made are among the report's failures.
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

  /// The stated messages, each with its observers in order; those that do not exist yet are called lazy.
  public var description: String {
    let places = observers.core.registrations
    let vacant = Dictionary(lazy.vacant().map { (observers.core.registration(in: $0.place), $0.mark) }) { $1 }
    let selectors = selectors ?? []
    let lines = selectors.map { selector -> String in
      let existing = Set(observers.core.responding(to: selector))
      let names = places.compactMap { place -> String? in
        if let target = place.target { return existing.contains(place) ? typeName(of: target) : nil }
        guard let mark = vacant[place] else { return nil }
        return mark.signature(selector) == nil ? nil : "\(mark.receiverName) (lazy)"
      }
      return "\n- \(selector): \(names.isEmpty ? "nobody" : names.joined(separator: ", "))"
    }
    return "extension point of \(Interface.self), \(observers.count) observers, \(lazyObservers.count) lazy"
      + lines.joined()
  }
}

extension ExtensionPoint: @unchecked Sendable where Interface: Sendable {}  // its parts have locks or are immutable

extension ExtensionPoint: MulticastSending {
  /// The existing observers that a message would go to. Makes none.
  public func route(for selector: MessageSelector) -> MessageRoute {
    let route = observers.route(for: selector)
    guard let placed = lazy.vacant(for: selector).first else { return route }
    return route.makingObservers(placed.mark.signature(selector))
  }

  /// The observers of a message that begins now, after making lazy ones. Those that could not be made count as failed targets,
  /// after all others.
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute {
    let failures = lazy.wake(selector)
    let route = observers.beginMessage(selector)
    return failures.isEmpty ? route : route.failing(failures.map { ($0.mark, $0.error) })
  }

  /// Makes an ordinary call to every observer, in the sender's turn and in order.
  ///
  ///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }
  ///
  /// A call goes to all observers, and makes all lazy ones, since all implement the whole protocol. With the selector that the call
  /// stands for, it goes to those whose tables have it, and makes only these. An error of the call counts as the observer's.
  /// Otherwise as `MulticastProxy.broadcast(for:_:)`.
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
  /// Registers an observer with a delivery.
  /// - Returns: as ``register(_:priority:)``; an observer has one place in a point, whatever its delivery.
  @discardableResult
  public func register(
    _ observer: Interface, delivery: Delivery, priority: Int = 0, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration? {
    enter(observer, priority, (delivery, buffer, pending))
  }
}
