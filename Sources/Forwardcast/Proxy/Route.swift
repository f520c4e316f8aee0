// Route.swift: who gets the messages of one selector, worked out once and kept.
// Layer: Proxy. See DESIGN.md, "Routes".

/// One step of a route: a registration and the method that its target runs.
///
/// Trivial on purpose, so that walking a route retains nothing: the ``Route`` that holds it keeps all three alive.
@usableFromInline
struct RouteStep {
  @usableFromInline let registration: Unmanaged<Registration>
  /// `nil` for a target that is asked each time.
  @usableFromInline let method: Unmanaged<Method>?
  /// The method's, here as well so that a walk compares it without looking at the method.
  @usableFromInline let functionType: ObjectIdentifier?
  /// The target itself when the registration is strong; `nil` for a weak one, which is loaded.
  @usableFromInline let strong: Unmanaged<AnyObject>?

  /// Takes one reference on each; ``release()`` gives them back.
  init(_ registration: Registration, method: Method?, strong: AnyObject?) {
    self.registration = .passRetained(registration)
    self.method = method.map { .passRetained($0) }
    self.functionType = method?.functionType
    self.strong = strong.map { .passRetained($0) }
  }

  func release() {
    registration.release()
    method?.release()
    strong?.release()
  }
}

/// Who gets the messages of one selector, in order.
///
/// A route is made outside of the proxy's lock and published under it. From then on steps are only ever added behind
/// its end, under the lock, while those who walk it have taken note of the end before; so walking needs no lock.
@usableFromInline
final class Route: @unchecked Sendable {  // `count`, `covered` and `witness` are guarded by the proxy's lock
  @usableFromInline let selector: MessageSelector
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  private let capacity: Int
  /// The table changes that the route knows of.
  let epoch: UInt
  /// The generation of the target list that the route was made from.
  let generation: UInt
  private(set) var count = 0
  /// How far into the list's last lane the route reaches.
  private(set) var covered: Int
  /// The version of the target list that the route knows.
  private(set) var version: UInt
  /// Whether some step has to be asked each time.
  private(set) var hasForwarders = false
  /// Whether some step is delivered on another context.
  private(set) var hasQueued = false
  /// Which steps travel together, as worked out last. Guarded by the proxy's lock.
  var plan: DeliveryPlan?
  /// The step that was last found able to answer, for `responds(to:)`; `count` when none is until something changes.
  var witness = 0

  init(_ selector: MessageSelector, epoch: UInt, list: TargetList, steps: [RouteStep], room: Int = 0) {
    self.selector = selector
    self.epoch = epoch
    generation = list.generation
    version = list.version
    covered = list.end
    capacity = max(steps.count + room, 1)
    self.steps = .allocate(capacity: capacity)
    append(steps)
  }

  deinit {
    for index in 0..<count { steps[index].release() }
    steps.deallocate()
  }

  private func append(_ list: [RouteStep]) {
    for step in list {
      (steps + count).initialize(to: step)
      count += 1
      if step.method == nil { hasForwarders = true }
      if step.registration._withUnsafeGuaranteedRef({ $0.queued != nil }) { hasQueued = true }
    }
  }

  /// Adds steps behind the end if there is room. Called under the proxy's lock.
  func extend(by steps: [RouteStep], to list: TargetList) -> Bool {
    guard count + steps.count <= capacity else { return false }
    append(steps)
    covered = list.end
    version = list.version
    return true
  }

  /// A longer copy with room to grow. Called under the proxy's lock.
  func grown(by more: [RouteStep], to list: TargetList) -> Route {
    var all: [RouteStep] = []
    all.reserveCapacity(count + more.count)
    for index in 0..<count { all.append(steps[index].retained()) }
    return Route(selector, epoch: epoch, list: list, steps: all + more, room: all.count + more.count)
  }
}

extension RouteStep {
  func retained() -> RouteStep {
    _ = registration.retain()
    _ = method?.retain()
    _ = strong?.retain()
    return self
  }
}

extension Route {
  /// Whether nothing has changed that the route does not know of. Called under the proxy's lock.
  func isCurrent(_ list: TargetList, _ epoch: UInt) -> Bool {
    self.epoch == epoch && version == list.version
  }
}

/// A reference that was loaded under the lock and is let go of after it.
struct LoadedTarget: @unchecked Sendable {  // the proxy's interface says whether its targets may be shared
  let object: AnyObject?
}

/// A route as one message sees it: steps that join later are not its own.
@usableFromInline
struct RouteWalk: @unchecked Sendable {  // the route is published, and the steps up to `count` never change
  @usableFromInline let route: Route
  @usableFromInline let steps: UnsafeMutablePointer<RouteStep>
  @usableFromInline let count: Int
  /// Whether some step is delivered on another context.
  @usableFromInline let hasQueued: Bool
  /// Which steps travel together; `nil` while that has not been worked out.
  @usableFromInline let plan: DeliveryPlan?

  /// Called under the proxy's lock, or before the route is published.
  init(_ route: Route) {
    self.route = route
    self.steps = route.steps
    self.count = route.count
    self.hasQueued = route.hasQueued
    self.plan = route.hasQueued ? route.plan : nil
  }

  /// Looks for a step whose target is alive and unmuted, from where the last one was found. Called under the proxy's
  /// lock; the target that was loaded is to be let go of after it.
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
      let step = route.steps[index]
      guard step.method == nil else { return nil }
      let registration = step.registration.takeUnretainedValue()
      return registration.isActive ? registration.target : nil
    }
  }
}
