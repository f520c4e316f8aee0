// InterceptorTests.swift: ready-made hooks.

import Dispatch
import ForwardcastTesting
import TestSupport
import Testing

@testable import Forwardcast

private struct Offline: Error {}
private struct Broken: Error {}

extension Message<(String) -> Int> { fileprivate static var price: Self { .init("priceOf:") } }
extension Message<(String) -> Int> { fileprivate static var slowPrice: Self { .init("slowPriceOf:") } }
extension Message<(CuriousItem) -> Int> { fileprivate static var curiousPrice: Self { .init("curiousPriceOf:") } }
extension Message<() -> Int> { fileprivate static var value: Self { .init("value") } }
extension Message<() -> Int> { fileprivate static var slowValue: Self { .init("slowValue") } }
extension Message<() -> Int> { fileprivate static var openHours: Self { .init("openHours") } }

/// Counts how often its number is read.
private final class Desk: Sendable {
  let number: Int
  let reads = Locked(0)
  init(_ number: Int) { self.number = number }
  func read() -> Int {
    reads.withLock { $0 += 1 }
    return number
  }
}

/// An argument that does something whenever it is compared.
private struct CuriousItem: Hashable, Sendable {
  let name: String
  let onCompare: @Sendable () -> Void
  static func == (one: CuriousItem, other: CuriousItem) -> Bool {
    one.onCompare()
    return one.name == other.name
  }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private final class MutableKey: Hashable {
  var name = ""
  static func == (one: MutableKey, other: MutableKey) -> Bool { one.name == other.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private final class CuriousShop: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: CuriousShop.self) {
    Responds(to: .curiousPrice) { (_: CuriousShop, item) in item.name.count }
    Responds(to: .openHours) { (_: CuriousShop) in 8 }
  }
}

/// Fails a number of times, then answers.
private final class Shop: MessageReceiver, Sendable {
  let failures: Locked<Int>
  let calls = Locked(0)
  let hasBegun = Locked(false)
  init(failing failures: Int = 0) { self.failures = Locked(failures) }

  func price(of item: String) throws -> Int {
    calls.withLock { $0 += 1 }
    if item == "broken" { throw Broken() }
    let fails = failures.withLock { left in
      left -= 1
      return left >= 0
    }
    if fails { throw Offline() }
    return item.count
  }

  static let selectorTable = SelectorTable(for: Shop.self) {
    Responds(to: .price) { (store: Shop, item) in try store.price(of: item) }
    Responds(
      to: .slowPrice,
      async: { (store: Shop, item) in
        if item == "never" { try await Task.sleep(for: .seconds(100_000)) }
        if item == "interrupted" {
          store.hasBegun.withLock { $0 = true }
          try? await Task.sleep(for: .seconds(100_000))
          return try store.price(of: "broken")
        }
        return try store.price(of: item)
      })
  }
}

@Suite("Ready-made hooks")
struct InterceptorTests {
  private let clock = TestClock()

  @Test("retrying sends a message again while the condition accepts the error, on every kind of proxy")
  func retrying() async throws {
    let store = Shop(failing: 2)
    let proxy = ForwardingProxy(to: store)
    try proxy.around(.price, .retrying(3, while: { $0 is Offline }))
    try expect(proxy.send(.price, "tea"), equals: 3)
    expect(store.calls.withLock { $0 }, equals: 3)
    #expect(throws: Broken.self) { try proxy.send(.price, "broken") }
    expect(store.calls.withLock { $0 }, equals: 4)

    let lazy = LazyProxy(sharing: { Shop(failing: 5) })
    try lazy.around("slowPriceOf:", .retrying(3))
    await #expect(throws: Offline.self) { try await lazy.sendAndWait(.slowPrice, "tea") }
    try await expect(lazy.sendAndWait(.slowPrice, "tea"), equals: 3)

    let many = MulticastProxy<any MessageReceiver & Sendable>()
    many.add(Shop(failing: 1), ownership: .strong)
    try many.around(.price, .retrying(2))
    try expect(many.collect(.price, "tea", returning: .sum), equals: 3)
  }

  @Test("an awaited send pauses between attempts")
  func delay() async throws {
    let proxy = ForwardingProxy(to: Shop(failing: 1))
    try proxy.around(.slowPrice, .retrying(2, delay: .seconds(5), clock: clock))
    async let ticks: Void = { [clock] in
      await clock.waitForSleepers()
      clock.advance(by: .seconds(5))
    }()
    try await expect(proxy.sendAndWait(.slowPrice, "tea"), equals: 3)
    await ticks
    expect(clock.now.offset, equals: .seconds(5))
  }

