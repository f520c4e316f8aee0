// PinnedTests.swift: bursts of messages to pinned targets.

import Forwardcast
import TestSupport
import Testing

@Suite("Pinned bursts")
struct PinnedTests {
  private final class Meter: MessageReceiver {
    var total = 0
    static let selectorTable = SelectorTable(for: Meter.self) {
      Responds(to: Message<(Int) -> Void>("add:")) { meter, value in meter.total += value }
      Responds(to: Message<() -> Int>("total")) { meter in meter.total }
    }
  }
  private let add = Message<(Int) -> Void>("add:")
  private let total = Message<() -> Int>("total")

  @Test("a weak target is retained until the pinned burst ends, and no longer")
  func held() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    var meter: Meter? = Meter()
    weak let watched = meter
    if let meter { proxy.add(meter) }
    let sum = try proxy.pinned { pinned in
      expect(pinned.broadcast(add, 1).delivered, equals: 1)
      meter = nil
      expect(watched != nil)
      expect(pinned.broadcast(add, 2).delivered, equals: 1)
      return try pinned.collect(total, returning: .sum)
    }
    expect(sum, equals: 3)
    expect(watched == nil)
    expect(proxy.broadcast(add, 1).delivered, equals: 0)
  }

  @Test("targets that are removed, muted or added during a burst affect its next message")
  func changes() {
    let proxy = MulticastProxy<any MessageReceiver>()
    let (first, second, third) = (Meter(), Meter(), Meter())
    let registration = proxy.add(first)
    proxy.add(second)
    proxy.pinned { pinned in
      pinned.broadcast(add, 1)
      registration.mute()
      pinned.broadcast(add, 10)
      registration.unmute()
      proxy.remove(second)
      proxy.add(third)
      pinned.broadcast(add, 100)
    }
    expect([first.total, second.total, third.total], equals: [101, 11, 100])
  }

  @Test("messages of a burst may be dynamic calls, whose errors go to onError")
  func otherVerbs() {
    let proxy = MulticastProxy<any MessageReceiver>()
    let (meter, told) = (Meter(), Journal())
    proxy.onError = { told.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    proxy.add(meter)
    proxy.pinned { pinned in
      pinned.dynamic.add(5)
      expect(pinned.dynamic.total() as? Int, equals: 5)
      pinned.dynamic.add("five")
    }
    expect(told.all, equals: ["type mismatch"])
  }

  @Test("a table change during a burst affects its next message and bursts inside it")
  func nested() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let table = SelectorTable(for: BareReceiver.self, rows: [])
    let bare = BareReceiver(table: table)
    defer { withExtendedLifetime(bare) {} }
    proxy.add(bare)
    try proxy.pinned { outer in
      expect(outer.broadcast(add, 1).nobodyResponded)
      try table.add(Responds(to: add) { (_: BareReceiver, _) in })
      expect(outer.broadcast(add, 1).delivered, equals: 1)
      proxy.pinned { inner in expect(inner.broadcast(add, 1).delivered, equals: 1) }
    }
  }
}
