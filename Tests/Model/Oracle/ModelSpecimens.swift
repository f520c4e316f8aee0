// ModelSpecimens.swift: what small worlds are made of.

/// Kinds of targets that small worlds are made of.
enum ModelSpecimens {
  private static func target(_ change: (inout ModelTarget) -> Void) -> ModelTarget {
    var target = ModelTarget()
    change(&target)
    return target
  }

  /// A few, of which worlds of three are made.
  static let few: [ModelTarget] = [
    target { _ in },
    target { $0.kind = .throwing },
    target { ($0.kind, $0.answer) = (.converting, 0) },
    target { $0.place = .queue1 },
    target { ($0.kind, $0.place) = (.throwing, .queue1) },
    target { $0.place = .queue2 },
    target { ($0.place, $0.answer) = (.automatic1, 0) },
    target { $0.act = .remove(1) },
  ]

  /// Many, of which worlds of two are made.
  static let many: [ModelTarget] =
    few + [
      target { $0.kind = .silent },
      target { $0.kind = .text },
      target { $0.kind = .unfit },
      target { $0.condition = .muted },
      target { ($0.condition, $0.place) = (.muted, .queue1) },
      target { $0.condition = .removed },
      target { $0.condition = .dead },
      target { ($0.condition, $0.place) = (.dead, .queue1) },
      target { $0.scope = .other },
      target { ($0.scope, $0.priority) = (.named, 1) },
      target { ($0.priority, $0.place) = (1, .queue1) },
      target { $0.kind = .suspending },
      target { ($0.kind, $0.place) = (.suspending, .queue1) },
      target { ($0.kind, $0.place) = (.suspendingAndThrowing, .queue2) },
      target { ($0.keepsPending, $0.place) = (true, .queue1) },
      target { ($0.act, $0.place) = (.remove(1), .queue1) },
      target { $0.act = .mute(1) },
      target { $0.act = .kill(1) },
      target { ($0.act, $0.isStrong) = (.kill(1), true) },
      target { $0.isForwarded = true },
      target { ($0.isForwarded, $0.kind, $0.place) = (true, .throwing, .queue1) },
      target { ($0.isForwarded, $0.kind) = (true, .silent) },
      target { ($0.isForwarded, $0.kind) = (true, .unfit) },
      target { ($0.isForwarded, $0.kind) = (true, .suspending) },
      target { ($0.isForwarded, $0.kind, $0.place) = (true, .suspending, .queue1) },
      target { $0.act = .add },
      target { $0.act = .send },
      target { ($0.kind, $0.act) = (.throwing, .send) },
    ]

  /// Every choice of options.
  static let options = [false, true].flatMap { stops in ModelProxy.Silence.allCases.map { (stops, $0) } }

  /// The given targets in a proxy, numbered; who acts on another acts on the one behind it, the last on the first.
  static func proxy(_ targets: [ModelTarget], stopsAtFirst: Bool = false, silence: ModelProxy.Silence = .ignored)
    -> ModelProxy
  {
    var proxy = ModelProxy()
    (proxy.stopsAtFirst, proxy.silence) = (stopsAtFirst, silence)
    for (index, var target) in targets.enumerated() {
      target.id = index + 1
      if target.answer > 0 { target.answer = index + 1 }
      let next = (index + 1) % targets.count + 1
      switch target.act {
      case .remove: target.act = .remove(next)
      case .mute: target.act = .mute(next)
      case .kill: target.act = .kill(next)
      case .add, .send, nil: break
      }
      proxy.targets.append(target)
    }
    return proxy
  }

  /// Every sequence of `count` targets.
  static func sequences(_ count: Int, of targets: [ModelTarget]) -> [[ModelTarget]] {
    count == 0 ? [[]] : sequences(count - 1, of: targets).flatMap { start in targets.map { start + [$0] } }
  }

  /// What inner proxies are made of.
  private static let inner: [ModelTarget] =
    few + [
      target { $0.kind = .silent },
      target { $0.kind = .unfit },
      target { $0.condition = .muted },
      target { $0.kind = .suspending },
    ]

  /// Proxies of up to two targets, with some of the options, as targets of others.
  static var innerProxies: [ModelTarget] {
    (sequences(0, of: inner) + sequences(1, of: inner) + sequences(2, of: few))
      .flatMap { targets in
        [
          (false, ModelProxy.Silence.ignored, false), (true, .ignored, true), (false, .thrown, true),
          (true, .thrown, false), (false, .handled, false),
        ]
        .filter { targets.count < 2 || $0.1 == .ignored }
        .map { stopsAtFirst, silence, hasHandler in
          var inner = proxy(targets, stopsAtFirst: stopsAtFirst, silence: silence)
          inner.hasHandler = hasHandler
          return target { $0.kind = .proxy(inner) }
        }
      }
  }

  /// Proxies with that target, alone and with others before and behind it.
  static func around(_ inner: ModelTarget, stopsAtFirst: Bool) -> [ModelProxy] {
    let muted = inner.proxy?.targets.count == 1 ? [target { ($0.kind, $0.condition) = (inner.kind, .muted) }] : []
    let queued = target { ($0.kind, $0.place) = (inner.kind, .queue1) }
    let surroundings: [[ModelTarget]] =
      [
        [inner], [few[0], inner], [few[3], inner], [inner, few[0]], [inner, few[3]], [few[1], inner],
      ] + muted.map { [$0] } + (inner.proxy?.targets.count == 1 ? [[few[0], queued], [queued, few[3]]] : [])
    return surroundings.map { targets in
      var root = proxy(targets, stopsAtFirst: stopsAtFirst)
      root.renumber()
      return root
    }
  }
}

extension ModelProxy {
  /// Takes away what an inner proxy may do to its targets, at any depth.
  mutating func makePlain() {
    for index in targets.indices {
      guard var inner = targets[index].proxy else { continue }
      (inner.stopsAtFirst, inner.silence, inner.hasHandler) = (stopsAtFirst, .ignored, false)
      inner.makePlain()
      for index in inner.targets.indices { inner.targets[index].priority = 0 }
      targets[index].kind = .proxy(inner)
      targets[index].condition = .active
      targets[index].scope = .everything
      targets[index].place = .direct
    }
  }

  /// Numbers all targets at any depth anew, so that none has the number of another.
  fileprivate mutating func renumber() {
    var last = 0
    func renumber(_ proxy: inout ModelProxy) {
      var numbers: [Int: Int] = [:]
      for index in proxy.targets.indices {
        last += 1
        numbers[proxy.targets[index].id] = last
        proxy.targets[index].id = last
        if proxy.targets[index].answer > 0 { proxy.targets[index].answer = last }
        guard var inner = proxy.targets[index].proxy else { continue }
        inner.id = last
        renumber(&inner)
        proxy.targets[index].kind = .proxy(inner)
      }
      for index in proxy.targets.indices {
        guard case .remove(let old)? = proxy.targets[index].act else { continue }
        proxy.targets[index].act = .remove(numbers[old] ?? 0)
      }
    }
    renumber(&self)
  }
}
