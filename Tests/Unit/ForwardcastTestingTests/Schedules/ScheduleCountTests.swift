// ScheduleCountTests.swift: compares the number of executed orders with a calculation.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

extension Message<(Int) -> Void> { fileprivate static var note: Self { .init("note:") } }

/// A proxy with one closure on a context.
private func proxy(_ delivery: Delivery, _ body: @escaping @Sendable (Int) -> Void) -> MulticastProxy<any Sendable> {
  let proxy = MulticastProxy<any Sendable>()
  proxy.on(.note, delivery: delivery, body)
  return proxy
}

@Suite("Counts of orders")
struct ScheduleCountTests {
  @Test("random orders of two senders show three contexts every sequence that they can receive")
  func triples() async {
    let seen = Set<[[Int]]>.Box()
    let summary = await everySchedule(.random(seed: 1), upTo: 300) { schedule in
      let lists = (0..<3).map { _ in Locked<[Int]>([]) }
      let contexts = [schedule.queue("log"), schedule.actor("index"), schedule.mainActor]
      let proxies = zip(contexts, lists).map { context, list in
        proxy(context) { number in list.withLock { $0.append(number) } }
      }
      await withTaskGroup { group in
        for sender in 1...2 {
          group.addTask { for proxy in proxies { proxy.broadcast(.note, sender) } }
        }
      }
      for proxy in proxies { try await proxy.drain() }
      seen.insert(lists.map { $0.withLock { $0 } })
    }
    expect(summary.orders == 300 && summary.failure == nil)
    expect(seen.count, equals: triplesOnPaper(1))
  }

  /// The number of states that three places can have seen when two senders visit the places 1, 2,
  /// 3, 1, 2, 3, …, three for each message.
  private func triplesOnPaper(_ messages: Int) -> Int {
    var states: Set<[[Int]]> = [[[], [], []]]
    for _ in 0..<6 * messages {
      var next: Set<[[Int]]> = []
      for state in states {
        for sender in 1...2 {
          let sent = state.joined().count { $0 == sender }
          guard sent < 3 * messages else { continue }
          var longer = state
          longer[sent % 3].append(sender)
          next.insert(longer)
        }
      }
      states = next
    }
    return states.count
  }

  @Test("turns may share any state, so every sequence of turns counts as an order")
  func everything() async {
    // The body sends one message to each of n queues in n + 1 steps. Each message runs after its send.
    // The last message runs before or after the body's last step: 2 positions. The one before has 4,
    // then 6, …: 2 · 4 · … · 2n orders.
    for queues in 1...4 {
      let summary = await everySchedule { schedule in
        for index in 0..<queues { proxy(schedule.queue("\(index)")) { _ in }.broadcast(.note, index) }
      }
      expect(summary.isComplete)
      expect(summary.orders, equals: (1...queues).reduce(1) { $0 * 2 * $1 })
    }
  }

  @Test("a search that limits interruptions is complete only if the limit omits no order")
  func completeness() async {
    for changes in 0...3 {
      let summary = await everySchedule(.every(changes: changes)) { schedule in
        for index in 0..<3 { proxy(schedule.queue("\(index)")) { _ in }.broadcast(.note, index) }
      }
      expect(summary.isComplete, equals: changes == 3)
      expect(summary.isComplete, equals: summary.orders == 48)
    }
  }
}

extension Set where Element: Sendable {
  /// A set that several threads add to.
  fileprivate final class Box: Sendable {
    private let all = Locked<Set<Element>>([])
    func insert(_ element: Element) { all.withLock { _ = $0.insert(element) } }
    var count: Int { all.withLock { $0.count } }
  }
}
