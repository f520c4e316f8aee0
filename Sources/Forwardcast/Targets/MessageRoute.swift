// MessageRoute.swift: a route and the number of its steps for one message.

/// The receivers of one message, fixed when the message begins: targets that join later do not get
/// it. The library gets a route from ``MulticastSending/beginMessage(_:)``; it has no public
/// members.
public struct MessageRoute: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let count: Int

  @inline(__always)
  init(_ route: Route, count: Int) {
    assert(count <= route.count, "a message goes \(count) of \(route.count) steps")
    (self.route, self.count) = (route, count)
  }

  var plan: DeliveryPlan? { route.plan }

  @usableFromInline var steps: UnsafeMutablePointer<RouteStep> {
    @inlinable @inline(__always) get { route.steps }
  }

  var isSurrounded: Bool { route.around != nil }

  /// True if there are no steps, hooks or prelude.
  @usableFromInline var isEmpty: Bool { count == 0 && !route.needsWalk }

  @usableFromInline var core: MulticastCore { route.core }

  var selector: MessageSelector { route.selector }

  /// The route without registrations that ended before the message. Reports do not list these.
  var withoutEnded: MessageRoute {
    guard steps.haveEnded(upTo: count) else { return self }
    let copy = route.copy(upTo: count, only: { !$0.hasEnded }, route.prelude)
    return MessageRoute(copy, count: copy.count)
  }

  /// The live, unmuted targets that are queried for each message.
  var forwarders: [AnyObject] {
    (0..<count).compactMap { index in
      let step = steps[index]
      return step.method == nil && step.isActive ? step.target : nil
    }
  }

  /// The registrations without a step, in delivery order. They do not get the message.
  var unmatched: [Registration] {
    let matched = Set((0..<count).map { ObjectIdentifier(steps[$0].registration.takeUnretainedValue()) })
    return core.registrations.filter { !matched.contains(ObjectIdentifier($0)) }
  }
}

extension UnsafeMutablePointer<RouteStep> {
  func haveEnded(upTo count: Int) -> Bool {
    (0..<count).contains { self[$0].registration._withUnsafeGuaranteedRef(\.hasEnded) }
  }
}
