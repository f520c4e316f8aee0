// RouteNode.swift: the proxies that one message passes, each with its route.

/// One multicast that a message passes: the one it was sent to, or one among the targets of another.
///
/// All are found when the message begins, those behind hooks too: so nobody who joins a nested proxy later is among them, nor a
/// hook that is installed later, and rings and depth are known before anything is sent.
final class RouteNode {
  let route: MessageRoute
  /// This proxy and those around it.
  let proxies: ProxyChain
  /// The registrations that are no steps; none where they are not told of.
  @exclusivity(unchecked) private(set) var leftOut: [LeftOut]
  /// In which way the steps are served, and which travel together; `nil` where one loop serves all.
  let plan: DeliveryPlan?
  /// Whether hooks of the proxy stand around what becomes of the message, and not only before it.
  var hasTurn: Bool { route.isSurrounded && !(route.route.around?.isBefore ?? true) }
  /// How many nodes the message has, where it began at this one.
  @exclusivity(unchecked) private(set) var count = 0
  /// Whether some target here or inside may have a context of its own.
  @exclusivity(unchecked) private(set) var hasGroups = true
  /// The multicasts among the steps, in their order.
  @exclusivity(unchecked) private(set) var nested: [(step: Int, value: Nested)] = []
  /// What became of steps on other contexts when all were posted at once. A step that is not here was simply queued.
  @exclusivity(unchecked) var posted: ByStep<Posted>?
  /// Whether the message has left for some target of this proxy, or of one inside, before anybody was served.
  @exclusivity(unchecked) private(set) var hasLeft = false
  /// Whether the proxy is on a context of its own.
  private(set) var isAway = false
  /// Whether the message does not come here, and its targets are only listed.
  private var isOutOfReach = false
  /// The node around, which keeps this one as long as both are in one turn; `nil` where the message began.
  unowned(unsafe) let outer: RouteNode?
  /// The proxy's place in the one around it, while the message is here; `nil` for that which it was sent to.
  @exclusivity(unchecked) var place: StepContext?
  /// How far the message has come.
  @exclusivity(unchecked) var frame = Frame()
  /// Steps for which the sender has a place in the target's buffer: `true`, or `false` for one that shares it with another step.
  @exclusivity(unchecked) var reserved = ByStep<Bool>()
  /// Targets that got the message, where one may be registered more than once.
  var served: RepeatedTargets {
    let made = madeServed ?? RepeatedTargets()
    madeServed = made
    return made
  }
  @exclusivity(unchecked) private var madeServed: RepeatedTargets?
  /// The registration that each target is listed by, where a report meets one that was removed.
  private lazy var listing = TargetListing(route, leftOut.map(\.registration))
  private let listsEveryTarget: Bool

  /// The way of the message along the steps.
  struct Frame {
    /// Whether the proxy, or one around it, keeps to the order of delivery.
    var isInOrder = false
    /// How many registrations that are no steps have been told of.
    var nextLeftOut = 0
    var index = 0
    var segment = 0
    /// The end of the segment that ``RouteNode/nextSegment()`` has given.
    fileprivate(set) var segmentEnd = 0
    /// The first step that may be served by a loop.
    var loopsFrom = 0
    /// Whether somebody got the message.
    var reached = false
    /// Whether some target failed.
    var failed = false
    /// Whether an outcome was noted, be it that nobody got the message.
    var isListed = false
    /// Why nobody further gets it.
    var stop: DeliveryReport.SkipReason?
    var dead = 0
    var skipped = 0
    var trail: ProxyTrail?
  }

  /// A registration that is no step.
  struct LeftOut {
    /// The step that it stands before.
    let before: Int
    let registration: Registration
    /// The target, where it was registered strongly when the message began.
    let strong: AnyObject?
    /// The multicast that is registered for other selectors.
    fileprivate(set) var node: RouteNode?
  }

  /// A multicast among the targets.
  enum Nested {
    case node(RouteNode)
    /// Why the message does not go there.
    case refused(any Error)
  }

  /// What became of a step when it was posted.
  enum Posted {
    case outcome(StepOutcome)
    /// It is to run in the sender's turn, which is on that very context.
    case inTurn
    /// Its target gets the message by another step.
    case repeated
    /// It is a multicast, whose targets get the message there, as far as they do.
    case away([Outcome])
  }

  private init(_ route: MessageRoute, _ proxies: ProxyChain, listsEveryTarget: Bool, in outer: RouteNode? = nil) {
    (self.route, self.proxies, self.listsEveryTarget, self.outer) = (route, proxies, listsEveryTarget, outer)
    leftOut =
      !listsEveryTarget
      ? []
      : route.leftOut.map { before, registration in
        LeftOut(
          before: before, registration: registration, strong: registration.isStrong ? registration.currentTarget : nil)
      }
    plan = route.route.loopType != nil && !route.route.traits.hasIsolated ? nil : route.core.plan(route)
  }

  /// The multicast that is a step.
  func nested(at index: Int) -> Nested? {
    let place = nested.isEmpty ? 0 : nested.partitioningIndex { $0.step >= index }
    return place < nested.count && nested[place].step == index ? nested[place].value : nil
  }

  /// The group that a step is posted with, and its place there.
  func location(of index: Int) -> (group: DeliveryGroup, place: Int)? {
    guard let plan, let (group, place) = plan.locations[index] else { return nil }
    return (plan.groups[group], place)
  }

