// HookStressTests.swift: hooks that are installed and canceled while threads send.

import Dispatch
@testable import Forwardcast
import Synchronization
import TestSupport
import Testing

@Suite("Hooks under load")
struct HookStressTests {
  @Test("hooks can be installed and canceled while four threads send, and every message runs complete hooks or none")
  func comingAndGoing() throws {
    let proxy = SharedDesks()
    proxy.add(Desk("ann", worth: 1, Journal()), ownership: .strong)
    let wrong = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      for round in 0..<150 {
        if thread < 2 {
          // Adds one before and subtracts one after, so the sum is correct whether or not it ran.
          let hook = try? proxy.around(.quote) { call in
            try call.proceed(with: call.arguments + 1).map { $0 - 1 }
          }
          if round % 3 == 0 { _ = try? proxy.collect(.worth, returning: .sum) }
          hook?.cancel()
        } else if (try? proxy.collect(.quote, round, returning: .sum)) != round + 1 {
          wrong.wrappingAdd(1, ordering: .relaxed)
        }
      }
    }
    expect(wrong.load(ordering: .relaxed), equals: 0)
    try expect(proxy.collect(.quote, 5, returning: .sum), equals: 6)
  }

  @Test("installing and canceling hooks while senders wait leaves no hook behind")
  func waiting() async throws {
    let proxy = SharedDesks()
    proxy.add(
      Desk("ann", worth: 1, Journal()), delivery: .queue(DispatchQueue(label: "stress")), ownership: .strong)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for round in 0..<40 {
            let hook = try proxy.around(
              .quote,
              waiting: { call in
                await Task.yield()
                return try await call.proceed()
              })
            try await expect(
              proxy.collectAndWait(.quote, number + round, returning: .all), equals: [number + round + 1])
            hook.cancel()
          }
        }
      }
      try await group.waitForAll()
    }
    expect(proxy.core.hookCount, equals: 0)
  }
}
