// RouteNode+Listing.swift: lists targets that are not asked any more.

extension RouteNode {
  /// Tells of the proxy's targets that are not asked any more, and of those of nested proxies, without recursion.
  ///
  /// - Parameters:
  ///   - stop: why the message does not reach them; `nil` when it waits for the proxy's context.
  ///   - place: the proxy's own, which is listed if it has no targets.
  ///   - walk: the message's walk in this proxy, if it may have left for some targets or come to some.
  func list(
    _ stop: DeliveryReport.SkipReason?, at place: StepContext?, in walk: Walk? = nil, to taker: OutcomeLog
  ) {
    list(Listing(self, stop, at: place, in: walk), to: taker)
  }

  private func list(_ listing: Listing, to taker: OutcomeLog) {
    var open = [listing]
    while let last = open.indices.last {
      if let inner = open[last].next(to: taker) { open.append(inner) } else { open.removeLast() }
    }
  }

  /// How far the targets of one proxy have been told of.
  private struct Listing {
    let node: RouteNode
    let stop: DeliveryReport.SkipReason?
    let place: StepContext?
    let walk: Walk?
    let areSteps: Bool
    /// Whether the message has come to the proxy.
    private let isHere: Bool
    private let listed: RepeatedTargets
    private var left: ArraySlice<LeftOut>
    private var index: Int
    private var isEmpty = true

    @inline(never) init(
      _ node: RouteNode, _ stop: DeliveryReport.SkipReason?, at place: StepContext?, in walk: Walk? = nil,
      areSteps: Bool = true
    ) {
      (self.node, self.stop, self.place, self.walk, self.areSteps) = (node, stop, place, walk, areSteps)
      isHere = walk.map { $0.depth > 0 && $0.node === node } ?? false
      listed = walk == nil ? RepeatedTargets() : node.served
      let way = isHere ? node.frame : Frame()
      (left, index) = (node.leftOut[way.nextLeftOut...], way.index)
    }

    private var namesTargets: Bool { walk?.listsEveryTarget ?? true }

    /// Continues to a nested proxy, whose targets are to be told of next; `nil` when all have been told of.
    mutating func next(to taker: OutcomeLog) -> Listing? {
      while index <= node.route.count {
        while let next = left.first, next.before <= index {
          left.removeFirst()
          let (isThere, inner) = node.tell(next, stop, to: taker)
          if isThere { isEmpty = false }
          if let inner { return inner }
        }
        defer { index += 1 }
        if index < node.route.count, let inner = step(to: taker) { return inner }
      }
      if walk != nil, !isHere, node.listFailures(to: taker) { isEmpty = false }
      if isEmpty, namesTargets, let place {
        taker.tell(.skipped(.first(stop, .doesNotRespond)), place, isStep: areSteps)
      }
      return nil
    }

    private mutating func step(to taker: OutcomeLog) -> Listing? {
      let step = node.route.steps[index]
      // What was posted left before anybody was served.
      if let walk, node.posted != nil, step.queued != nil {
        let told = walk.toldCount
        let isPosted = walk.takePosted(step, index, node)
        isEmpty = isEmpty && walk.toldCount == told
        if isPosted { return nil }
      }
      let lists = namesTargets || stop == .removed || stop == .muted
      let target = step.target
      let own = step.obstacle ?? (target == nil ? .dead : nil)
      var reason = stop.map { .first(own, $0) } ?? own
      let isElsewhere =
        own != nil && own != .dead && (listed.isActiveElsewhere(step, in: node) || node.isAddedAnew(step))
      let isListed =
        !isElsewhere && (!node.route.route.hasRepeats || (reason == nil ? listed.enter(step) : listed.list(step)))
      let isQueued = walk?.isQueued ?? true
      let context = StepContext(
        step, of: node.route.selector, in: node.proxies, namesTargets ? target : nil, isQueued: isQueued)
      if case .node(let child)? = node.nested(at: index),
        isListed && lists && reason != .dead || walk != nil && !child.isAway && child.hasLeft
      {
        isEmpty = false
        return Listing(child, reason, at: context, in: child.isAway ? nil : walk, areSteps: areSteps)
      }
      guard isListed, lists else { return nil }
      // Targets out of reach are not asked.
      if reason == .withheld || reason == .stopped, step.method == nil, let target,
        !answers(target, node.route.selector)
      {
        reason = .doesNotRespond
      }
      isEmpty = false
      taker.tell(reason.map { .skipped($0) } ?? .queued(slot: -1), context, isStep: areSteps)
      return nil
    }
  }

  /// Tells of a registration without a step, or of the targets of a multicast that is one. `false` when its target has died.
  @discardableResult
  func list(_ leftOut: LeftOut, _ stop: DeliveryReport.SkipReason?, to taker: OutcomeLog) -> Bool {
    let (isThere, inner) = tell(leftOut, stop, to: taker)
    if let inner { list(inner, to: taker) }
    return isThere
  }

  /// The same, except that the listing of a multicast's targets is returned.
  @inline(never) private func tell(_ leftOut: LeftOut, _ stop: DeliveryReport.SkipReason?, to taker: OutcomeLog)
    -> (isThere: Bool, inner: Listing?)
  {
    let registration = leftOut.registration
    guard let target = leftOut.strong ?? registration.currentTarget else { return (false, nil) }
    let own = registration.reasonToLeaveOut(route.selector)
    let reason = stop.map { .first(own, $0) } ?? own
    let place = StepContext(
      selector: route.selector, proxies: proxies, registration: registration, target: target,
      isQueued: registration.queued != nil)
    if let node = leftOut.node { return (true, Listing(node, reason, at: place, areSteps: false)) }
    taker.tell(.skipped(reason), place, isStep: false)
    return (true, nil)
  }

  /// Tells of observers that could not be made for the message. `false` when there are none.
  func listFailures(to taker: OutcomeLog) -> Bool {
    let failures = route.route.prelude?.failures ?? []
    for (target, error) in failures {
      let place = StepContext(selector: route.selector, proxies: proxies, target: target)
      taker.tell(.failed(error), place, isStep: true)
    }
    return !failures.isEmpty
  }

  /// ``list(_:at:in:to:)`` where the message is not here.
  func outcomes(_ stop: DeliveryReport.SkipReason?, at place: StepContext) -> [Outcome] {
    let found = OutcomeLog()
    list(stop, at: place, to: found)
    return found.log
  }
}
