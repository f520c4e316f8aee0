// WalkTests.swift: messages along routes of several kinds.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

/// Suspends, and then forwards its message to a proxy.
private final class Echo: ForwardingProxy, SuspendingForwarding, @unchecked Sendable {  // set before the first message
  weak var proxy: MulticastProxy<any MessageReceiver & Sendable>?

  override func responds(to selector: MessageSelector) -> Bool { true }
  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    .objects(arguments: selector.numberOfArguments)
  }
  nonisolated(nonsending) override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    await Task.yield()
    var call = invocation
    return try proxy?.forward(&call) ?? DeliveryReport()
  }
}

@Suite("The walk of a message")
struct WalkTests {
  private typealias Proxy = MulticastProxy<any MessageReceiver & Sendable>
  private let journal = Journal()

  @Test(
    "targets whose methods have different types receive a typed message in order, each in its own type",
    arguments: [false, true])
  func mixedTypes(isFirst: Bool) throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let wide = BareReceiver { Responds(to: Message<() -> Int64>("value")) { (_: BareReceiver) in 40 } }
    if isFirst { proxy.add(wide) }
    let listener = Listener("a", journal)
    listener.answer = 2
    proxy.add(listener)
    if !isFirst { proxy.add(wide) }
    let all = try proxy.collect(.value, returning: .all)
    expect(all, equals: isFirst ? [40, 2] : [2, 40])
    expect(proxy.broadcast(.value).delivered, equals: 2)
    let sum = try proxy.collect(Message<() -> Int64>("value"), returning: .sum)
    expect(sum, equals: 42)
  }

  @Test(
    "methods without a result are counted as answers in loops, behind hooks and in nested proxies", arguments: 0..<4)
  func answersOfNothing(shape: Int) async throws {
    let (outer, inner, note) = (Proxy(), Proxy(), Message<() -> Void>("note"))
    let targets = (0..<3).map { _ in BareReceiver { Responds(to: note) { (_: BareReceiver) in } } }
    outer.add(targets[0])
    for target in targets.dropFirst() { (shape & 1 == 0 ? outer : inner).add(target) }
    if shape & 1 == 1 { outer.add(inner) }
    if shape & 2 == 2 { try outer.around(note) { try $0.proceed() } }
    let counting = ReturnPolicy<Void, Int>.reduce(0) { count, _ in count + 1 }
    expect(try outer.collect(note, returning: counting), equals: 3)
    expect(try outer.collect(note, returning: .first) != nil, equals: true)
    expect(outer.broadcast(note).delivered, equals: 3)
    let waited = try await outer.collectAndWait(note, returning: counting)
    expect(waited, equals: 3)
    withExtendedLifetime(targets) {}
  }

  @Test("a report on nested proxies whose targets are all muted lists only the targets", arguments: 1...3)
  func mutedInside(levels: Int) throws {
    let (root, listener) = (Proxy(), Clerk("a", journal))
    var inner = root
    for _ in 0..<levels {
      let next = Proxy()
      inner.add(next, delivery: .direct, ownership: .strong)
      inner = next
    }
    inner.add(listener, delivery: .direct).mute()
    var call = Invocation("note:", arguments: [.init(1)])
    let report = try root.forward(&call)
    expect(report.skipped.map(\.reason), equals: [.muted])
    expect(report.skipped.map { $0.target === listener }, equals: [true])
  }

  @Test("drain waits for messages queued in nested proxies at every level")
  func drainsNested() async throws {
    let (outer, middle, inner) = (Proxy(), Proxy(), Proxy())
    outer.add(middle, delivery: .direct, ownership: .strong)
    middle.add(inner, delivery: .queue(DispatchQueue(label: "middle")), ownership: .strong)
    inner.add(middle, delivery: .direct)
    let queue = DispatchQueue(label: "inner")
    inner.add(Clerk("a", journal), delivery: .queue(queue), ownership: .strong)
    queue.suspend()
    outer.onError = { _ in }
    outer.broadcast(.note, 1)
    let error = #expect(throws: MessageError.self) { try synchronously { try outer.drainBlocking(timeout: .zero) } }
    expect(error?.code, equals: .timedOut)
    expect(journal.all, equals: [])
    queue.resume()
    try await outer.drain()
    expect(journal.all, equals: ["a 1"])
    outer.broadcast(.note, 2)
    try synchronously { try outer.drainBlocking(timeout: .seconds(600)) }
    expect(journal.all, equals: ["a 1", "a 2"])
  }

  @Test("a forwarding hook that suspends on a queue keeps the message's trail, so a cycle is found")
  func suspendedTrail() async throws {
    let (proxy, echo) = (Proxy(), Echo())
    echo.proxy = proxy
    proxy.add(echo, delivery: .queue(DispatchQueue(label: "echo")), ownership: .strong)
    let error = await #expect(throws: MessageError.self) {
      _ = try await proxy.collectAndWait(Invocation("value"), returning: .all)
    }
    expect(error?.code, equals: .proxyCycle)
    // The same one level down, where the delivery waits for its context.
    let outer = Proxy()
    let inner = Proxy()
    let other = Echo()
    other.proxy = inner
    inner.add(other, delivery: .direct, ownership: .strong)
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")), ownership: .strong)
    let second = await #expect(throws: MessageError.self) {
      _ = try await outer.collectAndWait(Invocation("value"), returning: .all)
    }
    expect(second?.code, equals: .proxyCycle)
  }

  @Test("a proxy may be changed while other threads send along a route that they have started")
  func grows() async throws {
    let proxy = Proxy()
    proxy.add(Clerk("a", journal), delivery: .direct, ownership: .strong)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var least = Int.max
          for _ in 0..<200 { least = min(least, try proxy.collect(.value, returning: .all).count) }
          return least
        }
      }
      group.addTask {
        for number in 0..<100 {
          let inner = Proxy()
          inner.add(Clerk("in", self.journal), delivery: .direct, ownership: .strong)
          if number.isMultiple(of: 10) { try proxy.before(.value) {}.cancel() }
          proxy.add(inner, delivery: .direct, ownership: .strong)
        }
        return 1
      }
      for try await least in group { expect(least >= 1) }
    }
    try expect(proxy.collect(.value, returning: .all).count, equals: 101)
  }
}
