// ExtensionPoint.swift: the observers of one protocol.

import Forwardcast
import Synchronization

/// The observers of one protocol: registered objects, and lazy observers, which their first message
/// creates.
///
///     let messages = ExtensionPoint<any MessageExtension>(
///       selectors: ["onAddMsg:msgData:", "onDeleteMsg:"])
///     messages.register(window)                                  // weak, in order
///     // created by the first message that it implements:
///     messages.registerLazily(ArchiveService.self) { $0 }
///     messages.broadcast(.onAddMsg, "alice", [1, 2])             // typed key
///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }        // typed call
///
/// An extension point wraps a `MulticastProxy`, ``observers``. It also creates lazy observers, and
/// rejects objects that do not conform or are registered already. Delivery, removal, results and
/// errors work as in the proxy. The extension point is `Sendable` if its interface is.
///
/// **State the selectors of a point**, since Swift cannot list the requirements of a protocol. A
/// list of selectors, or a table, limits the point to these messages. A point without either
/// forwards every message in its observers' own tables. If the protocol inherits another, list the
/// selectors of both, or create the table with `inheriting:`.
public final class ExtensionPoint<Interface>: ForwardingProxy, ForwardingToMany, CustomStringConvertible {
  /// The existing observers. Messages sent through this proxy create no lazy observers.
  public let observers: MulticastProxy<Interface>

  let lazy: LazyRegistrations
  private let stated: Set<MessageSelector>?

  /// Creates a point.
  /// - Parameters:
  ///   - selectors: the messages of the point; by default the messages of `table` or, without a
  ///     table, every message.
  ///   - table: methods for all observers. Methods of an observer's own table take precedence.
  ///   - services: the center that creates and retains lazy observers. The point retains it.
  ///   - options: how the point treats unanswered messages and errors. `duplicates` has no effect.
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
    lazy = LazyRegistrations(observers.core, scope: stated, services: services)
    super.init()
  }

  /// The place to install hooks around all observers, including lazy observers.
  public override var hookPlace: HookPlace { observers.hookPlace }

  /// The stated messages of the point, sorted by name; `nil` if none are stated.
  public var selectors: [MessageSelector]? { stated?.sorted { $0.name < $1.name } }

  // MARK: Registering

  /// Registers an observer, referenced weakly. The observer receives messages that are sent after
  /// this call. Observers with a higher priority come first, observers of equal priority in the
  /// order of registration. Returns `nil` if the observer is registered already, is not an object,
  /// or implements none of the point's messages.
  @discardableResult
  public func register(_ observer: Interface, priority: Int = 0) -> Registration? {
    enter(observer, TargetOptions(priority: priority, scope: stated))
  }

  func enter(_ observer: Interface, _ options: TargetOptions) -> Registration? {
    guard isObject(observer) else { return nil }
    let object = observer as AnyObject
    guard conforms(object) else { return nil }
    // A lazy observer that registers itself during its construction takes its class's position.
    if let registration = lazy.takeSlot(object) { return registration }
    return observers.core.addUnlessThere(object, options)
  }

  /// Registers an object as ``register(_:priority:)`` does. Also returns `nil` if the object does
  /// not conform.
  @discardableResult
  public func register(ifConforming object: AnyObject?, priority: Int = 0) -> Registration? {
    guard let object, let observer = object as? Interface else { return nil }
    return register(observer, priority: priority)
  }

  /// Unregisters an observer, which receives no further message, not even a message that is being
  /// delivered. May be called in the observer's `deinit`. Returns true if the observer was
  /// registered.
  @discardableResult
  public func unregister(_ observer: Interface) -> Bool { observers.remove(observer) > 0 }

  private func conforms(_ object: AnyObject) -> Bool {
    guard let stated else { return true }
    return stated.contains { observers.core.wouldReach(object, $0) }
  }

  // MARK: Queries

  /// The existing observers that respond to `selector`, in order, including muted observers.
  public func observers(of selector: MessageSelector) -> [Interface] {
    observers.core.responding(to: selector).compactMap { $0.target as? Interface }
  }

  /// The names of the lazy observers that do not exist at present, in the order of registration.
  public var lazyObservers: [String] { lazy.vacant().map(\.registration.receiverName) }

  /// True if an existing or a lazy observer responds to `selector`. Creates no observer.
  public override func responds(to selector: MessageSelector) -> Bool {
    observers.responds(to: selector) || !lazy.vacant(for: selector).isEmpty
  }

  /// The signature of the first observer that responds; `nil` if the point lacks the message.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let stated, !stated.contains(selector) { return nil }
    if observers.count(for: selector) == 0, let placed = lazy.vacant(for: selector).first {
      return placed.registration.signature(selector)
    }
    return observers.methodSignature(for: selector)
  }

  /// Sends messages in call syntax to every observer: see `DynamicMessages`.
  public var dynamic: DynamicMessages { (self as any MulticastSending).dynamic }

  /// Always `nil`, since a point has many targets.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every observer that responds, including lazy observers. In the report,
  /// observers that could not be created are failures.
  /// - Throws: as `MulticastProxy.forward(_:)`; `unrecognizedSelector` if the point lacks the
  ///   message.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    if let stated, !stated.contains(invocation.selector) { throw doesNotRecognize(invocation.selector) }
    return try forwardBoxed(&invocation, along: visit(invocation.selector), by: self)
  }

  /// Forwards a message as ``forward(_:)`` does, and waits for all observers.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    if let stated, !stated.contains(invocation.selector) { throw doesNotRecognize(invocation.selector) }
    return try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self)
  }

  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    observers.tell(failures, of: selector)
  }

  /// Lists the stated messages with their observers. Marks observers that do not exist yet.
  public var description: String {
    let registrations = observers.core.registrations
    let vacant = Dictionary(lazy.vacant().map { (observers.core.registration(in: $0.slot), $0.registration) }) { $1 }
    let selectors = selectors ?? []
    let lines = selectors.map { selector -> String in
      let existing = Set(observers.core.responding(to: selector))
      let names = registrations.compactMap { registration -> String? in
        if let target = registration.target { return existing.contains(registration) ? typeName(of: target) : nil }
        guard let vacant = vacant[registration], vacant.signature(selector) != nil else { return nil }
        return "\(vacant.receiverName) (lazy)"
      }
      return "\n- \(selector) → \(names.isEmpty ? "nobody" : names.joined(separator: ", "))"
    }
    let count = observers.count
    return "extension point of \(writtenName(of: Interface.self)), \(count) observer\(count == 1 ? "" : "s"), "
      + "\(lazyObservers.count) lazy" + lines.joined()
  }
}

