// MulticastCore+Questions.swift: responder queries across nested proxies.

extension MulticastCore {
  /// True if a live, unmuted target responds to `selector`, here or in a nested proxy. Queries each
  /// proxy once. Stops at the depth limit of messages.
  func isAnswered(_ selector: MessageSelector, _ proxy: AnyObject, in outer: MulticastCore? = nil) -> Bool {
    if outer === self { return false }
    let (isAnswered, hasForwarders) = tablesAnswer(selector)
    if isAnswered || !hasForwarders { return isAnswered }
    if ProxyQuestion.isOnItsWay(selector, through: self) { return true }
    return ProxyQuestion.ask(proxy, selector, otherwise: false) { forwardersAnswer(selector, in: outer) }
  }

  private func forwardersAnswer(_ selector: MessageSelector, in outer: MulticastCore?) -> Bool {
    var seen = Set([self, outer].compactMap { $0.map { ObjectIdentifier($0) } })
    var level = begin(selector).forwarders
    var depth = seen.count
    while !level.isEmpty, depth < ProxyChain.maximumDepth {
      var next: [AnyObject] = []
      for target in level {
        guard let multicast = target as? any MulticastSending else {
          if answers(target, selector) { return true }
          continue
        }
        let route = multicast.route(for: selector)
        guard seen.insert(ObjectIdentifier(route.core)).inserted else { continue }
        if route.route.prelude?.makesObservers ?? false { return true }
        let (isAnswered, hasForwarders) = route.core.tablesAnswer(selector)
        if isAnswered || ProxyQuestion.isOnItsWay(selector, through: route.core) { return true }
        if hasForwarders { next += route.forwarders }
      }
      level = next
      depth += 1
    }
    return false
  }

  func firstSignature(for selector: MessageSelector, _ proxy: AnyObject) -> MethodSignature? {
    ProxyQuestion.ask(proxy, selector, otherwise: nil) {
      begin(selector).first { target, method in
        if let method { return method.isRefusal ? nil : method.signature }
        return target is any MulticastSending || !answers(target, selector) ? nil : signature(of: target, selector)
      } otherwise: {
        $0.route.prelude?.signature
      }
    }
  }

  /// The registrations that respond to `selector`, in order, even if muted, dead or just removed.
  package func responding(to selector: MessageSelector) -> [Registration] {
    let route = begin(selector)
    return (0..<route.count).compactMap { index in
      let step = route.steps[index]
      let registration = step.registration.takeUnretainedValue()
      if step.method == nil, let target = registration.currentTarget, !wouldTake(target, selector) { return nil }
      return registration
    }
  }

  /// The number of live, unmuted registrations that respond. A nested multicast counts as one.
  @inline(never) func count(for selector: MessageSelector, onlyQueued: Bool = false) -> Int {
    let route = begin(selector)
    return (0..<route.count).count { index in
      let step = route.steps[index]
      guard step.isActive, !onlyQueued || step.queued != nil, let target = step.target else { return false }
      return step.method.map { !$0.takeUnretainedValue().isRefusal } ?? wouldTake(target, selector)
    }
  }

  /// True if `target`, which is queried for each message, would accept `selector`.
  @inline(never) func wouldTake(_ target: AnyObject, _ selector: MessageSelector) -> Bool {
    guard let multicast = target as? any MulticastSending else { return answers(target, selector) }
    let route = multicast.route(for: selector)
    return route.route.prelude?.makesObservers ?? false || route.core.isAnswered(selector, target, in: self)
  }
}
