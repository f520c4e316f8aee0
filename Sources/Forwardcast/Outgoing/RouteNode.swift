// RouteNode.swift: the proxies that one message passes, each with its route.

/// One multicast that a message passes: the one it was sent to, or a nested one.
///
/// All are found when the message begins, also those behind hooks. So later targets of a nested proxy and later hooks are not
/// included, and rings and depth are known before anything is sent.
final class RouteNode {
  let route: MessageRoute
  let proxies: ProxyChain
  /// The registrations without a step; empty where they are not listed.
  @exclusivity(unchecked) private(set) var leftOut: [LeftOut]
  /// How the steps are served, and which share an envelope; `nil` where one loop serves all.
  let plan: DeliveryPlan?
  /// Whether hooks surround the message, not only precede it.
  var hasTurn: Bool { route.isSurrounded && !(route.route.around?.isBefore ?? true) }
  /// How many nodes the message has, if it began at this one.
  @exclusivity(unchecked) private(set) var count = 0
  /// Whether some target here or inside may be queued.
  @exclusivity(unchecked) private(set) var hasGroups = true
  @exclusivity(unchecked) private(set) var nested: [(step: Int, value: Nested)] = []
  /// The outcomes of queued steps, once all were posted. A step without one was simply queued.
  @exclusivity(unchecked) var posted: ByStep<Posted>?
  /// Whether the message has left for a target here or inside before anybody was served.
  @exclusivity(unchecked) private(set) var hasLeft = false
  /// Whether the proxy is queued.
  private(set) var isAway = false
  /// Whether the message does not come here, and its targets are only listed.
  private var isOutOfReach = false
  /// The node around, which retains this one as long as both are in one turn; `nil` where the message began.
  unowned(unsafe) let outer: RouteNode?
  /// The proxy as a target of the one around it, while the message is here; `nil` for the first one.
  @exclusivity(unchecked) var target: AnyObject?
  @exclusivity(unchecked) var frame = Frame()
  /// Steps for which the sender has a place in the target's buffer: `true`, or `false` when it is shared with another step.
  @exclusivity(unchecked) var reserved = ByStep<Bool>()
  /// Targets that got the message, where one may be registered several times.
  var served: RepeatedTargets {
    let made = madeServed ?? RepeatedTargets()
    madeServed = made
    return made
  }
  @exclusivity(unchecked) private var madeServed: RepeatedTargets?
  /// The registration by which each target is listed, once a report meets a removed one.
  private lazy var listing = TargetListing(route, leftOut.map(\.registration))
  private let listsEveryTarget: Bool

  /// How far the message has come along the steps.
  struct Frame {
    /// Whether the proxy, or one around it, keeps to the order of delivery.
    var isInOrder = false
    /// How many registrations without steps have been listed.
    var nextLeftOut = 0
    var index = 0
    var segment = 0
    /// The end of the segment that ``RouteNode/nextSegment()`` returned.
    fileprivate(set) var segmentEnd = 0
    /// The first step that a loop may serve.
    var loopsFrom = 0
    var reached = false
    var failed = false
    /// Whether an outcome was noted, even that nobody got the message.
    var isListed = false
    /// Why no further target gets it.
    var stop: DeliveryReport.SkipReason?
    var dead = 0
    var skipped = 0
    var trail: ProxyTrail?
  }

  /// A registration without a step.
  struct LeftOut {
    /// The step that it is before.
    let before: Int
    let registration: Registration
    /// The target, if strong when the message began.
    let strong: AnyObject?
    /// Its node, if it is a multicast registered for other selectors.
    fileprivate(set) var node: RouteNode?
  }

  enum Nested {
    case node(RouteNode)
    /// Why the message does not go there.
    case refused(any Error)
  }

  enum Posted {
    case outcome(StepOutcome)
    /// It is to run in the sender's turn, which is on that very context.
    case inTurn
    /// Its target gets the message by another step.
    case repeated
    /// A multicast, with the outcomes at its targets so far.
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

  func nested(at index: Int) -> Nested? {
    let place = nested.isEmpty ? 0 : nested.partitioningIndex { $0.step >= index }
    return place < nested.count && nested[place].step == index ? nested[place].value : nil
  }

  /// The group that a step is posted with, and its place there.
  func location(of index: Int) -> (group: DeliveryGroup, place: Int)? {
    guard let plan, let (group, place) = plan.locations[index] else { return nil }
    return (plan.groups[group], place)
  }

  /// The node of a message that comes to the proxy of `route`, with those inside. `message` has the node that the message began
  /// at, if not this one, and the one around.
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
      // A multicast registered several times, for different selectors, gets the message once.
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

  /// Counts a new node. `true` when there may be others inside.
  private func add(_ node: RouteNode) -> Bool {
    count += 1
    hasGroups = hasGroups || !(node.plan?.groups.isEmpty ?? true)
    return node.route.route.hasNested || !node.leftOut.isEmpty
  }

  /// This node and those inside that the message may come to, outermost first.
  ///
  /// - Parameter evenAway: whether to include those behind a queued proxy.
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

  /// All queued targets, here and inside.
  var queuedTargets: [Registration] {
    all(evenAway: true).flatMap { $0.plan?.groups ?? [] }.flatMap { group in
      group.steps.lazy.filter(\.isActive).map { $0.registration.takeUnretainedValue() }
    }
  }

  /// Whether some queued target, here or inside, satisfies `isMeant`.
  func hasElsewhere(isAway: Bool = false, _ isMeant: (RouteStep) -> Bool) -> Bool {
    (0..<route.count).contains { index in
      let step = route.steps[index]
      let isElsewhere = isAway || step.queued != nil
      if case .node(let child)? = nested(at: index) { return child.hasElsewhere(isAway: isElsewhere, isMeant) }
      return isElsewhere && isMeant(step)
    }
  }

  /// Notes that the target of a step is listed without the message. `false` when it got that, or is listed already.
  func list(_ step: RouteStep) -> Bool { !route.route.hasRepeats || served.list(step) }

  /// Whether the target of a skipped step is listed by another registration: it got the message, or will.
  func isListedElsewhere(_ step: RouteStep) -> Bool {
    isAddedAnew(step) || route.route.hasRepeats && (served.isActiveElsewhere(step, in: self) || !served.list(step))
  }

  /// Whether a report lists the target of a removed step by another registration.
  func isAddedAnew(_ step: RouteStep) -> Bool {
    listsEveryTarget && step.obstacle == .removed && listing.isAddedAnew(step)
  }

  /// The function type of the next steps' methods, if a loop may serve them.
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

  /// Forgets what was posted, here and inside, so that the message can be sent again.
  func forgetPosted() {
    for node in all() { (node.posted, node.hasLeft, node.madeServed) = (nil, false, nil) }
  }
}