  @Test("timeout ends a wait with timedOut and cancels the method")
  func timeout() async throws {
    let proxy = ForwardingProxy(to: Shop())
    try proxy.around(.slowPrice, .timeout(.seconds(2), clock: clock))
    async let ticks: Void = { [clock] in
      await clock.waitForSleepers()
      clock.advance(by: .seconds(2))
    }()
    let error = await #expect(throws: MessageError.self) { try await proxy.sendAndWait(.slowPrice, "never") }
    await ticks
    expect(error?.code, equals: .timedOut)
    try await expect(proxy.sendAndWait(.slowPrice, "tea"), equals: 3)
    try expect(proxy.send(.price, "tea"), equals: 3)
  }

  @Test("a timeout has the text of an error that the method throws because it is canceled")
  func timeoutThenFailure() async throws {
    let shop = Shop()
    let proxy = ForwardingProxy(to: shop)
    try proxy.around(.slowPrice, .timeout(.seconds(2), clock: clock))
    async let ticks: Void = { [clock] in
      await clock.waitForSleepers()
      await until(shop.hasBegun.withLock { $0 })
      clock.advance(by: .seconds(2))
    }()
    let error = await #expect(throws: MessageError.self) { try await proxy.sendAndWait(.slowPrice, "interrupted") }
    await ticks
    expect(error?.evidence, equals: "no answer in 2.0 seconds from Shop; the call also failed: Broken()")
  }

