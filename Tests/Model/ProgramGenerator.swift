// ProgramGenerator.swift: random programs over small worlds.

import TestSupport

/// Makes one program of one seed.
struct ProgramGenerator {
  private var random: SeededGenerator
  private var additions = 0
  private var hooks = 0
  private var suspends = false
  /// Which kinds of things the program has at all: so that many programs are simple in most respects.
  private var has: Set<Part> = []

  private enum Part: CaseIterable {
    case nesting, queues, hooks, waiting, buffers, errors, callbacks, deaths, scopes, options, rows
  }

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static func program(seed: UInt64) -> Program {
    var generator = ProgramGenerator(seed: seed)
    return generator.make()
  }

  private mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }
  private mutating func one<T>(of all: [T]) -> T { all[random.below(all.count)] }

  private mutating func make() -> Program {
    has = Set(Part.allCases.filter { _ in chance(45) })
    let proxies = (0..<3).map { index in
      ProxySetup(
        allowsDuplicates: has.contains(.options) && chance(20),
        silenceIsThrown: has.contains(.options) && index == 0 && chance(25),
        stopsAtFirst: has.contains(.options) && chance(25), hasErrorHandler: index == 0 || chance(70))
    }
    var steps: [Step] = []
    for _ in 0..<(2 + random.below(4)) { steps.append(.act(addTarget())) }
    if has.contains(.nesting) { for _ in 0..<(1 + random.below(3)) { steps.append(.act(addProxy())) } }
    if has.contains(.hooks) { for _ in 0..<(1 + random.below(2)) { steps.append(.act(.hook(hook()))) } }
    steps.shuffle(using: &random)
    for _ in 0..<(2 + random.below(5)) {
      switch random.below(10) {
      case 0...4: steps.append(.act(.send(send())))
      case 5...7: steps.append(.act(change()))
      case 8: steps.append(.run(random.below(Program.contexts)))
      default: steps.append(.question(one(of: Word.allCases), random.below(3)))
      }
    }
    steps.append(.act(.send(send())))
    let targets = (0..<5).map { _ in
      var target = TargetSetup()
      target.shape = chance(25) ? one(of: [.noVote, .voteOnly]) : has.contains(.rows) && chance(40) ? .own : .all
      target.vote = chance(70)
      target.throwsError = has.contains(.errors) && chance(30)
      if has.contains(.callbacks), chance(40) {
        target.actions = (0..<(1 + random.below(2))).map { _ in callback() }
      }
      return target
    }
    return Program(proxies: proxies, targets: targets, steps: steps).withoutWhatIsOpen
  }

  // MARK: - Actions

  private mutating func addTarget() -> Action {
    add(.target(random.below(5)), to: has.contains(.nesting) ? random.below(3) : 0)
  }

  private mutating func addProxy() -> Action {
    let (inner, outer) = one(of: [(1, 0), (1, 0), (2, 0), (2, 1)])
    return add(.proxy(inner), to: outer)
  }

  private mutating func add(_ object: Object, to proxy: Int) -> Action {
    additions += 1
    var addition = Addition(object: object, proxy: proxy)
    if has.contains(.queues), chance(40) { addition.context = random.below(Program.contexts) }
    if chance(25) { addition.priority = random.below(3) - 1 }
    if has.contains(.scopes), chance(30) {
      addition.only = Word.allCases.filter { _ in chance(60) }
      if addition.only?.isEmpty ?? false { addition.only = [.ask] }
    }
    if has.contains(.deaths) {
      addition.isStrong = chance(15)
      addition.deliversPending = addition.context != nil && chance(15)
    }
    guard addition.context != nil, has.contains(.buffers), case .target = object else { return .add(addition) }
    addition.buffer = buffer()
    return .add(addition)
  }

  private mutating func buffer() -> Buffer {
    switch random.below(5) {
    case 0: return .keepNewest(1 + random.below(2))
    case 1: return .keepOldest(1 + random.below(2))
    case 2: return .latestPerSelector
    // Who waits for two of them: in which order places are taken is left open.
    case 3 where !suspends || !has.contains(.waiting):
      suspends = true
      return .suspendSender(1 + random.below(2))
    default: return .unbounded
    }
  }

  private mutating func object() -> (Object, Int) {
    if has.contains(.nesting), chance(30) {
      let (inner, outer) = one(of: [(1, 0), (2, 0), (2, 1)])
      return (.proxy(inner), outer)
    }
    return (.target(random.below(5)), has.contains(.nesting) ? random.below(3) : 0)
  }

  private mutating func change() -> Action {
    let (object, proxy) = object()
    switch random.below(14) {
    case 0...2: return addTarget()
    case 3: return has.contains(.nesting) ? addProxy() : addTarget()
    case 4, 5: return .remove(object, from: proxy)
    case 6: return .cancel(random.below(max(additions, 1)))
    case 7: return .mute(object, in: proxy)
    case 8: return .unmute(object, in: proxy)
    case 9: return has.contains(.deaths) ? .release(random.below(5)) : .mute(object, in: proxy)
    case 10: return has.contains(.hooks) ? .hook(hook()) : addTarget()
    case 11: return has.contains(.hooks) ? .cancelHook(random.below(max(hooks, 1))) : .remove(object, from: proxy)
    case 12: return has.contains(.rows) ? .replaceRow(random.below(5), one(of: Word.allCases)) : addTarget()
    default: return has.contains(.rows) ? .removeRow(random.below(5), one(of: Word.allCases)) : addTarget()
    }
  }

  private mutating func callback() -> Action {
    chance(20) ? .send(send()) : change()
  }

  private mutating func hook() -> HookSetup {
    hooks += 1
    var setup = HookSetup(kind: kind(), proxy: has.contains(.nesting) ? random.below(3) : 0)
    if chance(60) { setup.word = one(of: Word.allCases) }
    if case .around = setup.kind { setup.form = one(of: [.both, .both, .both, .plain, .waiting]) }
    if has.contains(.callbacks), chance(20) { setup.actions = [callback()] }
    return setup
  }

  private mutating func kind() -> HookSetup.Kind {
    switch random.below(12) {
    case 0, 1: .before
    case 2: has.contains(.errors) ? .refusing : .before
    case 3, 4: .after
    case 5: has.contains(.errors) ? .failingAfter : .after
    case 6, 7: .around(.pass)
    case 8: .around(one(of: Array(HookSetup.Around.allCases)))
    case 9, 10: .stream
    default: .trace
    }
  }

  private mutating func send() -> Send {
    let proxy = chance(85) ? 0 : random.below(3)
    let argument = 1 + random.below(9)
    if has.contains(.waiting), chance(50) {
      switch random.below(4) {
      case 0: return Send(verb: .forwardAndWait, word: one(of: Word.allCases), proxy: proxy, argument: argument)
      case 1: return Send(verb: .broadcastWhenReady, word: one(of: Word.allCases), proxy: proxy, argument: argument)
      default:
        let policy = one(of: Policy.allCases)
        return Send(verb: .collectAndWait(policy), word: policy.word, proxy: proxy, argument: argument)
      }
    }
    switch random.below(8) {
    case 0...2: return Send(verb: .broadcast, word: one(of: Word.allCases), proxy: proxy, argument: argument)
    case 3: return Send(verb: .broadcastBoxed, word: one(of: Word.allCases), proxy: proxy, argument: argument)
    case 4: return Send(verb: .forward, word: one(of: Word.allCases), proxy: proxy, argument: argument)
    case 5:
      let policy = one(of: [Policy.last, .first, .all, .firstSuccess])
      return Send(verb: .collectBoxed(policy), word: .ask, proxy: proxy, argument: argument)
    default:
      let policy = one(of: Policy.allCases)
      return Send(verb: .collect(policy), word: policy.word, proxy: proxy, argument: argument)
    }
  }
}

