// MessageRoute.swift: a route and the number of its steps for one message.

/// The receivers of one message, fixed when the message begins: targets that join later do not get
/// the message. The library gets a route from ``MulticastSending/beginMessage(_:)``. A route has no
/// public members.
public struct MessageRoute: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let count: Int
  /// The core's ``MulticastCore/changes`` when the message began.
  let begun: UInt

  @inline(__always)
  init(_ route: Route, count: Int) {
    self.init(route, count: count, begun: route.core.changes.load(ordering: .relaxed))
  }

  @inline(__always)
  init(_ route: Route, count: Int, begun: UInt) {
    assert(count <= route.count, "a message goes \(count) of \(route.count) steps")
    (self.route, self.count, self.begun) = (route, count, begun)
  }

  var plan: DeliveryPlan? { route.plan }

  @usableFromInline var steps: UnsafeMutablePointer<RouteStep> {
    @inlinable @inline(__always) get { route.steps }
  }

  var isSurrounded: Bool { route.around != nil }
  var makesObservers: Bool { route.prelude?.makesObservers ?? false }

  /// True if there are no steps, hooks or prelude.
  @usableFromInline var isEmpty: Bool { count == 0 && !route.needsWalk }

  @usableFromInline var core: MulticastCore { route.core }

  var selector: MessageSelector { route.selector }

  /// True if a step's registration ended before the message began. The message then neither counts
  /// nor lists the step.
  func isOver(_ step: RouteStep) -> Bool {
    let begun = begun
    return step.registration._withUnsafeGuaranteedRef { $0.ended(before: begun) }
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
    let isMeant = route.prelude?.isMeant
    return core.registrations.filter { !matched.contains(ObjectIdentifier($0)) && isMeant?($0) ?? true }
  }
}
