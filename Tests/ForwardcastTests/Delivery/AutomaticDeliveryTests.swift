// AutomaticDeliveryTests.swift: deliveries that are direct where the sender is there already.
// Layer: Tests. See DESIGN.md, "Delivery".

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Automatic delivery")
struct AutomaticDeliveryTests {
  private let proxy = MulticastProxy<any Member>()
  private let journal = Journal()
  private let queue = DispatchQueue(label: "automatic")

  @Test("a method that suspends, sent from its own queue, is queued and runs")
  func suspendingMethod() async throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(queue))
    let summary = queue.sync { proxy.broadcast(.slow, 1) }
    #expect(summary.queued == 1)
    #expect(summary.failed == 0)
    try await proxy.drain()
    #expect(journal.all == ["a begins 1", "a ends 1"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a message sent from the target's queue does not overtake a method that is suspended")
  func noOvertaking() async throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(queue))
    let turnstile = Turnstile.shut(4720)
    proxy.broadcast(.slow, 4720)
    await turnstile.arrived(1)
    let summary = queue.sync { proxy.broadcast(.note, 2) }
    #expect(summary.queued == 1)
    #expect(journal.all == ["a begins 4720"])
    turnstile.open()
    try await proxy.drain()
    #expect(journal.all == ["a begins 4720", "a ends 4720", "a 2"])
    let direct = queue.sync { proxy.broadcast(.note, 3) }
    #expect(direct.delivered == 1)
    withExtendedLifetime(clerk) {}
  }

  @Test("on a concurrent queue a target has one message at a time, whoever sends from there")
  func concurrentQueue() async throws {
    let (clerk, running, overlaps) = (Clerk("a", journal), Locked(0), Locked(0))
    clerk.onNote { _ in
      let others = running.withLock { count in
        count += 1
        return count - 1
      }
      if others > 0 { overlaps.withLock { $0 += 1 } }
      for _ in 0..<100 { _ = Task.currentPriority }
      running.withLock { $0 -= 1 }
    }
    proxy.add(clerk, delivery: .automatic(.global()))
    DispatchQueue.concurrentPerform(iterations: 8) { [proxy] thread in
      DispatchQueue.global().sync { for number in 0..<50 { _ = proxy.broadcast(.note, thread * 100 + number) } }
    }
    try await proxy.drain()
    #expect(journal.all.count == 400)
    #expect(overlaps.withLock { $0 } == 0)
    withExtendedLifetime(clerk) {}
  }
}
