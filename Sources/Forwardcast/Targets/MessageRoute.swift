// MessageRoute.swift: a route as one message sees it.

/// Who gets one message, as of its beginning: targets that join later are not included. Made by
/// ``MulticastSending/beginMessage(_:)`` for the library's verbs; it has no public members.
public struct MessageRoute: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let count: Int

  /// - Parameter count: how many steps the message goes.
  @inline(__always)
  init(_ route: Route, count: Int) { (self.route, self.count) = (route, count) }

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

  /// For a message that lists every target: the registrations without a step, each with the step it stands before.
  var leftOut: [(before: Int, registration: Registration)] {
    guard route.leavesOut else { return [] }
    // The place of each registration among the steps: some may have left the list since.
    var places: [ObjectIdentifier: Int] = .init()
    // Each target once, whatever else it is registered for. A new target may have a dead one's address.
    var listed: Set<ObjectIdentifier> = []
    for index in (0..<count).reversed() {
      let (step, registration) = (steps[index], steps[index].registration.takeUnretainedValue())
      places[ObjectIdentifier(registration)] = index
      if step.obstacle != .removed, step.target != nil { listed.insert(registration.key) }
    }
    var before = 0
    return core.registrations.compactMap { registration in
      if let place = places[ObjectIdentifier(registration)] {
        before = place + 1
        return nil
      }
      return listed.insert(registration.key).inserted ? (before, registration) : nil
    }
  }
}
