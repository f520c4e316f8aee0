// BudgetTests.swift: budgets of messages through proxies, hooks and queues.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

@Suite("Budgets of messages")
struct BudgetTests {
  /// The error of an exceeded budget.
  private struct Spent: Error, Equatable {}

  private final class Relay: MessageForwarding, Sendable {
    static let selectorTable = SelectorTable(for: Relay.self, rows: [])
    private let next: any MessageReceiver & Sendable
    init(to next: any MessageReceiver & Sendable) { self.next = next }
    func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { next }
  }

  /// Counts charges, and throws beyond a number of targets.
  private final class Account: Sendable {
    private let counts = Locked<[MessageBudget.Item: Int]>([:])
    let limit: Int

    init(targets limit: Int = .max) { self.limit = limit }

    subscript(_ item: MessageBudget.Item) -> Int { counts.withLock { $0[item] ?? 0 } }

    var budget: MessageBudget {
      MessageBudget { item, count in
        let targets = self.counts.withLock { counts in
          counts[item, default: 0] += count
          return counts[.target] ?? 0
        }
        if targets > self.limit { throw Spent() }
      }
    }
  }

  private typealias Proxy = MulticastProxy<any MessageReceiver & Sendable>
  private let journal = Journal()

  private func message(_ account: Account) -> Invocation {
    var message = Invocation("value")
    message.budget = account.budget
    return message
  }

  private func proxy(_ names: String...) -> Proxy {
    let proxy = Proxy()
    for name in names { proxy.add(Clerk(name, journal), delivery: .direct, ownership: .strong) }
    return proxy
  }

  @Test("each proxy, target and hook is charged before a message reaches it")
  func charges() throws {
    let (outer, inner) = (proxy("a", "b"), proxy("c"))
    outer.add(inner, delivery: .direct, ownership: .strong)
    try inner.before { _ in }
    let account = Account()
    try expect(outer.collect(message(account), returning: .all).count, equals: 3)
    expect(account[.proxy] >= 2 && account[.target] >= 4 && account[.hook] == 1)
  }

  @Test("registrations are charged before a message skips them, both for a report and while it looks for targets")
  func passedBy() throws {
    let (proxy, passed) = try withTablesUnchanged {
      let (proxy, account) = (self.proxy("a"), Account())
      for index in 0..<100 {
        proxy.add(Clerk("\(index)", journal), delivery: .direct, ownership: .strong, only: ["agrees"])
      }
      let passed = try (0..<2).map { _ in
        var call = message(account)
        expect(try account.budget.charging { try proxy.forward(&call) }.skipped.count, equals: 100)
        return account[.passed]
      }
      return (proxy, passed)
    }
    expect(passed, equals: [201, 301])
    let refusing = MessageBudget { item, _ in if item == .passed { throw Spent() } }
    var refused = Invocation("value")
    refused.budget = refusing
    expect(try proxy.forward(&refused).failures.contains { $0.error is Spent })
    #expect(throws: Spent.self) { try refusing.charging { try proxy.collect(Invocation("agrees"), returning: .all) } }
  }

  @Test(
    "a message that exceeds its budget ends with the error before the next target, in every proxy", arguments: 0...4)
  func ends(limit: Int) throws {
    let (outer, inner) = (proxy("a"), proxy("bb", "ccc"))
    outer.add(inner, delivery: .direct, ownership: .strong)
    outer.add(Clerk("dddd", journal), delivery: .direct, ownership: .strong)
    let account = Account(targets: limit)
    var call = message(account)
    // The nested proxy is a target of the outer one.
    let served = [0, 1, 1, 2, 3][limit]
    let report = try? outer.forward(&call)
    let answers = try (report?.answers ?? []).compactMap { try $0.result?.unbox(as: Int.self) }
    expect(answers, equals: Array([1, 2, 3, 4].prefix(served)))
    expect(report.map { $0.failures.contains { $0.error is Spent } } ?? true)
    #expect(throws: Spent.self) { try outer.collect(message(Account(targets: limit)), returning: .all) }
  }

  @Test("a budget follows its message to queues and ends deliveries there")
  func queues() async throws {
    let told = Locked<[any Error]>([])
    let proxy = Proxy()
    proxy.onError = { failure in told.withLock { $0.append(failure.error) } }
    for name in ["a", "b", "c"] {
      proxy.add(Clerk(name, journal), delivery: .queue(DispatchQueue(label: name)), ownership: .strong)
    }
    let account = Account(targets: 2)
    expect(proxy.broadcast(message(account)).queued, equals: 3)
    try await proxy.drain()
    expect(account[.queued] == 3 && account[.target] == 3)
    expect(told.withLock { $0.map { $0 is Spent } }, equals: [true])
  }

  @Test("a query that exceeds its budget returns false, and chains of forwarding objects are charged")
  func questions() throws {
    let outer = proxy()
    let inner = proxy("a")
    outer.add(inner, delivery: .direct, ownership: .strong)
    let account = Account()
    expect(account.budget.charging { outer.responds(to: "value") })
    expect(account[.question] >= 1)
    let refusing = MessageBudget { _, _ in throw Spent() }
    expect(!refusing.charging { outer.responds(to: "value") })
    let chain = ForwardingProxy(to: ForwardingProxy(to: Clerk("end", journal)))
    #expect(throws: Spent.self) { try refusing.charging { try chain.send(.value) } }
  }

  @Test("queries by which a queued forwarding target finds out whether it responds are charged to its message")
  func queuedQuestions() async throws {
    let (proxy, account) = (Proxy(), Account())
    let chain = Relay(to: Relay(to: Clerk("end", journal)))
    proxy.add(chain, delivery: .queue(DispatchQueue(label: "chain")), ownership: .strong)
    expect(proxy.broadcast(message(account)).queued, equals: 1)
    try await proxy.drain()
    // The proxy, and both forwarding objects.
    expect(account[.proxy], equals: 3)
  }

  @Test("a retargeted message keeps its budget")
  func retargeted() throws {
    let account = Account()
    var call = message(account)
    try call.retarget(to: "agrees")
    expect(call.budget != nil)
    _ = try proxy("yes").forward(&call)
    expect(account[.target], equals: 1)
  }
}
