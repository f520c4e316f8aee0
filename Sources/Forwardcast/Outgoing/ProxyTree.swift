// ProxyTree.swift: the proxies that one message passes.

/// The proxies that one message passes. A proxy is listed once for each path to it.
///
/// Proxies are found before anything is sent, so cycles and depth are known in advance. Targets
/// that join a nested proxy later do not get the message. Two kinds of proxies are added while the
/// message is sent: a multicast that a queried target returns, and an extension point that has just
/// created observers.
struct ProxyTree {
  let root: ProxyNode
  private(set) var count = 0
  private(set) var hasQueued = false
  /// True if the message may create observers or must query objects. Proxies, perhaps with queued
  /// targets, may then be added later.
  private(set) var mayGrow = false

  /// - Parameter isSent: false to find the proxies without sending a message.
  init(
    _ route: MessageRoute, _ path: ProxyChain, for request: DeliveryRequest, _ trail: ProxyTrail?, isSent: Bool = true
  ) {
    root = ProxyNode(route, path, number: 0, keepsOrder: request.keepsOrder, listsUnmatched: request.listsEveryTarget)
    fill(from: root, request, trail, isSent: isSent)
  }

  /// Adds a multicast that a queried target of `outer` returned, or new observers of `outer`.
  mutating func add(
    _ route: MessageRoute, _ path: ProxyChain, in outer: ProxyNode, for request: DeliveryRequest, _ trail: ProxyTrail?
  ) -> ProxyNode {
    let node = ProxyNode(
      route, path, number: count, keepsOrder: outer.keepsOrder, listsUnmatched: request.listsEveryTarget)
    fill(from: node, request, trail)
    return node
  }

  private mutating func fill(
    from first: ProxyNode, _ request: DeliveryRequest, _ trail: ProxyTrail?, isSent: Bool = true
  ) {
    enter(first)
    guard first.plan?.asked.isEmpty == false else { return }
    var open = [first]
    while let node = open.popLast() {
      assert(node.number < count, "proxies are numbered in the order in which they are found")
      for (index, cast) in node.plan?.asked ?? [] {
        let step = node.route.steps[index]
        // A queued multicast is an ordinary target.
        guard step.queued == nil, step.isActive || request.listsEveryTarget, let target = step.target,
          let multicast = cast?.multicast ?? target as? any MulticastSending
        else { continue }
        do { try trail?.budget?.charge(.question) } catch { return node.add(.refused(error), at: index) }
        // No observers are created for a proxy that is only listed.
        let inner =
          isSent && step.isActive && node.isReached
          ? multicast.beginMessage(node.route.selector) : multicast.route(for: node.route.selector)
        if let error = node.path.refusal(of: inner, trail, count: count, target) {
          node.add(.refused(error), at: index)
          continue
        }
        let child = ProxyNode(
          inner, ProxyChain(inner.core, in: node.path, by: step.registration.takeUnretainedValue()), number: count,
          keepsOrder: node.keepsOrder, listsUnmatched: request.listsEveryTarget,
          isReached: node.isReached && step.isActive)
        node.add(.proxy(child), at: index)
        enter(child)
        open.append(child)
      }
    }
  }

  private mutating func enter(_ node: ProxyNode) {
    count += 1
    hasQueued = hasQueued || !(node.plan?.groups.isEmpty ?? true)
    mayGrow = mayGrow || node.route.makesObservers || node.route.route.hasForwarders
  }

  /// True if any proxy has hooks that may change known outcomes.
  var hasHooks: Bool { root.all.contains(where: \.hasHooks) }

  var queuedTargets: [Registration] { root.queuedTargets }
}

/// One proxy on a message's path.
// Immutable once its tree is filled.
final class ProxyNode {
  enum Child {
    case proxy(ProxyNode)
    /// The error, such as a cycle, that keeps the message out of the proxy.
    case refused(any Error)
  }

  /// A registration without a step for the message. Its target does not get the message.
  struct Unmatched {
    let registration: Registration
    /// The target, if the registration was strong when the message began.
    let strong: AnyObject?
  }