  @Test("an error that a single receiver throws after its sender's timeout is printed to standard error")
  func lateFailure() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let clock = TestClock()
      var shop: Shop? = Shop()
      weak let late = shop
      let task = Task { [shop] in
        try await shop?.sendAndWait(.slowPrice, "interrupted", timeout: .seconds(2), clock: clock)
      }
      shop = nil
      await clock.waitForSleepers()
      clock.advance(by: .seconds(2))
      _ = await task.result
      await until(late == nil)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("forwardcast: 'slowPriceOf:' failed in Shop after its sender had stopped waiting: Broken()"))
  }

  @Test("timeout of a multicast does not wait for a suspended queue")
  func timeoutOfMany() async throws {
    let many = MulticastProxy<any MessageReceiver & Sendable>()
    let queue = DispatchQueue(label: "held")
    let mailbox = many.add(Shop(), delivery: .queue(queue), ownership: .strong).queued?.mailbox
    try many.around(.price, .timeout(.seconds(2), clock: clock))
    queue.suspend()
    defer { queue.resume() }
    let task = Task { try await many.collectAndWait(.price, "tea", returning: .sum) }
    await clock.waitForSleepers()
    await until(mailbox?.isAsleep == false)
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: MessageError.self) { try await task.value }
    expect(error?.evidence, equals: "no answer in 2.0 seconds from Shop on queue held")
  }

  @Test("timeout ends a wait for capacity with timedOut, also for a sender that waits only for capacity")
  func timeoutAtFullBuffer() async throws {
    let many = MulticastProxy<any MessageReceiver & Sendable>()
    let (queue, uncaught) = (DispatchQueue(label: "held"), Locked(0))
    many.onError = { _ in uncaught.withLock { $0 += 1 } }
    let line = many.add(Shop(), delivery: .queue(queue), ownership: .strong, buffer: .suspendSender(1)).queued?.line
    try many.around(.price, .timeout(.seconds(2), clock: clock))
    queue.suspend()
    defer { queue.resume() }
    try await expect(many.broadcastWhenReady(.price, "tea").queued, equals: 1)
    let task = Task { try await many.broadcastWhenReady(.price, "tea") }
    await clock.waitForSleepers()
    await until(line?.waitingSenders == 1)
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: MessageError.self) { try await task.value }
    expect(error?.evidence, equals: "no answer in 2.0 seconds from Shop, whose buffer is full")
    expect(uncaught.withLock { $0 }, equals: 0)
  }

  @Test("caching keeps no arguments that are not known to be Sendable")
  func unsafeArguments() throws {
    let (proxy, box) = (MulticastProxy<any MessageReceiver & Sendable>(), MutableKey())
    let calls = Locked(0)
    proxy.on(Message<(MutableKey) -> Int>("sizeOf:")) { _ in
      calls.withLock { $0 += 1 }
      return 1
    }
    try proxy.around(Message<(MutableKey) -> Int>("sizeOf:"), .caching(for: .seconds(60), clock: clock))
    for _ in 1...2 { try expect(proxy.collect(Message("sizeOf:"), box, returning: .sum), equals: 1) }
    expect(calls.withLock { $0 }, equals: 2)
  }

  @Test("a hook may race proceed in a task group, and the message runs on its sender's actor")
  @MainActor func taskGroup() async throws {
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let lines = Locked<[String]>([])
    proxy.add(Shop(), ownership: .strong)
    proxy.on(Message<(String) -> Int>.price) { _ in
      MainActor.assertIsolated()
      lines.withLock { $0.append("direct") }
      return 1
    }
    try proxy.around(
      .price,
      waiting: { call in
        try await withThrowingTaskGroup(of: [Int].self) { group in
          group.addTask {
            return try await call.proceed()
          }
          return try await group.next() ?? []
        }
      })
    try await expect(proxy.collectAndWait(.price, "tea", returning: .sum), equals: 4)
    expect(lines.withLock { $0 }, equals: ["direct"])
  }

  @Test("a call proceeds in one task at a time, and not after its hook has returned")
  func oneTask() async throws {
    let proxy = ForwardingProxy(to: Shop())
    let kept = Locked<WaitingMessageCall<Int, String>?>(nil)
    try proxy.around(
      .slowPrice,
      waiting: { call in
        kept.withLock { $0 = call }
        return try await call.proceed()
      })
    try await expect(proxy.sendAndWait(.slowPrice, "tea"), equals: 3)
    let call = try #require(kept.withLock { $0 })
    let error = await #expect(throws: MessageError.self) { try await call.proceed() }
    expect(error?.code, equals: .hookEnded)
  }

  @Test("retrying retries a target's CancellationError too, unless the sender's task is canceled")
  func retryingCancellation() async throws {
    let many = MulticastProxy<any MessageReceiver & Sendable>()
    let calls = Locked(0)
    many.on(.price, delivery: .direct) { _ in
      calls.withLock { $0 += 1 }
      throw CancellationError()
    }
    try many.around(.retrying(3))  // around every message
    #expect(throws: CancellationError.self) { try many.collect(.price, "tea", returning: .sum) }
    expect(calls.withLock { $0 }, equals: 3)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try many.collect(.price, "tea", returning: .sum)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(calls.withLock { $0 }, equals: 4)
    expect(many.count(for: .price), equals: 1)
  }

  @Test("caching answers messages with equal arguments for a limited time")
  func caching() async throws {
    let store = Shop()
    let proxy = ForwardingProxy(to: store)
    try proxy.around(.price, .caching(for: .seconds(60), limit: 2, clock: clock))
    for item in ["tea", "tea", "milk", "tea"] { try expect(proxy.send(.price, item), equals: item.count) }
    expect(store.calls.withLock { $0 }, equals: 2)
    clock.advance(by: .seconds(60))
    try expect(proxy.send(.price, "tea"), equals: 3)
    expect(store.calls.withLock { $0 }, equals: 3)
    for item in ["a", "b", "c", "b", "c"] { try expect(proxy.send(.price, item), equals: 1) }
    expect(store.calls.withLock { $0 }, equals: 6)
    for _ in 0..<2 { #expect(throws: Broken.self) { try proxy.send(.price, "broken") } }
    expect(store.calls.withLock { $0 }, equals: 8)
  }

  @Test("a cache belongs to a receiver, whether its hook is one of tables or of several proxies")
  func cachingByReceiver() async throws {
    let caching = MessageInterceptor.caching(for: .seconds(60), clock: clock)
    let shops = [Shop(), Shop(failing: 1)]
    let proxies = shops.map { ForwardingProxy(to: $0) }
    for proxy in proxies { try proxy.around(.price, caching) }
    try expect(proxies[0].send(.price, "tea"), equals: 3)
    #expect(throws: Offline.self) { try proxies[1].send(.price, "tea") }
    let table = SelectorTable(for: Desk.self) {
      Responds(to: .value) { (desk: Desk) in desk.read() }
      Responds(to: .slowValue, async: { (desk: Desk) in desk.read() })
    }
    try table.around(caching)
    let desks = MulticastProxy<Desk>(table: table)
    let all = [Desk(1), Desk(2)]
    for desk in all { desks.add(desk) }
    for _ in 0..<2 {
      try expect(desks.collect(.value, returning: .all), equals: [1, 2])
      try await expect(desks.collectAndWait(.slowValue, returning: .all), equals: [1, 2])
    }
    expect(all.map { $0.reads.withLock { $0 } }, equals: [2, 2])
  }

  @Test("a cache keeps no answers of only some targets")
  func cachingOfSome() async throws {
    let queue = DispatchQueue(label: "cached")
    let desks = MulticastProxy<Desk>(
      table: SelectorTable(for: Desk.self) { Responds(to: .value) { (desk: Desk) in desk.read() } })
    let all = (1...3).map { Desk($0) }
    desks.add(all[0])
    desks.add(all[1])
    desks.add(all[2], delivery: .queue(queue))
    try desks.around(.caching(for: .seconds(60), clock: clock))
    try expect(desks.collect(.value, returning: .first), equals: 1)
    try expect(desks.collect(.value, returning: .all), equals: [1, 2])
    try await expect(desks.collectAndWait(.value, returning: .all), equals: [1, 2, 3])
    let reads = all.map { $0.reads.withLock { $0 } }
    try await expect(desks.collectAndWait(.value, returning: .sum), equals: 6)
    try expect(desks.collect(.value, returning: .first), equals: 1)
    expect(all.map { $0.reads.withLock { $0 } }, equals: reads)
  }

  @Test("answers to a policy that stops early are cached for messages for which they suffice")
  func cachingOfFirst() async throws {
    let desks = MulticastProxy<Desk>(
      table: SelectorTable(for: Desk.self) { Responds(to: .value) { (desk: Desk) in desk.read() } })
    let all = (1...2).map { Desk($0) }
    for desk in all { desks.add(desk) }
    func reads() -> [Int] { all.map { $0.reads.withLock { $0 } } }
    try desks.around(.caching(for: .seconds(60), clock: clock))
    for _ in 1...2 {
      try expect(desks.collect(.value, returning: .first), equals: 1)
      try await expect(desks.collectAndWait(.value, returning: .first), equals: 1)
    }
    expect(reads(), equals: [1, 0])
    for _ in 1...2 { try expect(desks.collect(.value, returning: .sum), equals: 3) }
    expect(reads(), equals: [2, 1])
    try expect(desks.collect(.value, returning: .first), equals: 1)
    expect(reads(), equals: [2, 1])
    try expect(desks.collect(.value, returning: .firstSuccess), equals: 1)
    expect(reads(), equals: [2, 1])
  }

  @Test("comparing the arguments of a cached message may send messages through the same hook")
  func cachingOfCuriousArguments() throws {
    let shops = MulticastProxy<any MessageReceiver & Sendable>()
    shops.add(CuriousShop(), ownership: .strong)
    try shops.around(nil, .caching(for: .seconds(60), clock: clock))
    let compared = Locked(0)
    for name in ["tea", "tea", "milk"] {
      let item = CuriousItem(name: name) {
        compared.withLock { $0 += 1 }
        expect(try? shops.collect(.openHours, returning: .sum), equals: 8)
      }
      try expect(shops.collect(.curiousPrice, item, returning: .sum), equals: name.count)
    }
    #expect(compared.withLock { $0 } > 0)
  }

  @Test("logging writes a line for each message")
  func logging() throws {
    let lines = Locked<[String]>([])
    let many = MulticastProxy<any MessageReceiver & Sendable>()
    many.add(Shop(), ownership: .strong)
    try many.around(nil, .logging { line in lines.withLock { $0.append(line) } })
    try expect(many.collect(.price, "tea", returning: .sum), equals: 3)
    #expect(throws: Broken.self) { try many.collect(.price, "broken", returning: .sum) }
    many.broadcast(.price, "milk")
    expect(
      lines.withLock { $0 },
      equals: [#"priceOf: "tea" answered 3"#, #"priceOf: "broken" failed: Broken()"#, #"priceOf: "milk" sent"#])
  }

  @Test("equal messages have equal content keys, and messages without Hashable arguments have none")
  func contentKey() {
    func call(_ selector: MessageSelector, _ boxes: ArgumentBox...) -> Invocation {
      Invocation(selector, arguments: boxes)
    }
    let one = call("priceOf:", .init("tea"))
    expect(one.contentKey == call("priceOf:", .init("tea")).contentKey)
    expect(one.contentKey != nil)
    expect(one.contentKey != call("priceOf:", .init("milk")).contentKey)
    expect(one.contentKey != call("nameOf:", .init("tea")).contentKey)
    expect(call("priceOf:", .init(Broken())).contentKey == nil)
    expect(call("ping").contentKey == call("ping").contentKey)
  }
}
