// IsolationTests.swift: rows on the main actor, on an actor, and asynchronous rows.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

extension Message<(String) -> Int> { static var title: Self { .init("title:") } }
extension Message<(Int) -> Int> { static var deposit: Self { .init("deposit:") } }

@MainActor
private final class Pane: Member, MessageReceiver {
  var title = ""
  nonisolated init() {}
  nonisolated static let selectorTable = SelectorTable(for: Pane.self) {
    Responds(
      to: .title,
      onMainActor: { pane, text in
        MainActor.assertIsolated()
        pane.title = text
        return text.count
      })
  }
}

private actor Account: Member, MessageReceiver {
  var balance = 0
  static let selectorTable = SelectorTable(for: Account.self) {
    Responds(
      to: .deposit,
      isolated: { account, sum in
        account.assertIsolated()
        account.balance += sum
        return account.balance
      })
    Responds(to: .slow, async: { account, number in await account.take(number) })
  }
  func take(_ number: Int) async -> Int {
    await Task.yield()
    balance += number
    return balance
  }
}

/// A custom serial executor.
private final class Loop: SerialExecutor {
  let queue = DispatchQueue(label: "loop")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

@Suite("Isolated and asynchronous rows")
struct IsolationTests {
  let queue = DispatchQueue(label: "somewhere")

  private func isMismatch(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch { return (error as? MessageError)?.code == .isolationMismatch }
  }

  @Test("a synchronous send reaches a main-actor row only from the main actor")
  func mainActor() async throws {
    let pane = Pane()
    queue.sync { expect(isMismatch { try pane.send(.title, "no") }) }
    let length = try await MainActor.run { try pane.send(.title, "yes") }
    expect(length, equals: 3)
    await expect(pane.title, equals: "yes")
    try await expect(pane.sendAndWait(.title, "waited"), equals: 6)
  }

  @Test("a synchronous send cannot reach asynchronous rows or rows isolated to another actor")
  func unreachable() async throws {
    let account = Account()
    expect(isMismatch { try account.send(.deposit, 1) })
    expect(isMismatch { try account.send(.slow, 1) })
    expect(
      isMismatch {
        var call = Invocation("slow:", arguments: [ArgumentBox(1)])
        try account.perform(&call)
      })
    try await expect(account.sendAndWait(.deposit, 5), equals: 5)
    try await expect(account.sendAndWait(.slow, 2), equals: 7)
    await expect(account.balance, equals: 7)
  }

  @Test("every delivery reaches every row, and awaited sends reach rows of direct targets", arguments: 0..<5)
  func everyDelivery(kind: Int) async throws {
    let (pane, account) = (Pane(), Account())
    let deliveries: [Delivery] = [.direct, .queue(queue), .mainActor, .actor(account), .executor(Loop())]
    let proxy = MulticastProxy<any Member>()
    proxy.onError = { Issue.record("\($0)") }
    proxy.add(pane, delivery: deliveries[kind])
    proxy.add(account, delivery: deliveries[kind])
    for sum in 1...10 {
      try await expect(proxy.collectAndWait(.deposit, sum, returning: .last), equals: sum * (sum + 1) / 2)
    }
    try await expect(proxy.collectAndWait(.slow, 45, returning: .sum), equals: 100)
    try await expect(proxy.collectAndWait(.title, "four", returning: .sum), equals: 4)
    if kind > 0 {
      for _ in 0..<10 {
        proxy.broadcast(.deposit, 1)
        proxy.broadcast(.slow, 1)
        proxy.broadcast(.title, "last")
      }
      try await proxy.drain()
      await expect(account.balance, equals: 120)
      await expect(pane.title, equals: "last")
    } else {
      // The caller is on no actor, so a broadcast reports the rows that it cannot reach.
      let errors = Locked(0)
      proxy.onError = { _ in errors.withLock { $0 += 1 } }
      queue.sync { expect(proxy.broadcast(.deposit, 1).failed, equals: 1) }
      expect(errors.withLock { $0 }, equals: 1)
    }
  }

  @Test("messages to an actor through different rows keep their order")
  func actorOrder() async throws {
    let account = Account()
    defer { withExtendedLifetime(account) {} }
    let proxy = MulticastProxy<any Member>()
    proxy.add(account, delivery: .actor(account))
    var answers: [Int] = []
    for number in 0..<20 {
      let message: Message<(Int) -> Int> = number % 3 == 0 ? .slow : .deposit
      proxy.broadcast(message, 1)
      if number % 5 == 4 { answers.append(try await proxy.collectAndWait(.deposit, 0, returning: .sum)) }
    }
    expect(answers, equals: [5, 10, 15, 20])
  }

  @Test("deliveries describe themselves")
  func descriptions() {
    expect("\(Delivery.direct)", equals: "direct")
    expect("\(Delivery.queue(queue))", equals: "queue somewhere")
    expect("\(Delivery.automatic(queue))", equals: "automatic queue somewhere")
    expect("\(Delivery.mainActor)", equals: "main actor")
    expect("\(Delivery.actor(Account()))", equals: "actor Account")
  }
}
