// TableTests.swift: what changes between and within two messages, in every form of message and every layout.

import TestSupport
import Testing

enum Change: CaseIterable {
  case nothing, added, moved, muted, unmuted, cancelled, removed, died, hookOn, hookOff, rowReplaced, rowRemoved
  case nestedRemoved, nestedMuted
}

/// Where targets stand: `t1` and `t2` in a place of their own, `t0` before and `t3` behind.
enum Layout: CaseIterable {
  case flat, nested, queued, nestedQueued, nestedOnQueue, queuedInNestedOnQueue, lastQueued

  var isNested: Bool {
    self == .nested || self == .nestedQueued || self == .nestedOnQueue || self == .queuedInNestedOnQueue
  }
}

/// What stands around the root or around the proxy of `t1` and `t2`.
enum Surrounding: CaseIterable {
  case nothing, before, after, around, stream, trace
  var kind: HookSetup.Kind? {
    switch self {
    case .nothing: nil
    case .before: .before
    case .after: .after
    case .around: .around(.pass)
    case .stream: .stream
    case .trace: .trace
    }
  }
}

struct Case {
  var change: Change
  var isWithin: Bool
  var verb: Verb
  var word: Word
  var layout: Layout
  var surrounding: Surrounding
  var surroundsRoot: Bool
  var throwing: Int?

  /// All cases that make sense.
  static var all: [Case] {
    var verbs: [(Verb, Word)] = Word.allCases.flatMap { [(.broadcast, $0), (.forward, $0)] }
    verbs += [(.broadcastBoxed, .ask), (.forwardAndWait, .ask), (.forwardAndWait, .tell), (.broadcastWhenReady, .ask)]
    verbs += Policy.allCases.flatMap { [(.collect($0), $0.word), (.collectAndWait($0), $0.word)] }
    verbs += [Policy.last, .first, .all, .firstSuccess].map { (.collectBoxed($0), .ask) }
    var cases: [Case] = []
    for layout in Layout.allCases {
      for surrounding in Surrounding.allCases {
        for surroundsRoot in layout.isNested && surrounding != .nothing ? [true, false] : [true] {
          for change in Change.allCases where layout.isNested || (change != .nestedRemoved && change != .nestedMuted) {
            for isWithin in change == .nothing ? [false] : [false, true] {
              for (verb, word) in verbs {
                for throwing in [nil, 1, 2] {
                  cases.append(
                    Case(
                      change: change, isWithin: isWithin, verb: verb, word: word, layout: layout,
                      surrounding: surrounding,
                      surroundsRoot: surroundsRoot, throwing: throwing))
                }
              }
            }
          }
        }
      }
    }
    return cases
  }

  var program: Program {
    let inner = layout.isNested ? 1 : 0
    var targets = Array(repeating: TargetSetup(), count: 5)
    targets[0].vote = verb.policy != .any
    targets[1].vote = targets[0].vote
    if let throwing { targets[throwing].throwsError = true }
    if change == .rowReplaced || change == .rowRemoved { targets[2].shape = .own }
    var steps: [Step] = []
    var hooks = 0
    func hook(_ kind: HookSetup.Kind, _ proxy: Int) -> Action {
      hooks += 1
      return .hook(HookSetup(kind: kind, proxy: proxy, word: surroundsRoot ? word : nil))
    }
    if let kind = surrounding.kind { steps.append(.act(hook(kind, surroundsRoot ? 0 : 1))) }
    var undone = 0
    if change == .hookOff {
      undone = hooks
      steps.append(.act(hook(.after, inner)))
    }
    let context: Int? = layout == .queued || layout == .nestedQueued ? 0 : layout == .queuedInNestedOnQueue ? 1 : nil
    let t2 = Addition(object: .target(2), proxy: inner, context: context)
    steps.append(.act(.add(Addition(object: .target(0)))))
    if layout.isNested {
      let isQueued = layout == .nestedOnQueue || layout == .queuedInNestedOnQueue
      steps.append(.act(.add(Addition(object: .proxy(1), context: isQueued ? 0 : nil))))
    }
    steps.append(.act(.add(Addition(object: .target(1), proxy: inner, context: context))))
    let number = steps.count - hooks
    steps.append(.act(.add(t2)))
    steps.append(.act(.add(Addition(object: .target(3), context: layout == .lastQueued ? 0 : nil))))
    if change == .unmuted { steps.append(.act(.mute(.target(2), in: inner))) }
    let action: Action? =
      switch change {
      case .nothing: nil
      case .added: .add(Addition(object: .target(4), proxy: inner, context: context))
      case .moved: .add(Addition(object: .target(2), proxy: inner, context: context, priority: 1))
      case .muted: .mute(.target(2), in: inner)
      case .unmuted: .unmute(.target(2), in: inner)
      case .cancelled: .cancel(number)
      case .removed: .remove(.target(2), from: inner)
      case .died: .release(2)
      case .hookOn: hook(.after, inner)
      case .hookOff: .cancelHook(undone)
      case .rowReplaced: .replaceRow(2, word)
      case .rowRemoved: .removeRow(2, word)
      case .nestedRemoved: .remove(.proxy(1), from: 0)
      case .nestedMuted: .mute(.proxy(1), in: 0)
      }
    if let action, isWithin { targets[0].actions = [action] }
    steps.append(.act(.send(Send(verb: verb, word: word, argument: 1))))
    if let action, !isWithin { steps.append(.act(action)) }
    steps.append(.act(.send(Send(verb: verb, word: word, argument: 2))))
    steps.append(.run(0))
    steps.append(.run(1))
    steps.append(.act(.send(Send(verb: verb, word: word, argument: 3))))
    steps.append(.question(word, 0))
    return Program(proxies: [ProxySetup(), ProxySetup()], targets: targets, steps: steps)
  }
}

@Suite("What changes between and within messages")
struct TableTests {
  @Test("every form of message and every layout does as the reference does", .oneAtATime)
  func table() {
    let judge = Judge()
    let step = bound(211, full: 211, named: "FORWARDCAST_MODEL_STEP")
    var found: Set<Program> = []
    for (index, one) in Case.all.enumerated() where index.isMultiple(of: step) {
      guard found.count < bound(20, full: 20, named: "FORWARDCAST_MODEL_FOUND"),
        let _ = judge.difference(in: one.program)
      else { continue }

      let smallest = judge.shrunk(one.program)
      guard found.insert(smallest).inserted else { continue }
      Issue.record("case \(index)\n\(smallest)\n\(judge.difference(in: smallest)?.description ?? "")")
    }
  }
}
