// HookPlaceTests.swift: hooks on every kind of multicast sender, and their cost.

import AllocationCounter
import Forwardcast
import TestSupport
import Testing

@Forwarded
protocol Counter: AnyObject {
  func count(to number: Int)
  func total(of item: String) throws -> Int
}

private final class Till: Counter {
  var counted: [Int] = []
  func count(to number: Int) { counted.append(number) }
  func total(of item: String) throws -> Int { item.count }
}

/// Records the selectors that its resolver hook was called with.
private final class Asked: Counter, MessageReceiver {
  static let selectorTable = SelectorTable(for: Asked.self, rows: [])
  static let selectors = Journal()
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    selectors.write(selector.name)
    return false
  }
  func count(to number: Int) {}
  func total(of item: String) throws -> Int { 0 }
}

/// A multicast sender that is not a proxy.
private final class OwnSender: MulticastSending {
  typealias Interface = any MessageReceiver
  let multicast = MulticastProxy<any MessageReceiver>()
  func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }
}

/// A value that a box would put on the heap.
struct Wide: Sendable { var words = (0, 1, 2, 3, 4, 5, 6, 7) }

extension Message<(Wide) -> Void> { static var wide: Self { .init("wide:") } }

@Suite("Where hooks are")
struct HookPlaceTests {
  @Test("a generated proxy class has hooks, and they see its ordinary calls")
  func facade() throws {
    let (counter, till, journal) = (CounterProxy(), Till(), Journal())
    counter.add(till)
    try counter.before(CounterProxy.Messages.count) { journal.write("count \($0)") }
    try counter.around(CounterProxy.Messages.total) { call in
      try call.proceed(with: call.arguments + "!").map { $0 * 10 }
    }
    counter.count(to: 3)
    try expect(counter.total(of: "ab"), equals: 30)
    expect(till.counted == [3] && journal.all == ["count 3"])
    withExtendedLifetime(till) {}
  }

  @Test("installing a hook, a stream or a trace on a generated class or a pinned proxy queries no target")
  func nobodyIsAsked() throws {
    let (counter, asked) = (CounterProxy(), Asked())
    counter.add(asked)
    _ = try counter.before { _ in }
    _ = counter.messages(for: CounterProxy.Messages.total)
    _ = counter.trace { _ in }
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(asked)
    proxy.pinned { _ = $0.messages() }
    let own = OwnSender()
    own.multicast.add(asked)
    _ = own.messages()
    _ = own.trace { _ in }
    let failures = Journal()
    proxy.onError = { failures.write("\($0.error)") }
    proxy.dynamic[dynamicMember: "no name"].dynamicallyCall(withKeywordArguments: [:])
    expect(failures.all.count, equals: 1)
    proxy.mute(asked)
    proxy.broadcast { _ in }
    expect(Asked.selectors.all, equals: [])
    withExtendedLifetime(asked) {}
  }

  @Test(
    "a typed hook boxes no argument of a typed message: a wide argument allocates no more than a word",
    .enabled(if: AllocationCounter.isAvailable))
  func noBox() throws {
    let proxy = Desks()
    proxy.on(.wide) { _ in }
    proxy.on(.quote) { $0 }
    try proxy.before(.wide) { _ in }
    try proxy.around(.wide) { try $0.proceed() }
    try proxy.before(.quote) { _ in }
    try proxy.around(.quote) { try $0.proceed() }
    let wide = try allocations { proxy.broadcast(.wide, Wide()) }
    let word = try allocations { proxy.broadcast(.quote, 1) }
    expect(wide, equals: word)
    // Shows that the counter works: a box of such a value is counted.
    try proxy.before("wide:") { _ in }
    expect(try allocations { proxy.broadcast(.wide, Wide()) } >= wide + 100)
  }

  @Test(
    "a message without hooks allocates nothing, even after a hook was canceled",
    .enabled(if: AllocationCounter.isAvailable))
  func nothingWithout() throws {
    let proxy = Desks()
    proxy.on(.wide) { _ in }
    try proxy.before(.wide) { _ in }.cancel()
    try expect(allocations { proxy.broadcast(.wide, Wide()) }, equals: 0)
  }
}
