// Walk+Proxies.swift: enters and leaves nested proxies.

extension Walk {
  /// The proxies behind a multicast that a target led to when asked; `nil` where the message may not go there.
  func node(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) -> RouteNode? {
    let inner = multicast.beginMessage(selector)
    if let error = proxies.refusal(of: inner, message.trail, count: root.count, target) {
      take(.failed(error), at: context(step, target))
      return nil
    }
    let chain = ProxyChain(inner.core, in: proxies, by: step.registration.takeUnretainedValue())
    return RouteNode.tree(
      inner, chain, message.trail, listsEveryTarget: listsEveryTarget, within: (root, node))
  }

  /// Continues with a multicast behind which room was not waited for; that is done first where the sender waits.
  func enter(_ node: RouteNode, _ target: AnyObject, awaits: Bool) {
    late.append(node)
    node.target = target
    if awaits, mayAwaitRoom { suspension = .node(node) } else { enter(node, target) }
  }

  /// Continues with the hooks of a multicast, if any are to run, or with its targets; queued messages leave first, unless the order
  /// of delivery is kept. `target` is the multicast as a target; `nil` for the proxy that the message was sent to.
  func enter(_ node: RouteNode, _ target: consuming AnyObject?, hooks: Bool = true) {
    node.target = target
    if hooks, node.route.isSurrounded { return surrounded = node }
    let isInOrder = depth > 0 ? self.node.frame.isInOrder : message.request.isInOrder
    node.frame = RouteNode.Frame(isInOrder: isInOrder || node.route.core.stopsAtFirst)
    (self.node, depth) = (node, depth + 1)
    if message.trail?.budget != nil, !payForProxy() { return }
    if let refusal = node.route.route.prelude?.refusal {
      node.frame.index = node.route.count
      take(.failed(refusal), at: proxyContext)
    } else if !node.frame.isInOrder, !proxies.isNested || proxies.obstacle == nil {
      postQueued(node)
    }
  }

  /// Gives back and returns all unused places. While it waits for anything but room, a sender keeps no place that others may wait
  /// for; it takes them again afterwards.
  func giveBackRoom() -> [Place] {
    exchange(&keepsRoom, with: false) ? ([root] + late).flatMap { giveBackRoom(in: $0) } : []
  }

  /// Takes such places again, unless no further target is to get the message.
  nonisolated(nonsending) func takeRoom(_ places: [Place]) async throws {
    if !isEnough, depth == 0 || root.frame.stop == nil { try await reserve(places) }
  }

  func leaveFrames(to depth: Int) { while self.depth > depth { leaveNode().target = nil } }

  /// Leaves the proxy that the message is in, and gives back unused places of its targets and those inside.
  private func leaveNode() -> RouteNode {
    let left = node
    left.frame.trail?.end()
    left.frame.trail = nil
    if keepsRoom { giveBackRoom(in: left) }
    // Nobody retains what is around a queued proxy.
    (node, depth) = (depth > 1 ? left.outer ?? root : root, depth - 1)
    return left
  }

  /// Ends the way along one route.
  func leave(to base: Int) {
    if node.route.route.prelude != nil { _ = node.listFailures(to: self) }
    let left = leaveNode()
    if left.frame.dead + left.frame.skipped > 0 {
      left.route.core.end(left.route, dead: left.frame.dead, skipped: left.frame.skipped)
    }
    if left.frame.stop == nil, !left.frame.reached, let place = place(of: left) { takeSilence(left, place) }
    left.target = nil
    // The outcome of a proxy with hooks is reported by its hooks.
    guard depth > base else { return hasFailedInside = left.frame.failed }
    node.frame.isListed = node.frame.isListed || left.frame.isListed
    if left.frame.failed { noteFailure() } else if left.frame.reached { node.frame.reached = true }
  }

  /// Takes the outcome of a nested proxy where nobody got the message. What stops a message lists whom it skips.
  private func takeSilence(_ left: RouteNode, _ place: StepContext) {
    guard !isEnough, !isSpent else { return }
    do {
      try left.route.core.answerSilence(selector)
      // A proxy is listed itself if none of its targets is.
      if !left.frame.isListed || !listsEveryTarget { take(.skipped(.doesNotRespond), at: place) }
    } catch {
      // It happened in the inner proxy, whose handler comes first.
      var inner = place
      inner.proxies = left.proxies
      take(.failed(error), at: inner)
    }
  }
}
