// Orders.swift: the code of the page "Testing Every Schedule".

// snippet: orders-shop
import Forwardcast
import ForwardcastTesting
import Synchronization
import Testing
// end
import TestSupport

// snippet: orders-shop
@Forwarded
nonisolated protocol Shop: AnyObject, Sendable {
  func setPrice(_ price: Int)
  @Answer(.last, otherwise: 0) func price() async -> Int
}
// end

@Suite("Testing Every Schedule")
struct Orders {
  @Test("the explorer finds a schedule with a stale answer")
  func stale() async {
    await withKnownIssue {
      // snippet: orders-stale
      await everySchedule { schedule in
        let shop = ShopProxy()
        let price = Mutex(10)
        let (prices, answers) = (schedule.queue("prices"), schedule.queue("answers"))
        shop.on(ShopProxy.Messages.setPrice, delivery: prices) { new in
          price.withLock { $0 = new }
        }
        shop.on(ShopProxy.Messages.price, delivery: answers) { price.withLock { $0 } }
        shop.setPrice(20)
        let answer = await shop.price()
        #expect(answer == 20)
      }
      // end
    } matching: {
      $0.comments.first?.rawValue.contains(".replaying(") ?? true
    }
  }

  @Test("an update under the lock of a shared value is one step")
  func shared() async {
    // snippet: orders-shared
    let totals = await everySchedule { schedule in
      let room = ShopProxy()
      let total = schedule.shared(0)
      for name in ["log", "index"] {
        let queue = schedule.queue(name)
        room.on(ShopProxy.Messages.setPrice, delivery: queue) { cents in
          total.withLock { $0 += cents }  // += on total.value loses updates
        }
      }
      room.setPrice(20)
      try await room.drain()
      #expect(total.value == 40)
    }
    // end
    #expect(totals.isComplete)
    let lost = await everySchedule(reporter: TestReporter { _ in }) { schedule in
      let room = ShopProxy()
      let total = schedule.shared(0)
      for name in ["log", "index"] {
        room.on(ShopProxy.Messages.setPrice, delivery: schedule.queue(name)) { total.value += $0 }
      }
      room.setPrice(20)
      try await room.drain()
      schedule.expect(total.value == 40)
    }
    #expect(lost.failure != nil)
  }

  @Test("orders are counted")
  func count() async {
    // snippet: orders-count
    let summary = await everySchedule { schedule in
      let room = ShopProxy()
      for name in ["log", "index", "screen"] {
        let queue = schedule.queue(name)
        room.on(ShopProxy.Messages.setPrice, delivery: queue) { _ in }
      }
      room.setPrice(20)
    }
    print(summary)  // 48 orders, all there are; the longest has 7 turns
    // end
    expect("\(summary)", equals: "48 orders, all there are; the longest has 7 turns")
  }
}
