// ScheduleCountTests.swift: how many orders there are, worked out on paper and by running them.

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
  /// Runs two senders of some messages; `send` sends one.
  private func twoSenders(
    of messages: Int = 3, _ seen: Set<[[Int]]>.Box, sharing: ScheduleSharing, upTo limit: Int = 100_000,
    _ send: @escaping @Sendable ([MulticastProxy<any Sendable>], Int, Int) -> Void
  ) async -> ScheduleSummary {
    await everySchedule(upTo: limit, sharing: sharing) { schedule in
      let lists = (0..<3).map { _ in Locked<[Int]>([]) }
      let contexts = [schedule.queue("log"), schedule.actor("index"), schedule.mainActor]
      let proxies = zip(contexts, lists).map { context, list in
        proxy(context) { number in list.withLock { $0.append(number) } }
      }
      await withTaskGroup { group in
        for sender in 1...2 {
          group.addTask { for message in 0..<messages { send(proxies, message, sender) } }
        }
      }
      for proxy in proxies { try await proxy.drain() }
      seen.insert(lists.map { $0.withLock { $0 } })
    }
  }

  @Test("two senders of three messages, each to a context of its own: on each context one is first, 2 × 2 × 2 orders")
  func eight() async {
    let seen = Set<[[Int]]>.Box()
    let summary = await twoSenders(seen, sharing: .messages) { proxies, message, sender in
      proxies[message].broadcast(.note, sender)
    }
    expect(summary.isComplete && summary.failure == nil)
    expect(summary.orders, equals: 8)
    expect(seen.count, equals: 8)
  }

  @Test("two senders of messages to all of three contexts: as many orders as triples that two senders can make")
  func triples() async {
    let seen = Set<[[Int]]>.Box()
    let messages = bound(2, full: 3)
    let summary = await twoSenders(of: messages, seen, sharing: .messages) { proxies, message, sender in
      for proxy in proxies { proxy.broadcast(.note, sender) }
    }
    expect(summary.isComplete && summary.failure == nil)
    let triples = triplesOnPaper(messages)
    expect(summary.orders, equals: triples)
    expect(seen.count, equals: triples)
  }

  /// Two senders walk along the places 1, 2, 3, 1, 2, 3, …, three for each message. What the three places have seen then,
  /// however they walked.
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

  @Test("where turns may share anything, every way in which they can follow one another is an order")
  func everything() async {
    // The body sends one message to each of n queues: n + 1 steps in a row, each message anywhere behind the step that sent it.
    // The message that was sent last is before or after the body's last step, 2 places; the one before finds 4; then 6, …:
    // 2 · 4 · … · 2n orders.
    for queues in 1...4 {
      let summary = await everySchedule { schedule in
        for index in 0..<queues { proxy(schedule.queue("\(index)")) { _ in }.broadcast(.note, index) }
      }
      expect(summary.isComplete)
      expect(summary.orders, equals: (1...queues).reduce(1) { $0 * 2 * $1 })
    }
  }
}

extension Set where Element: Sendable {
  /// A set that several threads fill.
  fileprivate final class Box: Sendable {
    private let all = Locked<Set<Element>>([])
    func insert(_ element: Element) { all.withLock { _ = $0.insert(element) } }
    var count: Int { all.withLock { $0.count } }
  }
}