extension ExtensionPoint: @unchecked Sendable where Interface: Sendable {}  // its parts have locks or are immutable

extension ExtensionPoint: LazyTargetListing {
  package func lazyTargets(for selector: MessageSelector) -> [LazyTarget] {
    lazy.vacant().map { found in
      let (slot, observer) = (observers.core.registration(in: found.slot), found.registration)
      let isStated = stated?.contains(selector) ?? true
      let isCreated = isStated && observer.signature(selector) != nil
      return LazyTarget(
        slot, observer.receiverName, observer.delivery, isCreated ? nil : isStated ? .doesNotRespond : .outOfScope)
    }
  }
}

extension ExtensionPoint: MulticastSending {
  /// The observers of a message. Missing lazy observers are created when the hooks let it pass.
  public func route(for selector: MessageSelector) -> MessageRoute {
    // The missing observers are read before the route. In the opposite order, an observer that is
    // created between the two reads would be in neither result.
    let vacant = lazy.vacant(for: selector).first
    let route = observers.route(for: selector)
    guard let vacant else { return route }
    return route.makingObservers(vacant.registration.signature(selector)) { [self] in created(for: selector) }
  }

  /// Creates the lazy observers of a message and returns the message's route. Observers that could
  /// not be created count as failed targets, after all other targets.
  private func created(for selector: MessageSelector) -> MessageRoute {
    let (failures, isMeant) = lazy.materialize(selector)
    let route = observers.beginMessage(selector)
    return isMeant.map { route.failing(failures, only: $0) } ?? route
  }

  /// Calls a method of every observer, synchronously and in order.
  ///
  ///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }
  ///
  /// Without a selector, the call reaches all observers and creates all lazy observers. With the
  /// selector of the called method, the call reaches and creates only observers that respond to the
  /// selector. An error that `call` throws counts as an error of the observer. Otherwise as
  /// `MulticastProxy.broadcast(for:_:)`.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    let (failures, isMeant) = lazy.materialize(selector)
    var summary = observers.broadcast(for: selector, where: isMeant, call)
    for failure in failures {
      observers.core.report(failure.error, selector ?? "typedCall", nil, receiver: typeName(of: failure.target))
    }
    summary.failed += failures.count
    return summary
  }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers an observer with a delivery.
  /// - Returns: as ``register(_:priority:)``. Also `nil` if the observer is registered with another
  ///   delivery.
  @discardableResult
  public func register(
    _ observer: Interface, delivery: Delivery, priority: Int = 0, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration? {
    enter(
      observer,
      TargetOptions(priority: priority, scope: stated, delivery: delivery, buffer: buffer, pending: pending))
  }
}
