// CrossingTests.swift: values sent to other contexts, and deliveries that must not start.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

@MainActor private final class Sign: MessageReceiver {
  var text = ""
  nonisolated static let selectorTable = SelectorTable(for: Sign.self) {
    Responds(to: Message<(String) -> Void>("sign:"), onMainActor: { sign, text in sign.text = text })
  }
}

private final class Plain {}

/// Answers with objects that are not known to be Sendable.
private final class Owner: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Owner.self) {
    Responds(to: "thing") { (_: Owner) -> Any in Plain() }
  }
}

@Suite("Values sent to other contexts")
struct CrossingTests {
  typealias Shared = MulticastProxy<any MessageReceiver & Sendable>

  @Test(
    "a main-actor row does not start after its target was removed or muted, even if pending messages are delivered",
    arguments: [(false, PendingDeliveries.dropPending), (true, .dropPending), (true, .deliverPending)])
  @MainActor func removedBeforeItsActor(isMuted: Bool, pending: PendingDeliveries) async throws {
    let (proxy, sign, queue) = (Shared(), Sign(), DispatchQueue(label: "crossing"))
    let registration = proxy.add(sign, delivery: .queue(queue), whenRemoved: pending)
    // This test occupies the main actor, for which the delivery waits after leaving its queue.
    proxy.broadcast(Message<(String) -> Void>("sign:"), "late")
    queue.sync {}
    if isMuted { registration.mute() }
    if !isMuted || pending == .deliverPending { registration.cancel() }
    try await proxy.drain()
    expect(sign.text, equals: "")
    expect(registration.dropped, equals: 1)
  }

  @Test("a main-actor row does not start after the proxy around its target was removed")
  @MainActor func proxyRemovedBeforeItsActor() async throws {
    let (outer, proxy, sign) = (Shared(), Shared(), Sign())
    let queue = DispatchQueue(label: "crossing")
    let registration = proxy.add(sign, delivery: .queue(queue))
    outer.add(proxy, delivery: .direct)
    outer.broadcast(Message<(String) -> Void>("sign:"), "late")
    queue.sync {}
    outer.remove(proxy)
    try await proxy.drain()
    expect(sign.text, equals: "")
    expect(registration.dropped, equals: 1)
  }

  @Test("a collect inside a pinned burst sends Sendable arguments to a queued target")
  func collectCrosses() async throws {
    let (proxy, queue) = (MulticastProxy<any Member>(), DispatchQueue(label: "crossing"))
    let clerk = Clerk("a")
    let far = proxy.add(clerk, delivery: .queue(queue))
    let near = Clerk("yes")
    proxy.add(near)
    let agrees = try proxy.pinned { try $0.collect(.agrees, returning: .all) }
    expect(agrees, equals: [true])
    try proxy.pinned { _ = try $0.collect(.say, "hello", returning: .all) }
    try await proxy.drain()
    expect(clerk.journal.all, equals: ["a: hello"])
    expect(far.dropped, equals: 0)
    withExtendedLifetime((clerk, near)) {}
  }

  @Test(
    "an answer whose row does not declare it Sendable is not sent to another context, also behind a queued proxy",
    arguments: [false, true])
  func unpromisedAnswer(isNested: Bool) async throws {
    let (proxy, inner, owner, queue) = (Shared(), Shared(), Owner(), DispatchQueue(label: "owner"))
    if isNested {
      inner.add(owner)
      proxy.add(inner, delivery: .queue(queue))
    } else {
      proxy.add(owner, delivery: .queue(queue))
    }
    let error = await #expect(throws: MessageError.self) {
      _ = try await proxy.collectAndWait(Message<() -> any Sendable>("thing"), returning: .last)
    }
    expect(error?.code, equals: .isolationMismatch)
    let report = try await proxy.forwardAndWait(Invocation("thing"))
    expect(report.failures.count == 1 && report.answers.isEmpty)
    withExtendedLifetime((owner, inner)) {}
  }

  @Test("drain accepts any time limit")
  func hugeTimeout() throws {
    let (proxy, clerk) = (MulticastProxy<any Member>(), Clerk("a"))
    proxy.add(clerk, delivery: .queue(DispatchQueue(label: "huge")))
    proxy.broadcast(.note, 1)
    try proxy.drainBlocking(timeout: .seconds(Int64.max))
    expect(clerk.journal.all, equals: ["a 1"])
  }
}
