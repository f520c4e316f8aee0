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
  /// The multicasts among the steps.
  @exclusivity(unchecked) private(set) var nested = ByStep<Nested>()
  /// What became of steps on other contexts when all were posted at once. A step that is not here was simply queued.
  @exclusivity(unchecked) var posted: ByStep<Posted>?
  /// Whether the message has left for some target of this proxy, or of one inside, before anybody was served.
  @exclusivity(unchecked) private(set) var hasLeft = false
  /// Whether the proxy is on a context of its own.
  private(set) var isAway = false
  /// Whether the message does not come here, and its targets are only listed.
  private var isOutOfReach = false
  /// The node around, which keeps this one; `nil` for one that leaves for another context.
  private unowned(unsafe) var outer: RouteNode?
  /// Whether no proxy around passes the message on to this one in the same turn, as far as was known when it began.
  var isFirst: Bool { outer == nil }
  /// Steps for which the sender has a place in the target's buffer: `true`, or `false` for one that shares it with another step.
  @exclusivity(unchecked) var reserved = ByStep<Bool>()
  /// Targets that got the message, where one may be registered more than once.
  @exclusivity(unchecked) var served = RepeatedTargets()
  /// The registration that each target is listed by, where a report meets one that was removed.
  private lazy var listing = TargetListing(route, leftOut.map(\.registration))
  private let listsEveryTarget: Bool

  /// A registration that is no step.
  struct LeftOut {
    /// The step that it stands before.
    let before: Int
    let registration: Registration
    /// The target, where it was registered strongly when the message began.
    let strong: AnyObject?
    /// The multicast that is registered for other selectors.
    fileprivate(set) var node: RouteNode?

    fileprivate init(_ registration: Registration, before: Int) {
      (self.registration, self.before) = (registration, before)
      strong = registration.isStrong ? registration.currentTarget : nil
    }
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

  private init(_ route: MessageRoute, _ proxies: ProxyChain, listsEveryTarget: Bool) {
    (self.route, self.proxies, self.listsEveryTarget) = (route, proxies, listsEveryTarget)
    leftOut = listsEveryTarget ? route.leftOut.map { LeftOut($0.registration, before: $0.before) } : []
    plan = route.route.loopType != nil && !route.route.traits.hasIsolated ? nil : route.core.plan(route)
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
  ///   - message: the node that the message began at, where that is not this one.
  static func tree(
    _ route: MessageRoute, _ proxies: ProxyChain, _ trail: ProxyTrail?, listsEveryTarget: Bool,
    within message: RouteNode? = nil
  ) -> RouteNode {
    let root = RouteNode(route, proxies, listsEveryTarget: listsEveryTarget)
    let first = message ?? root
    if message == nil { root.hasGroups = false }
    first.add(root)
    guard route.route.hasNested || !root.leftOut.isEmpty else { return root }
    var open = [root]
    while let node = open.popLast() {
      let selector = node.route.selector
      for index in node.leftOut.indices {
        let registration = node.leftOut[index].registration
        guard !registration.isFor(selector), let target = registration.currentTarget,
          let inner = (target as? any MulticastSending)?.route(for: selector),
          node.proxies.refusal(of: inner, trail, count: first.count, target) == nil
        else { continue }
        let child = RouteNode(inner, ProxyChain(inner.core, in: node.proxies, by: registration), listsEveryTarget: true)
        child.isOutOfReach = true
        node.leftOut[index].node = child
        open.append(child)
        first.add(child)
      }
      guard node.route.route.hasNested else { continue }
      // One that is registered for several sets of selectors gets the message once.
      var entered = RepeatedTargets()
      for place in node.plan?.asked ?? [] {
        let step = node.route.steps[place]
        guard step.isActive || listsEveryTarget, let target = step.target,
          let multicast = target as? any MulticastSending
        else { continue }
        if node.route.route.hasRepeats, step.isActive, !entered.enter(step) { continue }
        do { try trail?.budget?.charge(.question) } catch {
          node.nested[place] = .refused(error)
          return root
        }
        let isOutOfReach = node.isOutOfReach || !step.isActive
        let inner = isOutOfReach ? multicast.route(for: selector) : multicast.beginMessage(selector)
        if let error = node.proxies.refusal(of: inner, trail, count: first.count, target) {
          node.nested[place] = .refused(error)
        } else {
          let proxies = ProxyChain(inner.core, in: node.proxies, by: step.registration.takeUnretainedValue())
          let child = RouteNode(inner, proxies, listsEveryTarget: listsEveryTarget)
          (child.isAway, child.isOutOfReach) = (step.queued != nil, isOutOfReach)
          if !child.isAway { child.outer = node }
          node.nested[place] = .node(child)
          open.append(child)
          first.add(child)
        }
      }
    }
    return root
  }

  private func add(_ node: RouteNode) {
    count += 1
    hasGroups = hasGroups || !(node.plan?.groups.isEmpty ?? true)
  }

  /// This node and those inside that the message may come to, the outermost first.
  ///
  /// - Parameter evenAway: whether also those behind a proxy that is on a context of its own.
  func all(evenAway: Bool = false) -> [RouteNode] {
    var found = [self]
    var index = 0
    while index < found.count {
      let node = found[index]
      for place in node.nested.indices {
        guard case .node(let child)? = node.nested[place], !child.isOutOfReach, evenAway || !child.isAway else {
          continue
        }
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
      if case .node(let child)? = nested[index] { return child.hasElsewhere(isAway: isElsewhere, isMeant) }
      return isElsewhere && isMeant(step)
    }
  }

  /// The outcomes at the proxy's targets where none of them is asked.
  ///
  /// - Parameters:
  ///   - stop: why it does not come to the proxy; `nil` where it waits for its context.
  ///   - place: the proxy's own, where that is listed: it has no targets.
  func outcomes(_ stop: DeliveryReport.SkipReason?, at place: StepContext) -> [Outcome] {
    var (outcomes, listed, left) = ([Outcome](), RepeatedTargets(), leftOut[...])
    func takeLeftOut(before index: Int) {
      while let next = left.first, next.before <= index { outcomes += self.outcomes(of: left.removeFirst(), stop) }
    }
    for index in 0..<route.count {
      takeLeftOut(before: index)
      let step = route.steps[index]
      let context = StepContext(step, of: route.selector, in: proxies, step.target, isQueued: true)
      let own = step.obstacle ?? (context.target == nil ? .dead : nil)
      let reason = stop.map { .first(own, $0) } ?? own
      if own != nil, own != .dead, listed.isActiveElsewhere(step, in: self) || isAddedAnew(step) { continue }
      if route.route.hasRepeats, !(reason == nil ? listed.enter(step) : listed.list(step)) { continue }
      if reason != .dead, case .node(let child)? = nested[index] {
        outcomes += child.outcomes(reason, at: context)
      } else {
        outcomes.append(Outcome(reason.map { .skipped($0) } ?? .queued(slot: -1), context))
      }
    }
    takeLeftOut(before: route.count)
    return outcomes.isEmpty ? [Outcome(.skipped(.first(stop, .doesNotRespond)), place)] : outcomes
  }

  /// What becomes of it at a registration that is no step, or at the targets of a multicast that is; nothing where its target has
  /// died.
  func outcomes(of leftOut: LeftOut, _ stop: DeliveryReport.SkipReason?) -> [Outcome] {
    let registration = leftOut.registration
    guard let target = leftOut.strong ?? registration.currentTarget else { return [] }
    let own = registration.reasonToLeaveOut(route.selector)
    let reason = stop.map { .first(own, $0) } ?? own
    let place = StepContext(
      selector: route.selector, proxies: proxies, registration: registration, target: target,
      isQueued: registration.queued != nil)
    return leftOut.node?.outcomes(reason, at: place) ?? [Outcome(.skipped(reason), place)]
  }

  /// Notes that the target of a step is listed without the message. `false` where it got that, or is listed already.
  func list(_ step: RouteStep) -> Bool { !route.route.hasRepeats || served.list(step) }

  /// Whether the target of a step that is passed by is listed by another registration: it got the message, or will.
  func isListedElsewhere(_ step: RouteStep) -> Bool {
    isAddedAnew(step) || route.route.hasRepeats && (served.isActiveElsewhere(step, in: self) || !served.list(step))
  }

  /// Whether a report lists the target of a step that was removed by another registration.
  private func isAddedAnew(_ step: RouteStep) -> Bool {
    listsEveryTarget && step.obstacle == .removed && listing.isAddedAnew(step)
  }

  /// Notes that the message has left for a target of this proxy.
  func noteLeft() {
    var next: RouteNode? = self
    while let node = next, !node.hasLeft {
      node.hasLeft = true
      next = node.outer
    }
  }

  /// Forgets what was posted, here and inside, so that the message can be sent once more.
  func forgetPosted() {
    for node in all() { (node.posted, node.hasLeft, node.served) = (nil, false, RepeatedTargets()) }
  }
}
