// ModelDeterminism.swift: which worlds have one outcome only.

extension ModelWorld {
  /// Whether every schedule that the library may choose gives what the simulation predicts.
  ///
  /// Queues run at the same time: what one target does to another has one outcome only where both are on one queue, or
  /// where the one acts in the sender's turn while the queues are held.
  var isDetermined: Bool { isDetermined(root, within: []) }

  private func isDetermined(_ proxy: ModelProxy, within ancestors: [Int]) -> Bool {
    proxy.targets.allSatisfy { target in
      if target.condition == .dead, target.isStrong { return false }
      // Where a proxy for one is asked, before it is queued or on its queue, is open.
      if target.isForwarded, target.kind == .silent, !runsInTurn(target) { return false }
      if let inner = target.proxy {
        return target.act == nil && !target.place.isAutomatic && isDetermined(inner, within: ancestors + [target.id])
          && (target.place == .direct || isDeterminedOnQueue(inner))
      }
      guard let act = target.act else { return true }
      switch act {
      case .add: return true
      case .send: return runsInTurn(target) && !target.suspends
      case .remove(let id), .mute(let id):
        return !target.suspends && isDetermined(target, changes: id, of: proxy, within: ancestors)
      case .kill(let id):
        guard let victim = root.all.first(where: { $0.id == id }), victim.proxy == nil else { return false }
        // What lists or waits for a target keeps it alive for a while: until after a message that is sent meanwhile.
        if root.all.contains(where: { $0.act == .send }) { return false }
        return !target.suspends && runsInTurn(target) && (runsInTurn(victim) || victim.keepsPending)
          && isDetermined(target, changes: id, of: proxy, within: ancestors)
      }
    }
  }

  /// Whether an inner proxy that is itself on a queue has one outcome. Its targets run in the turn of that queue.
  private func isDeterminedOnQueue(_ proxy: ModelProxy) -> Bool {
    // An error of another queue ends the message for those who come later, whoever comes first.
    let isQueuedInside = proxy.all.contains { $0.place != .direct }
    if stopsAtFirst, isQueuedInside { return false }
    // One that is asked holds up the next message to the proxy, but not what the proxy has queued for others.
    let isSentAgain = root.all.contains { $0.act == .send }
    if isSentAgain, isQueuedInside, proxy.all.contains(where: \.isForwarded) { return false }
    return proxy.all.allSatisfy { target in
      if target.act != nil { return false }
      if target.proxy != nil { return target.place == .direct }
      return !target.place.isAutomatic && !(target.suspends && target.place == .direct)
    }
  }

  /// Whether any of the proxies stops at the first error.
  private var stopsAtFirst: Bool {
    root.stopsAtFirst || root.all.contains { $0.proxy?.stopsAtFirst ?? false }
  }

  /// Whether an inner proxy is on a queue. What it does there is not known to a sender that does not wait.
  var hasQueuedProxy: Bool { root.all.contains { $0.proxy != nil && $0.place != .direct } }

  private func isDetermined(_ target: ModelTarget, changes id: Int, of proxy: ModelProxy, within ancestors: [Int])
    -> Bool
  {
    guard let victim = root.all.first(where: { $0.id == id }), !ancestors.contains(id), !hasQueuedProxy else {
      return false
    }
    let isSibling = proxy.targets.contains { $0.id == id }
    // Whether an inner proxy was silent is found out before its queued targets have run.
    if isSibling, proxy.id != 0, proxy.silence != .ignored, !runsInTurn(victim) { return false }
    guard runsInTurn(target) else {
      return isSibling && victim.proxy == nil && !victim.suspends && victim.place.queue == target.place.queue
    }
    if let inner = victim.proxy { return inner.all.allSatisfy { $0.proxy != nil || runsInTurn($0) } }
    return isSibling || runsInTurn(victim)
  }

  private func runsInTurn(_ target: ModelTarget) -> Bool {
    target.place.queue == nil || target.place == .automatic1 && sender == .onQueue1 && !target.needsOwnTurn
  }
}
