// GrowthTests.swift: what does not grow with the number of what there is, counted.

import AllocationCounter
import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Growth", .enabled(if: AllocationCounter.isAvailable))
struct GrowthTests {
  @Test("mailboxes that are added are looked at about once each, whatever their number")
  func mailboxLooks() {
    let context = StepContext("many")
    let targets = (0..<5_000).map { _ in Clerk("a") }
    var (table, looks, mailboxes) = (MailboxTable(), 0, [Mailbox]())
    for target in targets {
      let key = MailboxKey(context: context.identity, target: ObjectIdentifier(target))
      let (mailbox, seen) = table.enter(Mailbox(context), for: key)
      mailboxes.append(mailbox)
      looks += seen.count
    }
    expect(table.all.count, equals: 5_000)
    expect(looks <= 2 * 5_000)
    withExtendedLifetime((targets, mailboxes)) {}
  }

  @Test("mailboxes of targets that have gone are forgotten")
  func goneMailboxes() {
    let proxy = MulticastProxy<any Member>()
    let delivery = Delivery.concurrentQueue(DispatchQueue(label: "many", attributes: .concurrent))
    for _ in 0..<5_000 {
      let target = Clerk("a")
      proxy.add(target, delivery: delivery).cancel()
    }
    expect(proxy.core.state.withLock { $0.rest?.mailboxes.count ?? .max } < 100)
  }

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
    expect(try blocks(2_000) <= blocks(2))
  }
}
