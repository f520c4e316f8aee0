// MessageRoute.swift: a route as one message sees it.
// Layer: Proxy. See DESIGN.md, "Routes".

/// Who gets one message, as it was when the message began: targets that join later are not among them.
///
/// What ``MulticastSending/beginMessage(_:)`` gives to the verbs of the library; it has no members of its own to use.
public struct MessageRoute: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  @usableFromInline let count: Int
  /// How the message goes.
  @usableFromInline let way: RouteWay
  /// ``plan``, as a type that a loop in the user's module releases without asking what it is.
  @usableFromInline let planObject: AnyObject?

  /// Called under the proxy's lock, or before the route is published.
  @inline(__always)
  init(_ route: Route) {
    self.route = route
    steps = route.steps
    count = route.count
    way = route.way
    planObject = route.hasQueued ? route.plan : nil
  }

  private init(inside whole: MessageRoute) {
    (route, steps, count, planObject) = (whole.route, whole.steps, whole.count, whole.planObject)
    way = whole.route.wayInside
  }

  /// Whether it takes more than a loop over direct targets with methods.
  @usableFromInline var needsSchedule: Bool {
    @inlinable @inline(__always) get { if case .direct = way { false } else { true } }
  }

  /// Whether hooks stand around the message.
  @usableFromInline var isSurrounded: Bool {
    @inlinable @inline(__always) get { if case .surrounded = way { true } else { false } }
  }

  /// What stands around the message, and the same way without it; `nil` when nothing does.
  var surrounded: (around: RouteSurroundings, inside: MessageRoute)? {
    guard isSurrounded, let around = route.around else { return nil }
    return (around, MessageRoute(inside: self))
  }

  @usableFromInline var core: MulticastCore { route.core }

  /// Which steps travel together; `nil` while that has not been worked out.
  var plan: DeliveryPlan? { planObject.map { unsafeDowncast($0, to: DeliveryPlan.self) } }
  var selector: MessageSelector { route.selector }

  /// Looks for a step whose target is alive and unmuted, from where the last one was found. Called under the proxy's
  /// lock; the target that was loaded is to be released after it.
  ///
  /// Every step that is passed over is dead, removed or muted, and is passed over once until a target joins or is
  /// unmuted: so the cost does not grow with the number of targets.
  func findWitness() -> LoadedTarget {
    while route.witness < count {
      let step = route.steps[route.witness]
      if let method = step.method?.takeUnretainedValue(), !method.isRefusal {
        let registration = step.registration.takeUnretainedValue()
        if registration.isActive, let target = step.target { return LoadedTarget(object: target) }
      }
      route.witness += 1
    }
    return LoadedTarget(object: nil)
  }

  /// The live, unmuted targets that are asked each time.
  var forwarders: [AnyObject] {
    (0..<count).compactMap { index in
      let step = steps[index]
      return step.method == nil && step.isActive ? step.target : nil
    }
  }

  /// What the steps are, for a message that lists every target: the registrations that are not among the steps, each with
  /// the step that it stands before.
  var leftOut: [(before: Int, registration: Registration)] {
    guard route.leavesOut else { return [] }
    // Where each registration stands among the steps: some may have left the list since.
    let places = Dictionary(
      (0..<count).map { (ObjectIdentifier(steps[$0].registration.takeUnretainedValue()), $0) }
    ) { first, _ in first }
    var before = 0
    return core.registrations.compactMap { registration in
      if let place = places[ObjectIdentifier(registration)] {
        before = place + 1
        return nil
      }
      return (before, registration)
    }
  }
}

/// A reference that was loaded under the lock and is released after it.
struct LoadedTarget: @unchecked Sendable {  // the proxy's interface says whether its targets may be shared
  let object: AnyObject?
}
