// InterleavingTests.swift: every order of a small case, checked against a model.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

extension Message<(Int) -> Void> { fileprivate static var note: Self { .init("note:") } }

/// A change of the second target between two messages.
enum TargetChange: String, CaseIterable, Sendable {
  case add, remove, mute, unmute, die
}

/// The expected behavior of a queued proxy, as lists of messages without concurrency.
private struct Model: Sendable {
  struct Letter {
    let number: Int
    let targets: [Int]
  }
  /// For each target: registered, muted, alive.
  var registered = [true, true]
  var muted = [false, false]
  var alive = [true, true]
  /// The waiting messages of each context.
  var waiting: [[Letter]]
  /// The context of each target.
  let context: [Int]
  let pending: PendingDeliveries
  /// The targets in the order of their registrations.
  let order: [Int]
  var journal: [[Int]] = [[], []]

  init(together: Bool, pending: PendingDeliveries, order: [Int]) {
    self.order = order
    context = together ? [0, 0] : [0, 1]
    waiting = together ? [[]] : [[], []]
    self.pending = pending
  }

  /// Waiting messages may retain a target. A shared turn skips dead targets on their context.
  func isAlive(_ target: Int) -> Bool {
    pending == .dropPending || alive[target] || waiting.contains { $0.contains { $0.targets == [target] } }
  }

  mutating func send(_ number: Int) {
    for place in waiting.indices {
      let targets = order.filter { context[$0] == place && registered[$0] && !muted[$0] && isAlive($0) }
      if targets.isEmpty { continue }
      // Pending deliveries that survive removal are separate; the others share a turn.
      if pending == .deliverPending {
        waiting[place] += targets.map { Letter(number: number, targets: [$0]) }
      } else {
        waiting[place].append(Letter(number: number, targets: targets))
      }
    }
  }

  mutating func turn(_ place: Int) {
    guard !waiting[place].isEmpty else { return }
    let letter = waiting[place].removeFirst()
    for target in letter.targets where !muted[target] {
      if pending == .dropPending, !registered[target] || !alive[target] { continue }
      journal[target].append(letter.number)
    }
  }

  mutating func apply(_ change: TargetChange) {
    switch change {
    case .add: registered[1] = true
    case .remove: registered[1] = false
    case .mute: muted[1] = true
    case .unmute: muted[1] = false
    case .die: alive[1] = false
    }
  }
}

/// A target that records its messages.
private final class Clerk: MessageReceiver, Sendable {
  private let name: Int
  private let journal: Locked<[[Int]]>
  private let witness: Witness

  init(_ name: Int, _ journal: Locked<[[Int]]>, _ counter: LeakCounter) {
    (self.name, self.journal, witness) = (name, journal, Witness(counter))
  }

  static let selectorTable = SelectorTable(for: Clerk.self) {
    Responds(to: .note) { clerk, number in clerk.journal.withLock { $0[clerk.name].append(number) } }
  }
}

@Suite("Every order of a small case")
struct InterleavingTests {
  @Test(
    "each target receives exactly what was sent while it was registered, in order", .oneAtATime,
    arguments: TargetChange.allCases, [true, false])
  func everyOrder(change: TargetChange, together: Bool) async {
    for pending in [PendingDeliveries.dropPending, .deliverPending] {
      let messages = bound(2, full: 3) + (together && pending == .dropPending ? 1 : 0)
      for place in 0...messages {
        let summary = await everySchedule(upTo: 100_000) { schedule in
          try await Self.play(schedule, change, before: place, of: messages, together: together, pending)
        }
        expect(summary.isComplete)
        // n sends, another step of the body, and n later turns: the Catalan number of n + 1.
        if together, pending == .dropPending { expect(summary.orders, equals: bound(14, full: 42)) }
      }
    }
  }

  private static func play(
    _ schedule: Schedule, _ change: TargetChange, before place: Int, of messages: Int, together: Bool,
    _ pending: PendingDeliveries
  ) async throws {
    let counter = LeakCounter()
    do {
      // If possible, the second target is registered first, so that it receives each message before
      // others have turns, and is deallocated with its last message.
      let order = change == .add ? [0, 1] : [1, 0]
      let model = Locked(Model(together: together, pending: pending, order: order))
      let journal = Locked<[[Int]]>([[], []])
      func queue(_ place: Int) -> Delivery {
        schedule.queue("\(place)") { body in
          model.withLock { $0.turn(place) }
          body()
        }
      }
      let left = queue(0)
      let right = together ? left : queue(1)
      let proxy = MulticastProxy<any Sendable>()
      let first = Clerk(0, journal, counter)
      var second: Clerk? = Clerk(1, journal, counter)
      func add() -> Registration? { second.map { proxy.add($0, delivery: right, whenRemoved: pending) } }
      let registration = change == .add ? nil : add()
      proxy.add(first, delivery: left, whenRemoved: pending)
      if change == .add { model.withLock { $0.registered[1] = false } }
      if change == .unmute { model.withLock { $0.muted[1] = true } }
      if change == .unmute { registration?.mute() }
      for number in 0...messages {
        if number == place {
          model.withLock { $0.apply(change) }
          switch change {
          case .add: _ = add()
          case .remove: second.map { _ = proxy.remove($0) }
          case .mute: registration?.mute()
          case .unmute: registration?.unmute()
          case .die: second = nil
          }
        }
        if number == messages { break }
        model.withLock { $0.send(number) }
        proxy.broadcast(.note, number)
      }
      try await proxy.drain()
      let (got, wanted) = (journal.withLock { $0 }, model.withLock { $0.journal })
      schedule.expect(got == wanted, "got \(got), wanted \(wanted)")
      withExtendedLifetime((first, second)) {}
    }
    schedule.expect(counter.alive == 0, "\(counter.alive) targets left")
  }
}
