// RouteNode.swift: the proxies that one message passes, each with its route.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

/// One multicast that a message passes: the one it was sent to, or one among the targets of another.
///
/// All are found when the message begins, so that targets which join a nested proxy later are not among them either, and
/// so that rings and depth are known before anything is sent.
final class RouteNode {
  let route: MessageRoute
  /// This proxy and those around it.
  let proxies: ProxyChain
  /// The multicasts among the steps.
  private(set) var nested = ByStep<Nested>()
  /// What became of steps on other contexts when all were posted at once. A step that is not here was simply queued.
  var posted: ByStep<Posted>?
  /// Steps for which the sender has a place in the target's buffer.
  var reserved = ByStep<Bool>()
  /// Targets that the message was posted to, where one may be registered more than once.
  var served = RepeatedTargets()
  /// Which group of the plan a step is posted with, when each is posted in its turn.
  private lazy var locations: ByStep<(group: DeliveryGroup, place: Int)> = {
    var locations = ByStep<(group: DeliveryGroup, place: Int)>()
    for group in plan.groups {
      for (place, index) in group.indices.enumerated() { locations[index] = (group, place) }
    }
    return locations
  }()
  private(set) lazy var plan: DeliveryPlan = route.core.plan(route)

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
  }

  init(_ route: MessageRoute, in outer: ProxyChain?) {
    self.route = route
    proxies = ProxyChain(route.core, in: outer)
  }

  func location(of index: Int) -> (group: DeliveryGroup, place: Int)? { locations[index] }

  /// How many nested proxies one message may pass, each as often as there are ways to it.
  static let maximumCount = 65_536

  /// The nodes of a message that was sent to the proxy of `route`, the outermost first.
  ///
  /// - Parameters:
  ///   - trail: the proxies that the message came through by hooks.
  ///   - passed: how many it has passed, when it is on its way through hooks of nested proxies.
  static func tree(_ route: MessageRoute, in outer: ProxyChain?, _ trail: ProxyTrail?, passed: PassedProxies?)
    -> [RouteNode]
  {
    var nodes = [RouteNode(route, in: outer)]
    defer { passed?.count += nodes.count }
    var index = 0
    while index < nodes.count {
      let node = nodes[index]
      index += 1
      guard node.route.route.hasNested, !node.route.isSurrounded else { continue }
      for place in 0..<node.route.count {
        let step = node.route.steps[place]
        guard step.method == nil, step.queued == nil, step.isActive, let target = step.target,
          let multicast = target as? any MulticastSending
        else { continue }
        do { try trail?.budget?.charge(.question) } catch {
          node.nested[place] = .refused(error)
          return nodes
        }
        let inner = multicast.beginMessage(node.route.selector)
        let count = nodes.count + (passed?.count ?? 0)
        if let error = refusal(inner, in: node.proxies, trail, count: count, target) {
          node.nested[place] = .refused(error)
        } else {
          let child = RouteNode(inner, in: node.proxies)
          node.nested[place] = .node(child)
          nodes.append(child)
        }
      }
    }
    return nodes
  }

  /// Why a message does not go from a proxy on to a multicast among its targets, if it does not.
  static func refusal(
    _ inner: MessageRoute, in proxies: ProxyChain, _ trail: ProxyTrail?, count: Int, _ target: AnyObject
  ) -> MessageError? {
    if proxies.contains(inner.core) || trail?.contains(inner.core) ?? false {
      return .cycle(inner.selector, through: target)
    }
    if proxies.depth >= ProxyChain.maximumDepth {
      return .tooManyProxies(
        inner.selector, target, "they lie more than \(ProxyChain.maximumDepth) deep in one another")
    }
    if count >= maximumCount {
      return .tooManyProxies(inner.selector, target, "one message passes more than \(maximumCount)")
    }
    return nil
  }
}

/// Something for a few steps of one route, or for many. Without any it takes no memory.
struct ByStep<Element> {
  private(set) var elements: [Element?] = []

  subscript(index: Int) -> Element? {
    get { index < elements.count ? elements[index] : nil }
    set {
      if index >= elements.count { elements += repeatElement(nil, count: index + 1 - elements.count) }
      elements[index] = newValue
    }
  }
}

/// Targets that got a message, where one is registered more than once with one delivery, for other selectors each time: a
/// message that several of its registrations are for arrives once.
struct RepeatedTargets {
  private var found: [ObjectIdentifier: [Registration]] = .init()

  /// Enters a registration. `false` when its target has the message by another one.
  mutating func enter(_ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    let others = found[registration.key] ?? []
    if others.contains(where: { $0.delivery == registration.delivery }) { return false }
    found[registration.key] = others + [registration]
    return true
  }
}

/// How many nested proxies one message has passed, where hooks divide its way. Stays in the turn of the message.
final class PassedProxies {
  fileprivate(set) var count: Int

  init(_ count: Int) { self.count = count }
}

extension MessageError {
  static func tooManyProxies(_ selector: MessageSelector, _ proxy: AnyObject, _ evidence: String) -> MessageError {
    MessageError(.tooManyProxies, receiver: typeName(of: proxy), selector: selector.name, evidence: evidence)
  }
}