extension Program {
  /// The program without what the specification leaves open.
  fileprivate var withoutWhatIsOpen: Program {
    var program = self
    let actions = allActions
    let sends = actions.compactMap { if case .send(let send) = $0 { send.verb } else { nil } }
    let waits = sends.contains(where: \.waits)
    let hasContexts = actions.contains { if case .add(let addition) = $0 { addition.context != nil } else { false } }
    for case .send(let send) in actions { program.proxies[send.proxy].hasErrorHandler = true }
    // In which order several proxies, targets of several registrations, and buffers beside others, run on a queue.
    let added = actions.compactMap { if case .add(let addition) = $0 { addition } else { nil } }
    let queued = added.filter { $0.context != nil }
    let isProxyQueued = queued.contains { !$0.object.isTarget }
    if isProxyQueued || Set(queued.map(\.proxy)).count > 1 || Set(queued.map(\.object)).count < queued.count
      || queued.count > 1 && queued.contains(where: { $0.buffer != .unbounded })
    {
      for index in targets.indices where isProxyQueued || queued.contains(where: { $0.object == .target(index) }) {
        program.targets[index].actions = []
      }
      program.changeHooks { $0.actions = [] }
    }
    // What comes first in a buffer behind a nested proxy that is on a queue itself.
    if isProxyQueued {
      program.changeAll { action in
        if case .add(var addition) = action {
          addition.buffer = .unbounded
          action = .add(addition)
        }
      }
    }
    // In which order a sender posts to queued targets of several proxies: not before one whose room it waits for.
    let waitsForRoom = added.contains { if case .suspendSender = $0.buffer { true } else { false } } && waits
    if waitsForRoom {
      program.changeAll { action in
        guard case .add(var addition) = action else { return }
        if case .suspendSender = addition.buffer { return }
        addition.buffer = .unbounded
        if added.contains(where: { !$0.object.isTarget }) { addition.context = nil }
        action = .add(addition)
      }
    }
    program.changeHooks { hook in
      // What a plain `around` is given where its sender waits for a queue.
      if hook.form == .plain, waits, hasContexts { hook.form = .both }
    }
    return program
  }

  private mutating func changeHooks(_ change: (inout HookSetup) -> Void) {
    changeAll { action in
      guard case .hook(var hook) = action else { return }
      change(&hook)
      action = .hook(hook)
    }
  }

  private mutating func changeAll(_ change: (inout Action) -> Void) {
    func changed(_ action: Action) -> Action {
      var action = action
      change(&action)
      guard case .hook(var hook) = action else { return action }
      hook.actions = hook.actions.map(changed)
      return .hook(hook)
    }
    for index in steps.indices { if case .act(let action) = steps[index] { steps[index] = .act(changed(action)) } }
    for index in targets.indices { targets[index].actions = targets[index].actions.map(changed) }
  }
}