  let number: Int
  let route: MessageRoute
  let path: ProxyChain
  /// The plan of the queued steps and loops; `nil` if one loop serves all steps.
  let plan: DeliveryPlan?
  /// True if this or an enclosing proxy serves its targets strictly in delivery order.
  let keepsOrder: Bool
  /// True if the message enters the proxy. Otherwise its targets are only listed.
  let isReached: Bool
  let unmatched: [Unmatched]
  private(set) var children: [(step: Int, value: Child)] = []

  fileprivate init(
    _ route: MessageRoute, _ path: ProxyChain, number: Int, keepsOrder: Bool, listsUnmatched: Bool,
    isReached: Bool = true
  ) {
    (self.route, self.path, self.number, self.isReached) = (route, path, number, isReached)
    self.keepsOrder = keepsOrder || route.core.stopsAtFirst
    plan = route.route.loopType != nil && !route.route.traits.hasIsolated ? nil : route.core.plan(route)
    unmatched =
      listsUnmatched && route.route.leavesOut
      ? route.unmatched.map { Unmatched(registration: $0, strong: $0.isStrong ? $0.currentTarget : nil) } : []
  }

  fileprivate func add(_ child: Child, at step: Int) {
    assert(children.last.map { $0.step < step } ?? true, "children are found in the order of their steps")
    children.append((step, child))
  }

  /// True if a report lists neither nested proxies nor unmatched registrations of this proxy.
  var listsNothing: Bool { children.isEmpty && unmatched.isEmpty }

  /// True if there is a trace, or a hook other than a `before` hook.
  var hasHooks: Bool { route.isSurrounded && !(route.route.around?.isBefore ?? true) }

  func child(at step: Int) -> Child? {
    if children.isEmpty { return nil }
    let place = children.partitioningIndex { $0.step >= step }
    return place < children.count && children[place].step == step ? children[place].value : nil
  }

  /// The group of a queued step, and the step's index in the group.
  func location(of step: Int) -> (group: DeliveryGroup, place: Int)? {
    guard let plan, let (group, place) = plan.locations[step] else { return nil }
    return (plan.groups[group], place)
  }

  /// This proxy and the nested proxies that the message may enter, outermost first.
  var all: [ProxyNode] {
    var found = [self]
    var index = 0
    while index < found.count {
      for case (_, .proxy(let child)) in found[index].children where child.isReached { found.append(child) }
      index += 1
    }
    return found
  }

  /// The active queued steps of this proxy and its nested proxies, with the steps' groups.
  var queuedSteps: [(step: RouteStep, group: DeliveryGroup)] {
    all.flatMap { $0.plan?.groups ?? [] }.flatMap { group in group.steps.filter(\.isActive).map { ($0, group) } }
  }

  var queuedTargets: [Registration] { queuedSteps.map { $0.step.registration.takeUnretainedValue() } }

  /// True if a queued step of this proxy or of a nested proxy satisfies a condition.
  func hasQueued(_ condition: (RouteStep) -> Bool) -> Bool {
    all.contains { ($0.plan?.groups ?? []).contains { $0.steps.contains(where: condition) } }
  }

  /// Describes a target that must be awaited; `nil` if there is none. Ignores queried targets.
  var awaitedTarget: String? {
    for (step, group) in queuedSteps where !group.runsNow {
      if let target = step.target { return "\(typeName(of: target)) on \(group.mailbox.context.name)" }
    }
    for route in all.map(\.route) {
      for index in 0..<route.count where route.steps[index].isActive && route.steps[index].queued == nil {
        let step = route.steps[index]
        if let method = step.method?.takeUnretainedValue(), !method.isolation.isSender, let target = step.target,
          !method.canRun(on: target)
        {
          return "the method of \(typeName(of: target)), which runs \(method.isolation.place),"
        }
      }
    }
    return nil
  }
}

extension DeliveryGroup {
  /// True if the only target is automatic and may run now, since the sender is on its context.
  var runsNow: Bool { steps.count == 1 && steps[0].queued?.runsNow(steps[0]) ?? false }
}
