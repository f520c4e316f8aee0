// ModelGenerator.swift: random large worlds.

import TestSupport

/// Makes worlds from a seed.
struct ModelGenerator {
  /// A few seeds that are always the same; a test's name shows its seed.
  ///
  /// `FORWARDCAST_MODEL_SEEDS=17` runs one again, and `FORWARDCAST_MODEL_SEEDS=1-500` many.
  static let seeds: [UInt64] = {
    let bounds = (setting("FORWARDCAST_MODEL_SEEDS") ?? "").split(separator: "-")
      .compactMap { UInt64($0) }
    guard let first = bounds.first, let last = bounds.last, first <= last else {
      return Bounds.areFull ? [1, 2, 3, 4, 5, 6] : [1, 2, 3]
    }
    return Array(first...last)
  }()

  private var random: SeededGenerator
  private var last = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// `true` once in `count` times.
  private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  /// A world that has one outcome, of up to so many targets in each proxy, proxies up to `depth` within one another.
  mutating func world(depth: Int, targets: Int) -> ModelWorld {
    last = 0
    var world = ModelWorld()
    world.root = proxy(0, depth: depth, targets: targets)
    world.root.hasHandler = true
    world.sender = one(in: 5) ? .onQueue1 : .outside
    world.isWarm = one(in: 3)
    let all = world.root.all
    for target in all where target.proxy == nil && one(in: 4) {
      guard let act = act(of: target, in: world, among: all) else { continue }
      var changed = world
      changed.root.change(target.id) { $0.act = act }
      if changed.isDetermined { world = changed }
    }
    return world
  }

  private mutating func proxy(_ id: Int, depth: Int, targets: Int) -> ModelProxy {
    var proxy = ModelProxy()
    proxy.id = id
    proxy.stopsAtFirst = one(in: 4)
    proxy.silence = one(in: 3) ? (one(in: 2) ? .thrown : .handled) : .ignored
    proxy.hasHandler = one(in: 2)
    // Deliveries that travel alone are posted behind others, which is known; some worlds are to be without.
    let (travelsAlone, isPlain) = (one(in: 3), !one(in: 4))
    let throwing = one(in: 2) ? 3 : 12
    for _ in 0..<Int.random(in: 0...targets, using: &random) {
      last += 1
      var target = ModelTarget()
      target.id = last
      if depth > 1, one(in: 4) {
        let inner = self.proxy(last, depth: depth - 1, targets: max(targets * 2 / 3, 2))
        target.kind = .proxy(inner)
        var onQueue = ModelWorld()
        onQueue.root.targets = [target]
        onQueue.root.targets[0].place = one(in: 2) ? .queue1 : .queue2
        if one(in: 3), onQueue.isDetermined { target = onQueue.root.targets[0] }
      } else {
        target.kind = kind(throwing: throwing)
        target.isForwarded = one(in: 8)
        target.place = one(in: 2) ? .direct : ModelPlace.allCases.randomElement(using: &random) ?? .direct
        target.keepsPending = target.place.queue != nil && one(in: 4)
        if isPlain, let queue = target.place.queue {
          target.keepsPending = travelsAlone
          if !travelsAlone { target.place = queue == .queue1 ? .queue1 : .queue2 }
        }
        target.answer = one(in: 3) ? 0 : target.id % 100
      }
      target.priority = one(in: 4) ? Int.random(in: -1...2, using: &random) : 0
      target.condition = one(in: 6) ? ModelTarget.Condition.allCases.randomElement(using: &random) ?? .active : .active
      target.isStrong = target.condition != .dead && one(in: 4)
      target.scope = one(in: 8) ? ModelTarget.Scope.allCases.randomElement(using: &random) ?? .named : .everything
      // Whom a report lists of a proxy that the message is not for, `ForwardcastModelTests` says.
      if target.proxy != nil, target.scope == .other { target.scope = .named }
      proxy.targets.append(target)
    }
    return proxy
  }

  private mutating func kind(throwing: Int) -> ModelTarget.Kind {
    if one(in: throwing) { return .throwing }
    if one(in: 2) { return .typed }
    let others: [ModelTarget.Kind] = [
      .converting, .converting, .text, .unfit, .silent, .suspending, .suspendingAndThrowing, .typed,
    ]
    return others.randomElement(using: &random) ?? .typed
  }

  private mutating func act(of target: ModelTarget, in world: ModelWorld, among all: [ModelTarget]) -> ModelTarget.Act?
  {
    guard let victim = all.randomElement(using: &random) else { return nil }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1, 2: return .remove(victim.id)
    case 3, 4: return .mute(victim.id)
    case 5: return .kill(victim.id)
    case 6: return .add
    // A message that is sent again by many would not end soon.
    default: return all.contains { $0.act == .send } ? nil : .send
    }
  }
}

extension ModelProxy {
  /// Changes one target, at whatever depth.
  mutating func change(_ id: Int, _ body: (inout ModelTarget) -> Void) {
    for index in targets.indices {
      if targets[index].id == id { body(&targets[index]) }
      guard var inner = targets[index].proxy else { continue }
      inner.change(id, body)
      targets[index].kind = .proxy(inner)
    }
  }
}
