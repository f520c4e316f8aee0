// PlantedOrderTests.swift: ten small programs with errors that only some orders show.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

extension Message<(Int) -> Void> {
  fileprivate static var set: Self { .init("set:") }
  fileprivate static var item: Self { .init("item:") }
}
extension Message<() -> Int> { fileprivate static var get: Self { .init("get") } }
extension Message<() -> Void> {
  fileprivate static var done: Self { .init("done") }
  fileprivate static var close: Self { .init("close") }
}

private typealias Proxy = MulticastProxy<any Sendable>

/// A small program with an error.
struct PlantedOrder: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: @Sendable (Schedule) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (Schedule) async throws -> Void) {
    (testDescription, self.body) = (name, body)
  }

  static let all = [
    PlantedOrder("an answer is stale: the price is asked on another queue than it is set on") { schedule in
      let (desk, price) = (Proxy(), Locked(10))
      desk.on(.set, delivery: schedule.queue("prices")) { new in price.withLock { $0 = new } }
      desk.on(.get, delivery: schedule.queue("answers")) { price.withLock { $0 } }
      desk.broadcast(.set, 20)
      let answer = try await desk.collectAndWait(.get, returning: .last)
      schedule.expect(answer == 20, "the answer is \(answer ?? 0)")
    },
    PlantedOrder("an update is lost: two tasks ask for a number, and then set the next one") { schedule in
      let (counter, number) = (Proxy(), Locked(0))
      let context = schedule.actor("counter")
      counter.on(.get, delivery: context) { number.withLock { $0 } }
      counter.on(.set, delivery: context) { new in number.withLock { $0 = new } }
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            let found = try await counter.collectAndWait(.get, returning: .last) ?? 0
            try await counter.collectAndWait(.set, found + 1, returning: .last)
          }
        }
        try await group.waitForAll()
      }
      schedule.expect(number.withLock { $0 } == 2, "the number is \(number.withLock { $0 })")
    },
    PlantedOrder("a message comes before what it is about has been stored") { schedule in
      let (room, name) = (Proxy(), Locked(""))
      room.on(.done, delivery: schedule.queue("log")) {
        schedule.expect(name.withLock { $0 } == "ann", "the name is empty")
      }
      room.broadcast(.done)
      name.withLock { $0 = "ann" }
      try await room.drain()
    },
    PlantedOrder("a line is closed on one queue, and used on another") { schedule in
      let (line, isClosed) = (Proxy(), Locked(false))
      line.on(.item, delivery: schedule.queue("writes")) { _ in
        schedule.expect(!isClosed.withLock { $0 }, "written after the end")
      }
      line.on(.close, delivery: schedule.queue("control")) { isClosed.withLock { $0 = true } }
      line.broadcast(.item, 1)
      line.broadcast(.close)
      try await line.drain()
    },
    PlantedOrder("a listener looks first and listens then") { schedule in
      let (feed, latest) = (Proxy(), Locked(0))
      let heard = Locked(0)
      feed.on(.item, delivery: schedule.queue("feed")) { item in latest.withLock { $0 = item } }
      async let sending: Void = { _ = feed.broadcast(.item, 7) }()
      heard.withLock { heard in heard = latest.withLock { $0 } }
      await Task.yield()
      feed.on(.item, delivery: schedule.queue("screen")) { item in heard.withLock { $0 = item } }
      await sending
      try await feed.drain()
      schedule.expect(heard.withLock { $0 } == 7, "nothing was heard")
    },
    PlantedOrder("an answer that comes after its deadline takes the place of the error") { schedule in
      let (server, state) = (Proxy(), Locked("asked"))
      server.on(.item, delivery: schedule.queue("net")) { _ in state.withLock { $0 = "answered" } }
      let timer = Task {
        try await schedule.clock.sleep(for: .seconds(5))
        state.withLock { if $0 == "asked" { $0 = "timed out" } }
        // The order that was reported is an error.
        try await server.drain()
        schedule.expect(state.withLock { $0 } != "answered" || Task.isCancelled, "an error became an answer")
      }
      server.broadcast(.item, 1)
      try await server.drain()
      timer.cancel()
      _ = try? await timer.value
    },
    PlantedOrder("the last of many values is pushed out by one that means less") { schedule in
      let (progress, seen) = (Proxy(), Locked<[Int]>([]))
      progress.on(.item, delivery: schedule.mainActor, buffer: .keepOldest(1)) { value in
        seen.withLock { $0.append(value) }
      }
      for value in [50, 100] { progress.broadcast(.item, value) }
      try await progress.drain()
      schedule.expect(seen.withLock { $0.last } == 100, "the bar stands at \(seen.withLock { $0.last } ?? 0)")
    },
    PlantedOrder("two tasks find that nothing is open, and both open it") { schedule in
      let (store, opened) = (Proxy(), Locked(0))
      store.on(.get, delivery: schedule.queue("disk")) { opened.withLock { $0 } }
      store.on(.done, delivery: schedule.queue("disk")) { opened.withLock { $0 += 1 } }
      @Sendable func open() async throws {
        guard try await store.collectAndWait(.get, returning: .last) == 0 else { return }
        store.broadcast(.done)
      }
      async let first: Void = open()
      async let second: Void = open()
      _ = try await (first, second)
      try await store.drain()
      schedule.expect(opened.withLock { $0 } == 1, "opened \(opened.withLock { $0 }) times")
    },
    PlantedOrder("a reply is waited for that may have come before anybody listened") { schedule in
      let feed = Proxy()
      feed.on(.item, delivery: schedule.queue("log")) { _ in }
      async let sending: Void = { _ = feed.broadcast(.item, 7) }()
      await Task.yield()
      for await _ in feed.messages(for: .item) { break }
      await sending
    },
    PlantedOrder("the screen says that all is done before the last item is in the list") { schedule in
      let (work, items) = (Proxy(), Locked(0))
      work.on(.item, delivery: schedule.queue("list")) { _ in items.withLock { $0 += 1 } }
      work.on(.done, delivery: schedule.mainActor) {
        schedule.expect(items.withLock { $0 } == 2, "\(items.withLock { $0 }) of 2 items")
      }
      for item in 0..<2 { work.broadcast(.item, item) }
      work.broadcast(.done)
      try await work.drain()
    },
  ]
}

@Suite("Planted ordering errors")
struct PlantedOrderTests {
  @Test("every planted error is found, and its order reproduces it each time", arguments: PlantedOrder.all)
  func found(_ program: PlantedOrder) async throws {
    let failures = FailureList()
    let summary = await everySchedule(reporter: failures.reporter, program.body)
    let failure = try #require(summary.failure)
    expect(failures.failures.map(\.text), equals: [failure.description])
    for _ in 0..<5 {
      let again = await everySchedule(.replaying(failure.order), reporter: FailureList().reporter, program.body)
      expect(again.orders, equals: 1)
      expect(again.failure?.description, equals: failure.description)
    }
  }

  @Test("every planted error has orders that do not show it", arguments: PlantedOrder.all)
  func hidden(_ program: PlantedOrder) async {
    for seed in 0..<40 {
      let run = await everySchedule(
        .random(seed: UInt64(seed)), upTo: 1, reporter: FailureList().reporter, program.body)
      if run.failure == nil { return }
    }
    Issue.record("no order is good")
  }
}
