// Walk+Proxies.swift: a walk enters proxies among the targets, and leaves them.

extension Walk {
  /// The proxies behind a multicast that a target which was asked led to; `nil` where the message may not go there.
  func node(_ multicast: any MulticastSending, _ target: AnyObject, _ step: RouteStep) -> RouteNode? {
    let inner = multicast.beginMessage(selector)
    if let error = frame.node.proxies.refusal(of: inner, message.trail, count: root.count, target) {
      take(.failed(error), at: context(step, target))
      return nil
    }
    let proxies = ProxyChain(inner.core, in: frame.node.proxies, by: step.registration.takeUnretainedValue())
    return RouteNode.tree(
      inner, proxies, message.trail, listsEveryTarget: sink.listsEveryTarget, within: root)
  }

  /// Goes on with a multicast behind which room was not waited for, once that was done where the sender does.
  func enter(_ node: RouteNode, _ place: StepContext, awaits: Bool) -> Suspension? {
    if awaits, mayAwaitRoom { return .node(node, place) }
    enter(node, place)
    return nil
  }

  /// Goes on with the targets of a multicast, or with its hooks.
  func enter(_ node: RouteNode, _ place: StepContext?) {
    if node.route.isSurrounded {
      surrounded = (node, place)
    } else {
      begin(node, place)
    }
  }

  /// Begins with the targets of a proxy; what is on other contexts leaves first, unless the order of delivery is kept to.
  ///
  /// - Parameter stop: why nobody is to get the message: then targets are only listed.
  func begin(_ node: RouteNode, _ place: StepContext?, stop: DeliveryReport.SkipReason? = nil) {
    push(node, place, stop: stop)
    guard pay(.proxy, at: { $0.proxyContext }), frame.stop == nil else { return }
    if let refusal = node.route.route.prelude?.refusal {
      frame.index = node.route.count
      take(.failed(refusal), at: proxyContext)
    } else if !frame.isInOrder, stopNow == nil {
      postQueued(node)
    }
  }

  func push(_ node: RouteNode, _ place: StepContext?, stop: DeliveryReport.SkipReason? = nil) {
    let isInOrder = (frames.last?.isInOrder ?? message.request.isInOrder) || node.route.core.stopsAtFirst
    frames.append(Frame(node: node, isInOrder: isInOrder, place: place, stop: stop))
    lookThrough()
  }

  /// Gives back all places that were not used, and says which they were. A sender that waits for anything but room keeps no place
  /// that others may wait for, and takes them again afterwards.
  func giveBackRoom() -> [Place] {
    keepsRoom ? ([root] + frames.lazy.map(\.node).filter(\.isFirst)).flatMap { giveBackRoom(in: $0) } : []
  }

  /// Takes such places again, unless nobody further is to get the message.
  nonisolated(nonsending) func takeRoom(_ places: [Place]) async throws {
    if !isEnough, frames.first?.stop == nil { try await reserve(places) }
  }

  /// Leaves frames whose message has ended with an error.
  func leaveFrames(to depth: Int) {
    while frames.count > depth {
      frame.trail?.end()
      giveBackUnused()
      frames.removeLast()
    }
  }

  /// Gives back the places that were kept for targets of the frame's proxy, and of those inside, and were not needed.
  private func giveBackUnused() { if keepsRoom { giveBackRoom(in: frame.node) } }

  /// Ends the way along one route.
  func leave(to base: Int) {
    let route = frame.node.route
    for (target, error) in route.route.prelude?.failures ?? [] {
      take(.failed(error), at: StepContext(selector: selector, proxies: frame.node.proxies, target: target))
    }
    frame.trail?.end()
    giveBackUnused()
    if frame.dead + frame.skipped > 0 { route.core.end(route, dead: frame.dead, skipped: frame.skipped) }
    if frames.count == 1, frame.place == nil { return frames.removeAll(keepingCapacity: true) }
    let left = frames.removeLast()
    if let place = left.place, left.stop != nil {
      // What keeps targets from the message keeps an empty proxy from it as well.
      if !left.isListed, sink.listsEveryTarget {
        take(.skipped(.first(left.stop, .doesNotRespond)), at: place)
      }
    } else if let place = left.place, !left.reached, !isEnough, !isSpent {
      do {
        try route.core.answerSilence(selector)
        // A proxy is listed itself where none of its targets is.
        if !left.isListed || !sink.listsEveryTarget { take(.skipped(.doesNotRespond), at: place) }
      } catch {
        // It happened in the inner proxy, whose handler comes first.
        take(.failed(error), at: place.within(left.node.proxies))
      }
    }
    // The outcome of a proxy with hooks is said by its hooks.
    guard frames.count > base else { return hasFailedInside = left.failed }
    frame.isListed = frame.isListed || left.isListed
    if left.failed { noteFailure() } else if left.reached { frame.reached = true }
  }
}
