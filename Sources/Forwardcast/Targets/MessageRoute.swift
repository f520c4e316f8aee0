// MessageRoute.swift: a route as one message sees it.

/// Who gets one message, as of its beginning: targets that join later are not included. Made by
/// ``MulticastSending/beginMessage(_:)`` for the library's verbs; it has no public members.
public struct MessageRoute: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let count: Int

  /// - Parameter count: how many steps the message goes.
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

  /// Whether there is no target, and nothing before it.
  @usableFromInline var isEmpty: Bool { count == 0 && !route.needsWalk }

  @usableFromInline var core: MulticastCore { route.core }

  var selector: MessageSelector { route.selector }

  /// The live, unmuted targets that are asked each time.
  var forwarders: [AnyObject] {
    (0..<count).compactMap { index in
      let step = steps[index]
      return step.method == nil && step.isActive ? step.target : nil
    }
  }

  /// The registrations without a step, in delivery order: the message is not for them.
  var unmatched: [Registration] {
    let matched = Set((0..<count).map { ObjectIdentifier(steps[$0].registration.takeUnretainedValue()) })
    return core.registrations.filter { !matched.contains(ObjectIdentifier($0)) }
  }
}
