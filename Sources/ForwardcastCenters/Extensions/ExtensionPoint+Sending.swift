// ExtensionPoint+Sending.swift: messages to observers, lazy ones included.

import Forwardcast

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
    lazy.report(failures, selector)
    summary.failed += failures.count
    return summary
  }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers an observer whose messages run where and when `delivery` says.
  ///
  /// - Returns: as ``register(_:priority:)``; an observer has one place in a point, whatever its delivery.
  @discardableResult
  public func register(
    _ observer: Interface, delivery: Delivery, priority: Int = 0, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration? {
    enter(observer, priority, (delivery, buffer, pending))
  }
}