  /// The node of a message that comes to the proxy of `route`, with those inside.
  ///
  /// - Parameters:
  ///   - trail: the proxies that the message came through by hooks.
  ///   - listsEveryTarget: whether targets are told of as well that are out of reach.
  ///   - message: the node that the message began at, where that is not this one, and the one around.
  static func tree(
    _ route: MessageRoute, _ proxies: ProxyChain, _ trail: ProxyTrail?, listsEveryTarget: Bool,
    within message: (first: RouteNode, outer: RouteNode)? = nil
  ) -> RouteNode {
    let root = RouteNode(route, proxies, listsEveryTarget: listsEveryTarget, in: message?.outer)
    let first = message?.first ?? root
    if message == nil { root.hasGroups = false }
    var (next, open): (RouteNode?, [RouteNode]) = (first.add(root) ? root : nil, [])
    while let node = next {
      let selector = node.route.selector
      for index in node.leftOut.indices {
        let registration = node.leftOut[index].registration
        guard !registration.isFor(selector), let target = registration.currentTarget,
          let inner = (target as? any MulticastSending)?.route(for: selector),
          node.proxies.refusal(of: inner, trail, count: first.count, target) == nil
        else { continue }
        let child = RouteNode(
          inner, ProxyChain(inner.core, in: node.proxies, by: registration), listsEveryTarget: true, in: node)
        child.isOutOfReach = true
        node.leftOut[index].node = child
        if first.add(child) { open.append(child) }
      }
      // One that is registered for several sets of selectors gets the message once.
      let entered = node.route.route.hasRepeats ? RepeatedTargets() : nil
      for (place, cast) in node.plan?.asked ?? [] {
        let step = node.route.steps[place]
        guard step.isActive || listsEveryTarget, let target = step.target,
          let multicast = cast?.multicast ?? target as? any MulticastSending
        else { continue }
        if step.isActive, entered?.enter(step) == false { continue }
        do { try trail?.budget?.charge(.question) } catch {
          node.nested.append((place, .refused(error)))
          return root
        }
        let isOutOfReach = node.isOutOfReach || !step.isActive
        let inner = isOutOfReach ? multicast.route(for: selector) : multicast.beginMessage(selector)
        if let error = node.proxies.refusal(of: inner, trail, count: first.count, target) {
          node.nested.append((place, .refused(error)))
        } else {
          let chain = ProxyChain(inner.core, in: node.proxies, by: step.registration.takeUnretainedValue())
          let child = RouteNode(inner, chain, listsEveryTarget: listsEveryTarget, in: node)
          (child.isAway, child.isOutOfReach) = (step.queued != nil, isOutOfReach)
          node.nested.append((place, .node(child)))
          if first.add(child) { open.append(child) }
        }
      }
      next = open.popLast()
    }
    return root
  }

  /// Counts a node that was made. `true` when there may be others inside.
  private func add(_ node: RouteNode) -> Bool {
    count += 1
    hasGroups = hasGroups || !(node.plan?.groups.isEmpty ?? true)
    return node.route.route.hasNested || !node.leftOut.isEmpty
  }

  /// This node and those inside that the message may come to, the outermost first.
  ///
  /// - Parameter evenAway: whether also those behind a proxy that is on a context of its own.
  func all(evenAway: Bool = false) -> [RouteNode] {
    var found = [self]
    var index = 0
    while index < found.count {
      let node = found[index]
      for case (_, .node(let child)) in node.nested where !child.isOutOfReach && (evenAway || !child.isAway) {
        found.append(child)
      }
      index += 1
    }
    return found
  }

  /// The targets on contexts of their own, here and inside, on whatever contexts these are.
  var queuedTargets: [Registration] {
    all(evenAway: true).flatMap { $0.plan?.groups ?? [] }.flatMap { group in
      group.steps.lazy.filter(\.isActive).map { $0.registration.takeUnretainedValue() }
    }
  }

  /// Whether some target on another context, here or inside, is one that is meant.
  func hasElsewhere(isAway: Bool = false, _ isMeant: (RouteStep) -> Bool) -> Bool {
    (0..<route.count).contains { index in
      let step = route.steps[index]
      let isElsewhere = isAway || step.queued != nil
      if case .node(let child)? = nested(at: index) { return child.hasElsewhere(isAway: isElsewhere, isMeant) }
      return isElsewhere && isMeant(step)
    }
  }

  /// Notes that the target of a step is listed without the message. `false` where it got that, or is listed already.
  func list(_ step: RouteStep) -> Bool { !route.route.hasRepeats || served.list(step) }

  /// Whether the target of a step that is passed by is listed by another registration: it got the message, or will.
  func isListedElsewhere(_ step: RouteStep) -> Bool {
    isAddedAnew(step) || route.route.hasRepeats && (served.isActiveElsewhere(step, in: self) || !served.list(step))
  }

  /// Whether a report lists the target of a step that was removed by another registration.
  func isAddedAnew(_ step: RouteStep) -> Bool {
    listsEveryTarget && step.obstacle == .removed && listing.isAddedAnew(step)
  }

  /// The function type of the methods of the next steps, where a loop may serve them.
  func nextSegment() -> ObjectIdentifier? {
    guard let segments = plan?.segments else {
      frame.segmentEnd = route.count
      return route.route.loopType
    }
    if segments[frame.segment].end <= frame.index { frame.segment += 1 }
    frame.segmentEnd = segments[frame.segment].end
    return segments[frame.segment].type
  }

  /// Notes that the message has left for a target of this proxy.
  func noteLeft() {
    var next: RouteNode? = self
    while let node = next, !node.hasLeft {
      node.hasLeft = true
      next = node.isAway ? nil : node.outer
    }
  }

  /// Forgets what was posted, here and inside, so that the message can be sent once more.
  func forgetPosted() {
    for node in all() { (node.posted, node.hasLeft, node.madeServed) = (nil, false, nil) }
  }
}
