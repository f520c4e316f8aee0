// ExtensionPoint+Sending.swift: messages to observers, lazy ones included.
// Layer: Centers. See DESIGN.md, "Extension points".

extension ExtensionPoint {
  /// Sends a message to every observer that responds, in order, after making the lazy ones that implement it.
  ///
  /// As ``MulticastProxy/broadcast(_:_:)``; who could not be made counts as failed.
  @inlinable
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    let failures = lazy.wake(message.selector)
    var summary = observers.broadcast(message, repeat each arguments)
    if !failures.isEmpty {
      lazy.report(failures, message.selector)
      summary.failed += failures.count
    }
    return summary
  }

  /// Makes an ordinary call to every observer, in the sender's turn and in order.
  ///
  ///     messages.broadcast { $0.onAddMsg("alice", [1, 2]) }
  ///
  /// Whoever conforms to a Swift protocol implements all of it, so the call goes to all observers, and makes all lazy
  /// ones. Given the selector that the call stands for, it goes to those whose tables have it, and makes only such.
  /// Closures registered with ``MulticastProxy/on(_:priority:_:)`` are not called.
  ///
  /// An observer that is registered with a delivery of its own cannot get such a call: it fails with `isolationMismatch`.
  /// Errors go to ``MulticastProxy/onError`` of ``observers``, under the name of the selector, or `typedCall`.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    let failures = lazy.wake(selector)
    var summary = observers.visit(selector, call)
    lazy.report(failures, selector)
    summary.failed += failures.count
    return summary
  }

  /// Sends a message to every observer that responds, lazy ones included, and makes one result of the answers.
  ///
  /// - Throws: as ``MulticastProxy/collect(_:_:returning:)``; after that, why an observer could not be made.
  @inlinable
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    let failures = lazy.wake(message.selector)
    let output = try observers.collect(message, repeat each arguments, returning: policy)
    if let failure = failures.first { throw failure.error }
    return output
  }

  /// Forwards a message as a value, lazy observers included, without making a report.
  @discardableResult
  public func broadcast(_ invocation: Invocation) -> BroadcastSummary {
    let failures = lazy.wake(invocation.selector)
    var summary = observers.broadcast(invocation)
    lazy.report(failures, invocation.selector)
    summary.failed += failures.count
    return summary
  }

  /// Forwards a message as a value, lazy observers included, and makes one result of the answers.
  ///
  /// - Throws: as ``MulticastProxy/collect(_:returning:)``; after that, why an observer could not be made.
  public func collect<Output>(_ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>) throws
    -> Output
  {
    let failures = lazy.wake(invocation.selector)
    let output = try observers.collect(invocation, returning: policy)
    if let failure = failures.first { throw failure.error }
    return output
  }
}

extension ExtensionPoint where Interface: Sendable {
  /// Registers an observer whose messages run where and when `delivery` says.
  ///
  /// - Parameters:
  ///   - buffer: how many messages may wait, and which go when there are more.
  ///   - pending: what becomes of messages that wait when the observer is unregistered.
  /// - Returns: as ``register(_:priority:)``; an observer has one place in a point, whatever its delivery.
  @discardableResult
  public func register(
    _ observer: Interface, delivery: Delivery, priority: Int = 0, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration? {
    enter(observer, priority, observers.core.queuedPart(delivery, buffer, pending))
  }

  /// Sends a message to every observer that responds, each where and when its delivery says, after making the lazy ones
  /// that implement it in the sender's turn.
  @inlinable
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    let failures = lazy.wake(message.selector)
    var summary = observers.broadcast(message, repeat each arguments)
    if !failures.isEmpty {
      lazy.report(failures, message.selector)
      summary.failed += failures.count
    }
    return summary
  }
}
