// RegistrationTests.swift: registrations, and adding the same target again.

import CoreTestSupport
import Dispatch
@testable import Forwardcast
import TestSupport
import Testing

private struct WeakRegistration {
  weak var registration: Registration?
}

@Suite("Registrations")
struct RegistrationTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>
  typealias Shared = MulticastProxy<any Member>
  typealias Nesting = MulticastProxy<any MessageReceiver & Sendable>

  @Test("adding a target again changes the priority of its registration")
  func priority() {
    let (proxy, journal) = (Proxy(), Journal())
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let first = proxy.add(a)
    proxy.add(b)
    proxy.broadcast(.note, 1)
    expect(proxy.add(b, priority: 3), equals: proxy.add(b, priority: 30_000))
    proxy.broadcast(.note, 2)
    expect(journal.take(), equals: ["a 1", "b 1", "b 2", "a 2"])
    expect(proxy.registrations.map(\.priority), equals: [30_000, 0])
    expect(proxy.add(a, priority: 30_001), equals: first)
    proxy.broadcast(.note, 3)
    expect(journal.take(), equals: ["a 3", "b 3"])
    withExtendedLifetime((a, b)) {}
    proxy.removeAll()
    expect(proxy.core.slotCount, equals: 0)
  }

  @Test("a target that moves behind others of a lower priority receives each message once, in its new slot")
  func movedBehind() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = ["a", "b", "c"].map { Listener($0, journal) }
    for (target, priority) in zip(targets, [0, 0, -1]) { proxy.add(target, priority: priority) }
    proxy.broadcast(.note, 1)
    proxy.add(targets[0], priority: -1)
    proxy.broadcast(.note, 2)
    expect(journal.take(), equals: ["a 1", "b 1", "c 1", "b 2", "c 2", "a 2"])
    try expect(proxy.collect(.value, returning: .all).count, equals: 3)
    withExtendedLifetime(targets) {}
  }

  @Test("targets without a table that only typed broadcasts call leave nothing behind")
  func calledByClosures() {
    final class Plain {}
    let proxy = MulticastProxy<AnyObject>()
    var (first, number) = (WeakRegistration(), 0)
    for _ in 0..<1_000 {
      let target = Plain()
      let registration = proxy.add(target)
      if number == 0 { first.registration = registration }
      proxy.broadcast { _ in number += 1 }
      registration.cancel()
    }
    expect(number, equals: 1_000)
    expect(first.registration == nil)
  }

  @Test("adding a target again with the same priority keeps its place")
  func samePriority() {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = ["a", "b"].map { Listener($0, journal) }
    for target in targets + [targets[0]] { proxy.add(target, priority: 2) }
    proxy.broadcast(.note, 1)
    expect(journal.take(), equals: ["a 1", "b 1"])
    withExtendedLifetime(targets) {}
  }

  @Test("a target that moves and becomes weak still receives messages, and is released with its owner")
  func movedAndWeak() {
    let (proxy, counter) = (Proxy(), LeakCounter())
    do {
      let listener = Listener("a", Journal(), counter)
      proxy.add(listener, ownership: .strong)
      proxy.add(listener, priority: 1)
      expect(proxy.broadcast(.note, 1).delivered, equals: 1)
      withExtendedLifetime(listener) {}
    }
    expect(counter.alive, equals: 0)
  }

  @Test("adding a target again changes whether it is retained")
  func ownership() {
    let (proxy, counter) = (Proxy(), LeakCounter())
    var registration: Registration?
    do {
      let listener = Listener("a", Journal(), counter)
      registration = proxy.add(listener)
      expect(registration?.isStrong == false)
      expect(proxy.add(listener, ownership: .strong), equals: registration)
    }
    expect(counter.alive, equals: 1)
    expect(registration?.isStrong == true)
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    do {
      guard let listener = registration?.target as? Listener else { return expect(Bool(false)) }
      expect(proxy.add(listener), equals: registration)
      expect(proxy.broadcast(.note, 2).delivered, equals: 1)
    }
    expect(counter.alive, equals: 0)
    expect(proxy.broadcast(.note, 3).delivered, equals: 0)
    expect(registration?.isLive == false)
  }

  @Test("adding a target again for other selectors widens its scope, and without selectors removes the scope")
  func scopes() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let listener = LoudListener("a", journal)
    let registration = proxy.add(listener, only: ["note:"])
    func receives() throws -> [String] {
      proxy.broadcast(.note, 1)
      proxy.broadcast(.say, "x")
      _ = try proxy.collect(.value, returning: .all)
      return journal.take()
    }
    try expect(receives(), equals: ["a 1"])
    expect(proxy.add(listener, only: ["say:", "note:"]), equals: registration)
    expect(registration.selectors, equals: ["note:", "say:"])
    try expect(receives(), equals: ["a 1", "a: x"])
    expect(proxy.add(listener, only: ["note:"]), equals: registration)
    expect(registration.selectors, equals: ["note:", "say:"])
    expect(proxy.add(listener), equals: registration)
    expect(registration.selectors == nil)
    try expect(receives(), equals: ["a 1", "a: x", "a value"])
    expect(proxy.add(listener, only: ["note:"]), equals: registration)
    try expect(receives(), equals: ["a 1", "a: x", "a value"])
    expect(proxy.count, equals: 1)
    withExtendedLifetime(listener) {}
  }

  @Test("a target registered with two deliveries receives a message through each, and a report lists both")
  func deliveries() throws {
    let (proxy, context, journal) = (Shared(), StepContext("other"), Journal())
    let clerk = Clerk("a", journal)
    let (direct, queued) = (proxy.add(clerk), proxy.add(clerk, delivery: .on(context), only: ["note:"]))
    expect(direct != queued)
    var call = Invocation("note:", arguments: [.init(1)])
    let report = try proxy.forward(&call)
    expect(report.answers.count == 1 && report.queued.count == 1)
    context.run()
    expect(journal.take(), equals: ["a 1", "a 1"])
    direct.cancel()
    expect(proxy.add(clerk, delivery: .on(context), only: ["say:"]), equals: queued)
    proxy.broadcast(.say, "x")
    context.run()
    expect(journal.take(), equals: ["a: x"])
    withExtendedLifetime(clerk) {}
  }

  @Test("adding a target again changes the buffer for messages queued from then on")
  func changedBuffer() {
    let (proxy, context, journal) = (Shared(), StepContext("buffer"), Journal())
    let clerk = Clerk("a", journal)
    let registration = proxy.add(clerk, delivery: .on(context))
    proxy.broadcast(.note, 1)
    expect(proxy.add(clerk, delivery: .on(context), buffer: .keepNewest(2)), equals: registration)
    expect(registration.buffer, equals: .keepNewest(2))
    for number in 2...5 { proxy.broadcast(.note, number) }
    expect(proxy.add(clerk, delivery: .on(context), buffer: .keepNewest(1)), equals: registration)
    context.run()
    expect(journal.take(), equals: ["a 1", "a 5"])
    expect(proxy.add(clerk, delivery: .on(context)), equals: registration)
    for number in 6...8 { proxy.broadcast(.note, number) }
    context.run()
    expect(journal.take(), equals: ["a 6", "a 7", "a 8"])
    withExtendedLifetime(clerk) {}
  }

  @Test("adding a target again changes whether queued messages are delivered after removal")
  func changedPending() {
    let (proxy, context, journal) = (Shared(), StepContext("pending"), Journal())
    let clerk = Clerk("a", journal)
    func add(_ pending: PendingDeliveries) -> Registration {
      proxy.add(clerk, delivery: .on(context), whenRemoved: pending)
    }
    let first = add(.dropPending)
    proxy.broadcast(.note, 1)
    expect(add(.deliverPending), equals: first)
    proxy.broadcast(.note, 2)
    proxy.broadcast(.note, 3)
    first.cancel()
    context.run()
    // The first message was sent while removal would drop it.
    expect(journal.take(), equals: ["a 2", "a 3"])
    let second = add(.deliverPending)
    expect(add(.dropPending), equals: second)
    proxy.broadcast(.note, 4)
    second.cancel()
    context.run()
    expect(journal.take(), equals: [])
    withExtendedLifetime(clerk) {}
  }

  @Test("a queue and the same queue as a concurrent one are two deliveries", arguments: [true, false])
  func mixedDeliveries(serialFirst: Bool) async throws {
    let (proxy, journal, queue) = (Shared(), Journal(), DispatchQueue(label: "mixed"))
    let clerk = Clerk("a", journal)
    let deliveries =
      serialFirst ? [Delivery.queue(queue), .concurrentQueue(queue)] : [.concurrentQueue(queue), .queue(queue)]
    expect(deliveries[0] != deliveries[1])
    let registrations = deliveries.map { proxy.add(clerk, delivery: $0) }
    expect(registrations[0] != registrations[1])
    expect(registrations.map(\.delivery), equals: deliveries)
    expect(proxy.add(clerk, delivery: deliveries[1]), equals: registrations[1])
    expect(proxy.broadcast(.note, 1).queued, equals: 2)
    try await proxy.drain()
    expect(journal.take(), equals: ["a 1", "a 1"])
    expect(proxy.remove(clerk, delivery: deliveries[0]), equals: 1)
    expect(registrations[0].isCancelled && !registrations[1].isCancelled)
    withExtendedLifetime(clerk) {}
  }

  @Test(
    "a registration that has ended still returns its priority", arguments: [3, 32_767, -32_768])
  func priorityAfterEnd(priority: Int) {
    var proxy: Proxy? = Proxy()
    let (a, b) = (Listener("a"), Listener("b"))
    let (first, second) = (proxy?.add(a, priority: priority), proxy?.add(b, priority: priority))
    first?.cancel()
    expect(first?.priority, equals: priority)
    proxy = nil
    expect(first?.priority == priority && second?.priority == priority)
    withExtendedLifetime((a, b)) {}
  }

  @Test("a proxy removes only its own registrations")
  func foreignRegistration() {
    let (mine, other, listener) = (Proxy(), Proxy(), Listener("a"))
    let registration = mine.add(listener)
    expect(!other.remove(registration))
    expect(!registration.isCancelled)
    expect(mine.remove(registration))
    expect(registration.isCancelled)
    withExtendedLifetime(listener) {}
  }

  @Test("a scoped registration ends when its handle is released")
  func scoped() {
    let (proxy, listener) = (Proxy(), Listener("a"))
    var handle: ScopedRegistration? = proxy.add(listener).scoped()
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    expect(handle?.registration.target === listener)
    expect(handle?.registration.isLive == true)
    handle = nil
    expect(proxy.broadcast(.note, 2).delivered, equals: 0)
    expect(proxy.count, equals: 0)
  }

  @Test("a registration accepts keys as well as selectors")
  func keys() {
    let (proxy, listener) = (Proxy(), LoudListener("a"))
    let registration = proxy.add(listener, only: Message<(Int) -> Void>.note, Message<(String) -> Void>.say)
    expect(registration.selectors, equals: ["note:", "say:"])
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    expect(proxy.broadcast(.ping).delivered, equals: 0)
    withExtendedLifetime(listener) {}
  }

  @Test("a closure whose key has the wrong number of colons is reported at once, and its messages fail")
  func closureArity() {
    let (proxy, errors) = (Proxy(), Journal())
    proxy.onError = { errors.write("\($0.error)") }
    proxy.on(Message<(Int) -> Void>("take")) { _ in errors.write("called") }
    expect(errors.take().map { $0.hasPrefix("wrong number of arguments for 'take'") }, equals: [true])
    expect(proxy.broadcast(Message<() -> Void>("take")).failed, equals: 1)
    expect(proxy.broadcast(Message<(Int) -> Void>("take"), 1).failed, equals: 1)
    expect(errors.take().count, equals: 2)
  }

  @Test("closures on a queue answer typed and boxed messages")
  func closuresAnswer() async throws {
    let proxy = Shared()
    let queue = DispatchQueue(label: "closures")
    proxy.on(.value, delivery: .queue(queue)) { 7 }
    try await expect(proxy.collectAndWait(.value, returning: .sum), equals: 7)
    let report = try await proxy.forwardAndWait(Invocation("value"))
    try expect(report.result?.unbox(as: Int.self), equals: 7)
  }

  @Test("a sender that waits for capacity continues when its target is removed")
  func removalLetsSendersGo() async throws {
    let (proxy, context) = (Shared(), StepContext("room"))
    let clerk = Clerk("a")
    let registration = proxy.add(clerk, delivery: .on(context), buffer: .suspendSender(1))
    try await expect(proxy.broadcastWhenReady(.note, 1).queued, equals: 1)
    let waiting = Task { try await proxy.broadcastWhenReady(.note, 2) }
    await until(registration.waitingSenders > 0)
    registration.cancel()
    let summary = try await waiting.value
    expect(summary.queued, equals: 0)
    context.run()
    expect(clerk.journal.all.isEmpty)
  }

  /// A change that excludes a target, or a proxy around it.
  enum Closing: CaseIterable { case cancel, mute, removeOuter, cancelOuter, muteOuter }

  @Test("a sender that waits for capacity continues when a registration on the path ends", arguments: Closing.allCases)
  func closedWayLetsSendersGo(closing: Closing) async throws {
    let (outer, middle, inner, context) = (Nesting(), Nesting(), Nesting(), StepContext("room"))
    let clerk = Clerk("a")
    let registration = inner.add(clerk, delivery: .on(context), buffer: .suspendSender(1))
    middle.add(inner)
    let place = outer.add(middle)
    try await expect(outer.broadcastWhenReady(.note, 1).queued, equals: 1)
    let waiting = Task { try await outer.broadcastWhenReady(.note, 2) }
    await until(registration.waitingSenders > 0)
    switch closing {
    case .cancel: registration.cancel()
    case .mute: registration.mute()
    case .removeOuter: outer.remove(middle)
    case .cancelOuter: place.cancel()
    case .muteOuter: place.mute()
    }
    // A sender that has just started to wait checks the path itself.
    await until(registration.waitingSenders == 0)
    let summary = try await waiting.value
    expect(summary.queued + summary.dropped, equals: 0)
    context.run()
    expect(clerk.journal.all.isEmpty)
    withExtendedLifetime((middle, inner)) {}
  }

  @Test("a sender that waits for capacity behind a proxy keeps waiting when another proxy is removed")
  func otherWayKeepsSendersWaiting() async throws {
    let (outer, inner, other, context) = (Nesting(), Nesting(), Nesting(), StepContext("room"))
    let clerk = Clerk("a")
    let registration = inner.add(clerk, delivery: .on(context), buffer: .suspendSender(1))
    for proxy in [inner, other] { outer.add(proxy) }
    try await expect(outer.broadcastWhenReady(.note, 1).queued, equals: 1)
    let waiting = Task { try await outer.broadcastWhenReady(.note, 2) }
    await until(registration.waitingSenders > 0)
    outer.remove(other)
    outer.mute(other)
    expect(registration.waitingSenders, equals: 1)
    context.run()
    try await expect(waiting.value.queued, equals: 1)
    context.run()
    expect(clerk.journal.all, equals: ["a 1", "a 2"])
    withExtendedLifetime((inner, other)) {}
  }

  @Test("broadcastWhenReady sends at once if no target is queued")
  func readyWithoutQueues() async throws {
    let proxy = Shared()
    let clerk = Clerk("a")
    expect(try await proxy.broadcastWhenReady(.note, 1).nobodyResponded)
    proxy.add(clerk)
    try await expect(proxy.broadcastWhenReady(.note, 2).delivered, equals: 1)
    expect(clerk.journal.all, equals: ["a 2"])
    withExtendedLifetime(clerk) {}
  }
}

extension Registration {
  /// The number of senders that wait for a slot in the target's buffer.
  fileprivate var waitingSenders: Int { queued?.line?.waitingSenders ?? 0 }
}
