// GrowthTests.swift: what does not grow with the number of what there is, counted.

import AllocationCounter
import Dispatch
import Testing

@testable import Forwardcast

@Suite("Growth", .enabled(if: AllocationCounter.isAvailable))
struct GrowthTests {
  @Test("what a queue looks for costs the same whether few or many queues have become known")
  func knownQueues() throws {
    func blocks(_ count: Int) throws -> Int {
      let queue = DispatchQueue(label: "one")
      let identity = QueueIdentity.of(queue, isConcurrent: false)
      queue.sync {}
      let others = (0..<count).map { DispatchQueue(label: "other \($0)") }
      for other in others { _ = QueueIdentity.of(other, isConcurrent: false) }
      let blocks = AllocationCounter.count(.thisThread) { queue.sync { identity.lookForNewTarget(of: queue) } }
      for other in others { other.sync {} }
      return try #require(blocks)
    }
    #expect(try blocks(2_000) <= blocks(2))
  }
}
