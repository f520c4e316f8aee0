// ForwardingWaitTests.swift: awaited sends through a proxy before one object.

import Forwardcast
import TestSupport
import Testing

extension Message<(String) -> Int> { fileprivate static var price: Self { .init("price:") } }
extension Message<(String) -> Int> { fileprivate static var length: Self { .init("length:") } }
extension Message<() -> Bool> { fileprivate static var isMain: Self { .init("isMain") } }

private struct Offline: Error {}

/// Fails on the first call.
private actor Shop: MessageReceiver {
  private var asked = 0
  static let selectorTable = SelectorTable(for: Shop.self) {
    Responds(to: .price, isolated: { shop, item in try shop.price(item) })
  }
  func price(_ item: String) throws -> Int {
    asked += 1
    if asked == 1 { throw Offline() }
    return item.count * 100 + asked
  }
}

/// Not Sendable, with an isolated row, and an asynchronous one that runs in its sender's isolation.
private final class Local: MessageReceiver {
  static let selectorTable = SelectorTable(for: Local.self) {
    Responds(to: .isMain, onMainActor: { _ in true })
    Responds(key: .price, inTurn: { _, item in item.count })
    Responds(to: .length, async: { _, item in item.count })
  }
}

private final class Shared: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Shared.self) { Responds(to: .isMain, onMainActor: { _ in true }) }
}

/// Sends each message to its target twice.
private final class Twice: ForwardingProxy {
  private let inner: any MessageReceiver & Sendable
  init(_ inner: any MessageReceiver & Sendable) {
    self.inner = inner
    super.init()
  }
  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    inner.methodSignature(for: selector)
  }
  nonisolated(nonsending) override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    var copy = invocation
    try? await inner.performAndWait(&copy)
    try await inner.performAndWait(&copy)
    return DeliveryReport(answeredBy: inner, copy.result)
  }
}

@Suite("Awaited sends through a proxy before one object")
struct ForwardingWaitTests {
  @Test("asynchronous hooks of a lazy proxy retry, cache and observe messages to an actor")
  func lazy() async throws {
    let journal = Journal()
    let shop = LazyProxy { Shop() }
    try shop.around(
      .price,
      waiting: { call in
        do { return try await call.proceed() } catch is Offline { return try await call.proceed() }
      })
    var known: [String: Int] = [:]
    try shop.around(
      .price,
      waiting: { call in
        if let price = known[call.arguments] { return [price] }
        let prices = try await call.proceed()
        known[call.arguments] = prices.first
        return prices
      })
    try shop.after(.price) { prices, item in journal.write("\(item) \(prices)") }
    expect(!shop.isMade)
    try await expect(shop.sendAndWait(.price, "tea"), equals: 302)
    try await expect(shop.sendAndWait(.price, "tea"), equals: 302)
    var message = Invocation("price:", arguments: [ArgumentBox("coffee")])
    try await shop.performAndWait(&message)
    try expect(message.result?.unbox(as: Int.self), equals: 603)
    expect(journal.all, equals: ["tea [302]", "tea [302]", "coffee [603]"])
    // A synchronous send does not reach it.
    #expect(throws: MessageError.self) { try shop.send(.price, "tea") }
  }

  @Test("forward and forwardAndWait return the target's answer through the hooks, and throw without a target")
  func verbs() async throws {
    let journal = Journal()
    let proxy = ForwardingProxy(to: Desk("ann", worth: 20, journal))
    let hook = try proxy.around(.quote) { call in try call.proceed().map { $0 + 100 } }
    var message = Invocation("quote:", arguments: [ArgumentBox(1)])
    try expect(proxy.forward(&message).result?.unbox(as: Int.self), equals: 121)
    try expect(message.result?.unbox(as: Int.self), equals: 121)
    hook.cancel()
    let waited = try await proxy.forwardAndWait(message)
    try expect(waited.result?.unbox(as: Int.self), equals: 21)
    let unknown = Invocation("nothing")
    let error = await #expect(throws: MessageError.self) { _ = try await proxy.forwardAndWait(unknown) }
    expect(error?.code, equals: .unrecognizedSelector)
    let empty = ForwardingProxy()
    #expect(throws: MessageError.self) { try empty.forward(&message) }
    let failing = LazyProxy { throw Offline() }
    await #expect(throws: Offline.self) { _ = try await failing.forwardAndWait(message) }
  }

  @Test("a target is called on another actor only if it is known to be Sendable, with or without hooks")
  func crossing() async throws {
    for hooked in [false, true] {
      let local = ForwardingProxy(to: Local())
      let shared = LazyProxy { ForwardingProxy(to: Shared()) }
      let made = LazyProxy(sharing: { Shared() })
      expect(try await made.sendAndWait(.isMain))
      if hooked {
        try local.before { _ in }
        try shared.before { _ in }
      }
      let error = await #expect(throws: MessageError.self) { try await local.sendAndWait(.isMain) }
      expect(error?.code, equals: .isolationMismatch)
      expect(error?.description.contains("not known to be Sendable") == true)
      try await expect(local.sendAndWait(.price, "tea"), equals: 3)
      expect(try await shared.sendAndWait(.isMain))
      try await onMain(hooked)
    }
  }

  /// On the main actor, a main-actor row can be called, and an asynchronous nonisolated one cannot.
  @MainActor private func onMain(_ hooked: Bool) async throws {
    let local = ForwardingProxy(to: Local())
    if hooked { try local.before { _ in } }
    expect(try await local.sendAndWait(.isMain))
    try await expect(local.sendAndWait(.price, "tea"), equals: 3)
    do {
      _ = try await local.sendAndWait(.length, "tea")
      Issue.record("it has left the main actor")
    } catch let error as MessageError {
      expect(error.code, equals: .isolationMismatch)
    }
  }

  @Test("a subclass that uses awaited sends need not be Sendable")
  func subclass() async throws {
    let proxy = Twice(Shop())
    try await expect(proxy.sendAndWait(.price, "tea"), equals: 302)
  }
}
