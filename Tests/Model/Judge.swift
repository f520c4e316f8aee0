// Judge.swift: does the library do what the reference says? And the smallest program of which it does not.

import Dispatch
import TestSupport

final class Judge {
  private var worker = DispatchQueue(label: "model")

  /// What differs; `nil` where nothing does.
  ///
  /// A context whose turns a busy machine lets come late is no difference: what differs is looked at twice more.
  func difference(in program: Program) -> Difference? {
    var found: Difference?
    for _ in 0..<3 {
      found = differenceNow(in: program)
      if found == nil { return nil }
    }
    return found
  }

  private func differenceNow(in program: Program) -> Difference? {
    // In which of the last rounds what waits has its turn says nothing.
    let expected = Reference.journal(of: program).atMost(program.steps.count)
    guard let observed = observe(program)?.atMost(program.steps.count) else {
      return Difference(step: 0, expected: expected.map { "\($0)" }, observed: ["the program hangs"])
    }
    let firstWait = program.steps.firstIndex(where: \.waits) ?? program.steps.count
    return firstDifference(
      expected: expected, observed: observed, several: program.targetsOfSeveralPlaces
    ) { step in
      guard step < firstWait, case .act = program.steps[step] else { return false }
      return true
    }
  }

  /// What the library does; `nil` where it does not end.
  private func observe(_ program: Program) -> Journal? {
    let (journal, isDone) = (Locked<Journal?>(nil), DispatchSemaphore(value: 0))
    worker.async {
      let result = LibraryRun.journal(of: program)
      journal.withLock { $0 = result }
      isDone.signal()
    }
    guard isDone.wait(timeout: .now() + 20) == .success else {
      // The thread that hangs is left alone.
      worker = DispatchQueue(label: "model")
      return nil
    }
    return journal.withLock { $0 }
  }

  /// A program that differs still, and of which nothing can be left out.
  func shrunk(_ program: Program) -> Program {
    var smallest = program
    var goesOn = true
    while goesOn {
      goesOn = false
      for candidate in smallest.smaller where difference(in: candidate) != nil {
        smallest = candidate
        goesOn = true
        break
      }
    }
    return smallest
  }
}

extension Step {
  fileprivate var waits: Bool { if case .act(.send(let send)) = self { send.verb.waits } else { false } }
}

extension Program {
  /// Targets to which several ways lead, each with an order of its own; or all, where that may be so of a proxy.
  fileprivate var targetsOfSeveralPlaces: Set<String> {
    let objects = allActions.compactMap { if case .add(let addition) = $0 { addition.object } else { nil } }
    let several = Dictionary(grouping: objects) { $0 }.filter { $0.value.count > 1 }.keys
    let isProxy = several.contains { if case .proxy = $0 { true } else { false } }
    guard isProxy else { return Set(several.map(\.description)) }
    let hooks = (0..<allActions.count).flatMap { ["h\($0)", "stream h\($0)"] }
    return Set(targets.indices.map { Object.target($0).description } + hooks)
  }

  /// Whatever steps and callbacks do.
  var allActions: [Action] {
    var all: [Action] = []
    func visit(_ action: Action) {
      all.append(action)
      if case .hook(let hook) = action { hook.actions.forEach(visit) }
    }
    for case .act(let action) in steps { visit(action) }
    for target in targets { target.actions.forEach(visit) }
    return all
  }

  /// Programs that are the same with one thing less, large things first.
  fileprivate var smaller: [Program] {
    var all: [Program] = []
    func with(_ change: (inout Program) -> Void) {
      var copy = self
      change(&copy)
      if copy != self { all.append(copy) }
    }
    let half = steps.count / 2
    if half > 1 {
      with { $0.steps.removeLast(half) }
      with { $0.steps.removeFirst(half) }
    }
    for index in steps.indices.reversed() { with { $0.steps.remove(at: index) } }
    for index in targets.indices {
      with { $0.targets[index].actions = [] }
      with { $0.targets[index].throwsError = false }
      with { $0.targets[index].vote = true }
      with { $0.targets[index].shape = .all }
      for action in targets[index].actions.indices { with { $0.targets[index].actions.remove(at: action) } }
      for action in targets[index].actions.indices {
        for simpler in targets[index].actions[action].simpler { with { $0.targets[index].actions[action] = simpler } }
      }
    }
    for index in proxies.indices { with { $0.proxies[index] = ProxySetup() } }
    for index in steps.indices {
      guard case .act(let action) = steps[index] else { continue }
      for simpler in action.simpler { with { $0.steps[index] = .act(simpler) } }
    }
    return all
  }
}

extension Action {
  fileprivate var simpler: [Action] {
    switch self {
    case .add(let addition):
      var all = [addition, addition, addition, addition, addition, addition]
      all[0].buffer = .unbounded
      all[1].only = nil
      all[2].isStrong = false
      all[3].priority = nil
      all[4].deliversPending = false
      all[5].context = nil
      all[5].buffer = .unbounded
      return all.filter { $0 != addition }.map(Action.add)
    case .hook(let hook):
      var all = [hook, hook, hook]
      all[0].actions = []
      all[1].form = .both
      if case .around = hook.kind { all[2].kind = .around(.pass) }
      return all.filter { $0 != hook }.map(Action.hook)
    case .send(let send):
      var all = [send, send, send]
      all[0].argument = 1
      all[1].verb = .broadcast
      if send.verb.policy == nil { all[2].word = .tell }
      return all.filter { $0 != send }.map(Action.send)
    default: return []
    }
  }
}
