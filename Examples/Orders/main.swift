// main.swift: a rare stale answer, found by running every order.
// Example: Orders. Run it with `swift run orders`.

import Forwardcast
import ForwardcastTesting
import Synchronization

@Forwarded
protocol Shop: AnyObject, Sendable {
  func setPrice(_ price: Int)
  @Answer(.last, otherwise: 0) func price() async -> Int
}

/// A shop that sets its price on one queue and reads it on another or the same.
func shop(settingOn first: String, tellingOn second: String) -> @Sendable (Schedule) async throws -> Void {
  { schedule in
    let shop = ShopProxy()
    let price = Mutex(10)
    shop.on(ShopProxy.Messages.setPrice, delivery: schedule.queue(first)) { new in price.withLock { $0 = new } }
    shop.on(ShopProxy.Messages.price, delivery: schedule.queue(second)) { price.withLock { $0 } }
    shop.setPrice(20)
    let told = await shop.price()
    schedule.expect(told == 20, "told \(told), which was the price before")
  }
}

// A test needs no reporter: a failure is an issue of the test.
let printer = TestReporter { failure in print(failure.text) }

print("two queues")
let broken = shop(settingOn: "prices", tellingOn: "answers")
let found = await everySchedule(reporter: printer, broken)

print("only the order that failed, as often as one likes")
if let order = found.failure?.order {
  for _ in 1...3 {
    let again = await everySchedule(.replaying(order), reporter: TestReporter { _ in }, broken)
    print(again.failure?.reason ?? "no failure")
  }
}

print("one queue")
let mended = await everySchedule(reporter: printer, shop(settingOn: "prices", tellingOn: "prices"))
print("\(mended.orders) orders, \(mended.failure == nil ? "none fails" : "one fails")")

print("a script")
for queue in ["desk", "shelf"] {
  let ran = await everySchedule(reporter: TestReporter { _ in }) { run(till(on: queue), expecting: "to pay: 3\n", $0) }
  print("\(queue): \(ran.failure?.reason ?? "\(ran.orders) orders, none fails")")
}

// Prints:
// two queues
// told 10, which was the price before
//   in this order of turns:
//     1. body
//     2. body goes on
//     3. body goes on
//     4. queue answers: price, sent by body
//     5. body
//     6. queue prices: setPrice:, sent by body
//   to run only this order: everySchedule(.replaying("a3dac"))
//   sequenceDiagram
//     participant p1 as queue prices
//     participant p2 as queue answers
//     participant p3 as body
//     Note over p1: setPrice: waits on its turn
//     Note over p2: price waits on its turn
//     p3->>p2: price (its turn)
//     p3->>p1: setPrice: (its turn)
// only the order that failed, as often as one likes
// told 10, which was the price before
// told 10, which was the price before
// told 10, which was the price before
// one queue
// 5 orders, none fails
// a script
// desk: printed "to pay: 0\n"
// shelf: 5 orders, none fails
