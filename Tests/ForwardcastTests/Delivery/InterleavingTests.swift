// InterleavingTests.swift: every order of a small case, checked against a model.

import Forwardcast
import TestSupport
import Testing

/// What happens to the second target between any two steps.
enum Change: String, CaseIterable, Sendable {
  case add, remove, mute, unmute, die
}

/// What a queued proxy should do, said in a few lines: lists of messages, and nothing that runs at the same time.
private struct Model {
  struct Letter {
    let number: Int
    let targets: [Int]
  }
  /// For each target: registered, muted, alive.
  var registered = [true, true]
  var muted = [false, false]
  var alive = [true, true]
  /// For each context the envelopes that wait.
  var waiting: [[Letter]]
  /// The context of each target.
  let context: [Int]
  let pending: PendingDeliveries
  var journal: [String] = []

  init(together: Bool, pending: PendingDeliveries) {
    context = together ? [0, 0] : [0, 1]
    waiting = together ? [[]] : [[], []]
    self.pending = pending
  }

  /// What waits for a target may keep it alive. The dead that share an envelope are found on their context.
  func isAlive(_ target: Int) -> Bool {
    pending == .dropPending || alive[target] || waiting.contains { $0.contains { $0.targets == [target] } }
  }

  mutating func send(_ number: Int) {
    for place in waiting.indices {
      let targets = [0, 1].filter { context[$0] == place && registered[$0] && !muted[$0] && isAlive($0) }
      if targets.isEmpty { continue }
      // Pending deliveries that are kept travel alone; the others share an envelope.
      if pending == .deliverPending {
        waiting[place] += targets.map { Letter(number: number, targets: [$0]) }
      } else {
        waiting[place].append(Letter(number: number, targets: targets))
      }
    }
  }

  mutating func step(_ place: Int) {
    guard !waiting[place].isEmpty else { return }
    let letter = waiting[place].removeFirst()
    for target in letter.targets where !muted[target] {
      if pending == .dropPending, !registered[target] || !alive[target] { continue }
      journal.append("\(target) \(letter.number)")
    }
  }

  mutating func apply(_ change: Change) {
    switch change {
    case .add: registered[1] = true
    case .remove: registered[1] = false
    case .mute: muted[1] = true
    case .unmute: muted[1] = false
    case .die: alive[1] = false
    }
  }
}

@Suite("Every order of a small case")
struct InterleavingTests {
  /// Two senders of two messages each, two targets, one change, and two steps of each context.
  enum Step: CaseIterable { case first, second, change, left, right }

  /// In a process of its own: a table that another test changes meanwhile would end the proxy's plan, and that end stands in
  /// the mailbox as one envelope more, so that the order would be another.
  @Test(
    "each target gets exactly what was sent while it was there, in order", .oneAtATime, arguments: [true, false],
    [true, false])
  func everyOrder(together: Bool, keepsPending: Bool) async {
    await #expect(processExitsWith: .success) { [together, keepsPending] in
      var (orders, problems): (Int, [String]) = (0, [])
      Self.walk([.first: 2, .second: 2, .change: 1, .left: 2, .right: together ? 0 : 1], []) { steps in
        defer { orders += 1 }
        guard Bounds.areFull || orders.isMultiple(of: 17) else { return }
        for change in Change.allCases {
          problems += Self.play(steps, change, together, keepsPending ? .deliverPending : .dropPending)
        }
      }
      expect(problems, equals: [])
      expect(orders, equals: together ? 630 : 5040)
    }
  }

  /// Each order of what is left, after what was taken.
  private static func walk(_ left: [Step: Int], _ taken: [Step], _ body: ([Step]) -> Void) {
    if left.values.allSatisfy({ $0 == 0 }) { return body(taken) }
    for step in Step.allCases where left[step, default: 0] > 0 {
      var rest = left
      rest[step, default: 0] -= 1
      walk(rest, taken + [step], body)
    }
  }

  /// Plays one order.
  private static func play(
    _ steps: [Step], _ change: Change, _ together: Bool, _ pending: PendingDeliveries
  ) -> [String] {
    let counter = LeakCounter()
    var problems: [String] = []
    do {
      let journal = Journal()
      var model = Model(together: together, pending: pending)
      let left = StepContext("left")
      let right = together ? left : StepContext("right")
      let proxy = MulticastProxy<any Member>()
      let first = Clerk("0", journal, counter)
      var second: Clerk? = Clerk("1", journal, counter)
      func add() -> Registration? {
        second.map { proxy.add($0, delivery: .on(right), whenRemoved: pending) }
      }
      proxy.add(first, delivery: .on(left), whenRemoved: pending)
      if change == .add { model.registered[1] = false }
      if change == .unmute { model.muted[1] = true }
      var registration = change == .add ? nil : add()
      if change == .unmute { registration?.mute() }
      var (one, two) = (0, 10)
      for step in steps {
        switch step {
        case .first:
          one += 1
          proxy.broadcast(.note, one)
          model.send(one)
        case .second:
          two += 1
          proxy.broadcast(.note, two)
          model.send(two)
        case .left:
          left.step()
          model.step(0)
        case .right:
          right.step()
          model.step(1)
        case .change:
          model.apply(change)
          switch change {
          case .add: registration = add()
          case .remove: second.map { _ = proxy.remove($0) }
          case .mute: registration?.mute()
          case .unmute: registration?.unmute()
          case .die: second = nil
          }
        }
      }
      while model.waiting.contains(where: { !$0.isEmpty }) { for place in model.waiting.indices { model.step(place) } }
      while left.step() || right.step() {}
      for target in ["0", "1"] {
        let (got, wanted) = (journal.all.filter { $0.hasPrefix(target) }, model.journal.filter { $0.hasPrefix(target) })
        if got != wanted { problems.append("\(steps) \(change): \(got), wanted \(wanted)") }
      }
      withExtendedLifetime((first, second)) {}
    }
    if counter.alive != 0 { problems.append("\(steps) \(change): \(counter.alive) targets left") }
    return problems
  }
}
