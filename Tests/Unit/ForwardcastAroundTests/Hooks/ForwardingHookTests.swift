// ForwardingHookTests.swift: hooks on a proxy before one object.

import Forwardcast
import TestSupport
import Testing

extension Message<(Int) -> Int> { fileprivate static var slowly: Self { .init("slowly:") } }

private final class Clerk: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Clerk.self) {
    Responds(to: .slowly, async: { _, number in number * 2 })
  }
}

@Suite("Hooks on a proxy before one object")
struct ForwardingHookTests {
  private let journal = Journal()

  @Test("hooks see, change and refuse forwarded messages and their answers, and the newest hook is outermost")
  func kinds() throws {
    let desk = Desk("ann", worth: 20, journal)
    let proxy = ForwardingProxy(to: desk)
    try proxy.before(.quote) { journal.write("before \($0)") }
    try proxy.after(.quote) { answers, amount in journal.write("after \(amount): \(answers)") }
    let doubled = try proxy.around(.quote) { call in try call.proceed(with: call.arguments * 2).map { $0 + 1 } }
    try expect(proxy.send(.quote, 1), equals: 23)
    expect(journal.all, equals: ["before 2", "ann quotes 2", "after 2: [22]"])
    doubled.cancel()
    journal.take()
    let guarding = try proxy.before { message in
      journal.write("\(message)")
      throw Refusal(name: "guard")
    }
    #expect(throws: Refusal(name: "guard")) { try proxy.send(.quote, 1) }
    #expect(throws: Refusal(name: "guard")) { try proxy.send(.say, "hello") }
    expect(journal.all, equals: ["quote: 1", #"say: "hello""#])
    guarding.cancel()
    try expect(proxy.send(.worth), equals: 20)
    expect(proxy.responds(to: "worth") && !proxy.responds(to: "nothing"))
    #expect(throws: MessageError.self) { try proxy.send(Message<() -> Int>("nothing")) }
  }

  @Test("a boxed call at a hook of a proxy has no target")
  func noTarget() async throws {
    let proxy = ForwardingProxy(to: Desk("ann", worth: 20, journal))
    try proxy.around { call in
      journal.write("\(call.target == nil)")
      return try call.proceed()
    } waiting: { call in
      journal.write("waiting \(call.target == nil)")
      return try await call.proceed()
    }
    try expect(proxy.send(.worth), equals: 20)
    try await expect(proxy.sendAndWait(.worth), equals: 20)
    expect(journal.all, equals: ["true", "ann worth", "waiting true", "ann worth"])
  }

  @Test("a forwarding proxy among the targets of a multicast runs its hooks for typed and boxed messages")
  func amongTargets() throws {
    let proxy = ForwardingProxy(to: Desk("ann", worth: 20, journal))
    try proxy.around(.quote) { call in try call.proceed().map { $0 * 10 } }
    let desks = Desks()
    desks.add(proxy)
    desks.add(Desk("bo", worth: 1, journal), ownership: .strong)
    try expect(desks.collect(.quote, 1, returning: .all), equals: [210, 2])
    var message = Invocation("quote:", arguments: [ArgumentBox(2)])
    let report = try desks.forward(&message)
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [220, 3])
    withExtendedLifetime(proxy) {}
  }

  @Test("chained forwarding proxies have separate hooks")
  func chain() throws {
    let inner = ForwardingProxy(to: Desk("ann", worth: 20, journal))
    let outer = ForwardingProxy(to: inner)
    try inner.before(.worth) { journal.write("inner") }
    try expect(outer.send(.worth), equals: 20)
    try outer.before(.worth) { journal.write("outer") }
    try expect(outer.send(.worth), equals: 20)
    expect(journal.all, equals: ["inner", "ann worth", "outer", "inner", "ann worth"])
    expect(outer.responds(to: "worth"))
  }

  @Test("hooks can be installed before a lazy proxy has a target, and a refused message creates none")
  func lazy() throws {
    let proxy = LazyProxy { Desk("ann", worth: 20, journal) }
    let hook = try proxy.before(.quote) { _ in throw Refusal(name: "guard") }
    try proxy.before("quote:") { _ in journal.write("asked") }
    expect(!proxy.isMade)
    #expect(throws: Refusal(name: "guard")) { try proxy.send(.quote, 1) }
    expect(!proxy.isMade)
    hook.cancel()
    try expect(proxy.send(.quote, 1), equals: 21)
    expect(proxy.isMade && journal.all == ["asked", "asked", "ann quotes 1"])
  }

  @Test("installing a hook throws if its key and its selector differ in the number of arguments")
  func refusal() {
    let proxy = ForwardingProxy(to: Desk("ann", journal))
    let error = #expect(throws: MessageError.self) { try proxy.before(Message<() -> Int>("quote:")) {} }
    expect(error?.code, equals: .wrongArgumentCount)
  }

  @Test("awaited sends run asynchronous hooks and reach asynchronous methods")
  func waiting() async throws {
    let proxy = ForwardingProxy(to: Clerk())
    try proxy.around(
      .slowly,
      waiting: { call in
        await Task.yield()
        return try await call.proceed(with: call.arguments + 1).map { $0 + 1 }
      })
    let desks = Desks()
    desks.add(proxy)
    try await expect(desks.collectAndWait(.slowly, 4, returning: .all), equals: [11])
    #expect(throws: MessageError.self) { try desks.collect(.slowly, 4, returning: .all) }
  }
}
