// SuspendedWaitingTests.swift: async methods that wait for targets that wait for them.

import CoreTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

private func code(_ body: () async throws -> Void) async -> MessageError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? MessageError)?.code
  }
}

private func evidence(_ body: () async throws -> Void) async -> String {
  do {
    try await body()
    return ""
  } catch {
    return (error as? MessageError)?.evidence ?? "\(error)"
  }
}

/// The ends that methods of the registration's target wait for.
func awaited(by registration: Registration) -> [AwaitedEnd] {
  WaitGraph.awaited(byHolderOf: registration.gateIdentity)
}

private let soon = MulticastOptions(deadlockTimeout: .milliseconds(30))

@Suite("Suspended methods that wait")
struct SuspendedWaitingTests {
  private let proxy = MulticastProxy<any Member>(options: soon)
  private let doer = Doer()
  private let queue = DispatchQueue(label: "doer")

  private init() { proxy.add(doer, delivery: .queue(queue)) }

  @Test("a child task that waits for the target of the running method ends with an error that says so")
  func childTask() async {
    doer.does { [proxy] number in
      guard number == 1 else { return number }
      async let answer = proxy.ask(2)
      return try await answer
    }
    let text = await evidence { _ = try await proxy.ask() }
    expect(
      text,
      equals: "no answer in 0.03 seconds, probably a deadlock: the sender is a task that a method created, and "
        + "a method of Doer would wait for its own end; do not await the task in the method that created it, or, if "
        + "that method is only slow, raise 'deadlockTimeout'")
    withExtendedLifetime(doer) {}
  }

  @Test("a task group that drains the proxy of the running method ends with an error that says so")
  func groupThatDrains() async {
    doer.does { [proxy] _ in
      try await withThrowingTaskGroup(of: Int.self) { group in
        group.addTask { try await proxy.drain() }
        return try await group.next() ?? 0
      }
    }
    await expect(code { _ = try await proxy.ask() }, equals: .timedOut)
    withExtendedLifetime(doer) {}
  }

  @Test("a method whose target was removed gets an error if it drains its proxy")
  func removedDrains() async {
    let texts = Journal()
    doer.does { [proxy] number in
      proxy.removeAll()
      texts.write(await evidence { try await proxy.drain(timeout: .seconds(Int64.max)) })
      return number
    }
    proxy.broadcast(.slow, 1)
    await until(!texts.all.isEmpty)
    // With a timeout, a task that the method created drains.
    expect(
      texts.all.first?.contains("a method of a removed target would wait for its own end") ?? false, "\(texts.all)")
    withExtendedLifetime(doer) {}
  }

  @Test("a blocking drain gets an error if a removed target waits for the queue of the drain")
  func removedWaits() async {
    let (outer, here, waits) = (MulticastProxy<any Member>(), DispatchQueue(label: "here"), Latch())
    let (target, holder) = (Clerk("removed"), Clerk("holder"))
    let (started, codes) = (Latch(), Locked<[MessageError.Code?]>([]))
    outer.add(holder, delivery: .queue(here))
    // A direct target, which runs once the sender is in the table of waiting senders.
    outer.on(.note) { if $0 == 2 { waits.open() } }
    proxy.add(target, delivery: .queue(DispatchQueue(label: "there")), whenRemoved: .deliverPending)
    target.onNote { _ in
      started.pass()
      _ = try? outer.collectBlocking(.note, 2, returning: .all, timeout: .seconds(600))
    }
    holder.onNote { [proxy] number in
      guard number == 1 else { return }
      proxy.broadcast(.note, 1)
      proxy.removeAll()
      started.open()
      waits.pass()
      do { try proxy.drainBlocking(timeout: .seconds(5)) } catch {
        codes.withLock { $0.append((error as? MessageError)?.code) }
      }
    }
    outer.broadcast(.note, 1)
    await until(codes.withLock { !$0.isEmpty })
    expect(codes.withLock { $0 }, equals: [.wouldDeadlock])
    withExtendedLifetime((target, holder)) {}
  }

  @Test("a task created by a method times out while the method runs, but not after it has ended")
  func unawaitedTask() async throws {
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(deadlockTimeout: .zero))
    let registration = proxy.add(doer, delivery: .queue(queue))
    let codes = Locked<[MessageError.Code]>([])
    @Sendable func timeIsOver(_ wait: SenderWait) async {
      await wait.start { error in codes.withLock { $0.append(error.code) } }?.value
    }
    let begun = Locked<SenderWait?>(nil)
    await SuspendedMethod.run(registration) {
      let wait = Task { try SenderWait.begin(for: [registration], in: proxy.core, "slow:") }
      guard let wait = try? await wait.value else { return }
      begun.withLock { $0 = wait }
      await timeIsOver(wait)
      expect(codes.withLock { $0 }, equals: [.timedOut])
    }
    let wait = try #require(begun.withLock { $0 })
    await timeIsOver(wait)
    expect(codes.withLock { $0 }, equals: [.timedOut])
    wait.end()
    expect(awaited(by: registration).count, equals: 0)
    withExtendedLifetime(doer) {}
  }

  @Test("the wait of a task that a method may never await does not make another method's wait a deadlock")
  func ringOverUnawaitedTask() async throws {
    let (other, further) = (Doer(), MulticastProxy<any Member>())
    let first = proxy.add(doer, delivery: .queue(queue))
    let second = further.add(other, delivery: .queue(DispatchQueue(label: "other")))
    let (core, refusal) = (proxy.core, Locked<String?>(nil))
    await SuspendedMethod.run(first) {
      let loose = try? await Task { try SenderWait.begin(for: [second], in: core, "slow:") }.value
      expect(loose != nil)
      // Outside the first method, unlike a task of its own.
      await Task.detached {
        await SuspendedMethod.run(second) {
          do { try SenderWait.begin(for: [first], in: core, "slow:")?.end() } catch {
            refusal.withLock { $0 = "\(error)" }
          }
        }
      }.value
      loose?.end()
    }
    expect(refusal.withLock { $0 }, equals: nil)
    withExtendedLifetime((doer, other)) {}
  }

  @Test("while hooks of a nested proxy run, its sender still waits for the queued targets outside of them")
  func awaitedOutsideOfHooks() async throws {
    let registration = proxy.add(doer, delivery: .queue(queue))
    let (outer, inner) = (MulticastProxy<any MessageReceiver & Sendable>(), MulticastProxy<any Member>())
    let (late, quick, turnstile) = (Doer(), Doer(), Turnstile.shut(4790))
    late.does { number in
      await Turnstile.passing(4790)
      return number
    }
    outer.add(late, delivery: .queue(DispatchQueue(label: "late")))
    outer.add(inner)
    inner.add(quick, delivery: .queue(DispatchQueue(label: "quick")))
    let names = Locked<[String]>([])
    try inner.around(
      .slow,
      waiting: { call in
        let answers = try await call.proceed()
        names.withLock { $0 = awaited(by: registration).flatMap { $0.names() } }
        turnstile.open()
        return answers
      })
    doer.does { [outer] number in try await outer.collectAndWait(.slow, number, returning: .sum) }
    try await expect(proxy.ask(3), equals: 6)
    expect(names.withLock { $0 }, equals: ["Doer"])
    withExtendedLifetime((late, quick, inner)) {}
  }

  @Test("after sending, a wait counts only targets whose answers are pending")
  func answeredIsNotAwaited() async {
    let registration = proxy.add(doer, delivery: .queue(queue))
    let others = MulticastProxy<any Member>()
    let other = others.add(Doer(), delivery: .direct, ownership: .strong)
    await SuspendedMethod.run(registration) {
      let wait = try? SenderWait.begin(for: [other], in: proxy.core, "slow:")
      expect(awaited(by: registration).flatMap { $0.names() }, equals: ["Doer"])
      wait?.sent(PendingAnswers())
      expect(awaited(by: registration).isEmpty)
      wait?.end()
    }
    withExtendedLifetime((doer, others)) {}
  }

  @Test("if two methods await each other's target, one gets an error that shows the cycle")
  func ringOfTwo() async throws {
    let (other, further) = (Doer(), MulticastProxy<any Member>())
    further.add(other, delivery: .queue(DispatchQueue(label: "other")))
    let met = Turnstile.shut(4712)
    let refusals = Locked<[String]>([])
    @Sendable func wait(_ proxy: MulticastProxy<any Member>, _ number: Int) async -> Int {
      guard number == 1 else { return number }
      await Turnstile.passing(4712)
      do { return try await proxy.ask(2) } catch {
        refusals.withLock { $0.append((error as? MessageError)?.evidence ?? "") }
        return -1
      }
    }
    doer.does { await wait(further, $0) }
    other.does { [proxy] in await wait(proxy, $0) }
    async let first = proxy.ask()
    async let second = further.ask()
    await met.arrived(2)
    met.open()
    let answers = try await [first, second].sorted()
    // The refused method ends, so the other one gets its answer.
    expect(answers, equals: [-1, 2])
    let text = "a method of Doer would wait for Doer, and a method of Doer waits for Doer"
    expect(refusals.withLock { $0 }, equals: [text])
    withExtendedLifetime((doer, other)) {}
  }

  @Test(
    "if a target joins a proxy that a method drains, and waits for the method's target, one of them gets an error",
    arguments: [true, false])
  func joinsDrain(waitsFirst: Bool) async throws {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (further, inner, held, other) = (Shared(), Shared(), DispatchQueue(label: "held"), Doer())
    let (clerk, codes) = (Clerk("held"), Locked<[MessageError.Code?]>([]))
    further.add(clerk, delivery: .queue(held))
    held.suspend()
    further.broadcast(.note, 1)
    doer.does { number in
      guard number == 1 else { return number }
      let found = await code { try await further.drain() }
      codes.withLock { $0.append(found) }
      return number
    }
    other.does { [proxy] number in
      let found = await code { _ = try await proxy.ask(2) }
      codes.withLock { $0.append(found) }
      return number
    }
    async let answer = proxy.collectAndWait(.slow, 1, returning: .sum, timeout: .seconds(60))
    await until(!awaited(by: proxy.registrations[0]).isEmpty)
    let joined = (waitsFirst ? inner : further).add(other, delivery: .queue(DispatchQueue(label: "other")))
    (waitsFirst ? inner : further).broadcast(.slow, 1)
    if waitsFirst {
      await until(!awaited(by: joined).isEmpty)
      further.add(inner)
    }
    held.resume()
    try await expect(answer, equals: 1)
    await until(codes.withLock { $0.count } == 2)
    expect(codes.withLock { $0.filter { $0 == .wouldDeadlock }.count }, equals: 1)
    withExtendedLifetime((doer, other, clerk, inner)) {}
  }

  @Test("a removed target gets an error if its queued message waits for a method that drains its proxy")
  func removedRunsInDrain() async throws {
    let (other, further, held) = (Doer(), MulticastProxy<any Member>(), DispatchQueue(label: "held"))
    let codes = Locked<[MessageError.Code?]>([])
    further.add(other, delivery: .queue(held), whenRemoved: .deliverPending)
    held.suspend()
    further.broadcast(.slow, 1)
    further.removeAll()
    other.does { [proxy] number in
      let found = await code { _ = try await proxy.ask(2) }
      codes.withLock { $0.append(found) }
      return number
    }
    doer.does { number in
      let found = await code { try await further.drain() }
      codes.withLock { $0.append(found) }
      return number
    }
    async let answer = proxy.collectAndWait(.slow, 1, returning: .sum, timeout: .seconds(60))
    await until(!awaited(by: proxy.registrations[0]).isEmpty)
    held.resume()
    try await expect(answer, equals: 1)
    expect(codes.withLock { $0 }, equals: [.wouldDeadlock, nil])
    withExtendedLifetime((doer, other)) {}
  }

  @Test("if two methods await each other in child tasks, one of them times out")
  func ringOfChildTasks() async throws {
    let (other, further) = (Doer(), MulticastProxy<any Member>(options: soon))
    further.add(other, delivery: .queue(DispatchQueue(label: "other")))
    let met = Turnstile.shut(4713)
    @Sendable func wait(_ proxy: MulticastProxy<any Member>, _ number: Int) async throws -> Int {
      guard number == 1 else { return number }
      await Turnstile.passing(4713)
      async let answer = proxy.ask(2)
      return try await answer
    }
    doer.does { try await wait(further, $0) }
    other.does { [proxy] in try await wait(proxy, $0) }
    async let first = code { _ = try await proxy.ask() }
    async let second = code { _ = try await further.ask() }
    await met.arrived(2)
    met.open()
    expect(await [first, second].contains(.timedOut))
    withExtendedLifetime((doer, other)) {}
  }

  @Test("a method may wait for a target that has already answered it and now waits for it")
  func answeredMeanwhile() async throws {
    // `doer` waits for two. The first has answered and sends to `doer` meanwhile: no cycle.
    let (quick, slow, others) = (Doer(), Doer(), MulticastProxy<any Member>())
    others.add(quick, delivery: .queue(DispatchQueue(label: "quick")))
    others.add(slow, delivery: .queue(DispatchQueue(label: "slow")))
    let slowly = Turnstile.shut(4714)
    doer.does { number in number == 1 ? try await others.ask(1) : number }
    slow.does { number in
      await Turnstile.passing(4714)
      return number
    }
    async let first = proxy.ask(1)
    await slowly.arrived(1)
    await until(awaited(by: proxy.registrations[0]).count == 1)
    others.mute(slow)
    let asked = Turnstile.shut(4716)
    quick.does { [proxy] number in
      async let passed: Void = Turnstile.passing(4716)
      await passed
      return try await proxy.ask(number)
    }
    async let second = others.ask(7)
    await asked.arrived(1)
    asked.open()
    await until(!awaited(by: others.registrations[0]).isEmpty)
    slowly.open()
    try await expect(first, equals: 2)
    try await expect(second, equals: 7)
    withExtendedLifetime((doer, quick, slow)) {}
  }

  @Test("a method that waits for capacity in its own target's buffer gets an error")
  func ownBuffer() async throws {
    let (target, proxy) = (Doer(), MulticastProxy<any Member>())
    proxy.add(target, delivery: .queue(queue), buffer: .suspendSender(1))
    target.does { number in
      guard number == 1 else { return number }
      try await proxy.broadcastWhenReady(.slow, 2)
      try await proxy.broadcastWhenReady(.slow, 3)
      return number
    }
    await expect(evidence { _ = try await proxy.ask() }, equals: "a method of Doer would wait for its own end")
    try await proxy.drain()
    withExtendedLifetime(target) {}
  }

  @Test("a child task that waits for capacity in the buffer of the running method's target ends with an error")
  func ownBufferInChildTask() async throws {
    let (target, proxy) = (Doer(), MulticastProxy<any Member>(options: soon))
    proxy.add(target, delivery: .queue(queue), buffer: .suspendSender(1))
    target.does { number in
      guard number == 1 else { return number }
      async let filled: Void = {
        for number in 2...3 { try await proxy.broadcastWhenReady(.slow, number) }
      }()
      try await filled
      return number
    }
    await expect(code { _ = try await proxy.ask() }, equals: .timedOut)
    try await proxy.drain()
    withExtendedLifetime(target) {}
  }

  @Test("if two methods wait for capacity in each other's buffer, one gets an error")
  func eachOthersBuffer() async throws {
    let (one, two) = (Doer(), Doer())
    let (first, second) = (MulticastProxy<any Member>(), MulticastProxy<any Member>())
    first.add(one, delivery: .queue(queue), buffer: .suspendSender(1))
    second.add(two, delivery: .queue(DispatchQueue(label: "two")), buffer: .suspendSender(1))
    let met = Turnstile.shut(4715)
    @Sendable func fill(_ proxy: MulticastProxy<any Member>, _ number: Int) async throws -> Int {
      guard number == 1 else { return number }
      await Turnstile.passing(4715)
      for number in 2...3 { try await proxy.broadcastWhenReady(.slow, number) }
      return number
    }
    one.does { try await fill(second, $0) }
    two.does { try await fill(first, $0) }
    async let left = code { _ = try await first.ask() }
    async let right = code { _ = try await second.ask() }
    await met.arrived(2)
    met.open()
    let codes = await [left, right]
    expect(codes.contains(.wouldDeadlock))
    expect(codes.contains(nil))
    withExtendedLifetime((one, two)) {}
  }

  @Test("waits leave nothing behind in the table of waiting senders")
  func tableIsEmpty() async {
    doer.does { [proxy] number in number < 4 ? (try? await proxy.ask(number + 1)) ?? -1 : number }
    for _ in 0..<20 { _ = await code { _ = try await proxy.ask() } }
    expect(proxy.registrations.map { awaited(by: $0).count }, equals: [0])
    withExtendedLifetime(doer) {}
  }

  @Test("a wait that discovers its targets one by one uses no stack for each when another wait searches them")
  func foundOneByOne() {
    let objects = (0..<3).map { _ in Locked(0) }
    let identities = objects.map { ObjectIdentifier($0) }
    let (first, second, free) = (identities[0], identities[1], identities[2])
    let long = Wait(holding: [first])
    for _ in 0..<50_000 { expect(long.enter([AwaitedEnd([free]) { [] }]) == nil) }
    expect(long.enter([AwaitedEnd([second]) { [] }]) == nil)
    let other = Wait(holding: [second])
    expect(other.enter([AwaitedEnd([first]) { ["first"] }])?.isCertain == true)
    long.end()
    other.end()
    withExtendedLifetime(objects) {}
  }

  @Test(
    "if the methods of several queues block for one another, one gets an error that shows the cycle", arguments: [2, 3])
  func ringOfQueues(count: Int) {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (proxies, key) = ((0..<count).map { _ in Shared() }, Message<(Int) -> Int>("weigh:"))
    let (met, refusals) = (DispatchGroup(), Locked<[String]>([]))
    for (index, proxy) in proxies.enumerated() {
      met.enter()
      let next = proxies[(index + 1) % count]
      proxy.on(key, delivery: .queue(DispatchQueue(label: "\(index)"))) { number in
        guard number == 1 else { return number }
        met.leave()
        met.wait()
        do { return try next.collectBlocking(key, 2, returning: .sum, timeout: .seconds(20)) } catch {
          refusals.withLock { $0.append((error as? MessageError)?.evidence ?? "") }
          return -1
        }
      }
    }
    let answers = Locked<[Int]>([])
    let ended = onThreads(count) { index in
      let answer = try? proxies[index].collectBlocking(key, 1, returning: .sum, timeout: .seconds(60))
      answers.withLock { $0.append(answer ?? 0) }
    }
    expect(ended)
    // The refused method ends, so the others get their answers.
    expect(answers.withLock { $0.sorted() }, equals: [-1] + Array(repeating: 2, count: count - 1))
    let name = "closure for 'weigh:'"
    let links = Array(repeating: "a method of \(name) waits for \(name)", count: count - 1)
    let text = "a method of \(name) would wait for \(name), and " + links.joined(separator: ", and ")
    expect(refusals.withLock { $0 }, equals: [text])
  }

  @Test("a method may block for a queue that has answered another method and now waits for a third one")
  func blockedForTheAnswered() async throws {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (proxy, others, third, key) = (Shared(), Shared(), Shared(), Message<(Int) -> Int>("weigh:"))
    let (quick, slow) = (DispatchQueue(label: "quick"), DispatchSemaphore(value: 0))
    let first = proxy.on(key, delivery: .queue(queue)) { number in
      number == 1 ? try others.collectBlocking(key, 1, returning: .sum, timeout: .seconds(60)) : number
    }
    others.on(key, delivery: .queue(quick)) { $0 }
    others.on(key, delivery: .queue(DispatchQueue(label: "slow"))) { number in
      slow.wait()
      return number
    }
    let further = third.on(key, delivery: .queue(quick)) { number in
      try proxy.collectBlocking(key, number, returning: .sum, timeout: .seconds(60))
    }
    func awaits(_ registration: Registration) -> Int {
      registration.queued.map { WaitGraph.awaited(byHolderOf: $0.mailbox.heldIdentity).count } ?? 0
    }
    async let one = proxy.collectAndWait(key, 1, returning: .sum)
    await until(awaits(first) == 1)
    async let seven = third.collectAndWait(key, 7, returning: .sum)
    await until(awaits(further) == 1)
    slow.signal()
    try await expect(one, equals: 2)
    try await expect(seven, equals: 7)
  }

  @Test("blocking the main actor for a method that runs there is refused, whatever the delivery")
  @MainActor
  func blockedMainActor() {
    final class Window: Member, MessageReceiver {
      static let selectorTable = SelectorTable(for: Window.self) {
        Responds(to: .slow, onMainActor: { _, number in number })
      }
    }
    let (window, proxy) = (Window(), MulticastProxy<any Member>())
    proxy.add(window, delivery: .queue(queue))
    let error = #expect(throws: MessageError.self) {
      try proxy.collectBlocking(.slow, 1, returning: .sum, timeout: .seconds(600))
    }
    expect(error?.code, equals: .wouldDeadlock)
    expect(error?.evidence.contains("on the main actor") ?? false)
    withExtendedLifetime(window) {}
  }

  @Test("a method that waits for its own end through a proxy on another queue gets an error")
  func throughProxyElsewhere() async {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (outer, inner) = (Shared(), Shared())
    inner.add(doer, delivery: .queue(queue))
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    doer.does { number in number > 1 ? number : try await outer.collectAndWait(.slow, 2, returning: .sum) }
    await expect(code { _ = try await outer.collectAndWait(.slow, 1, returning: .sum) }, equals: .wouldDeadlock)
    withExtendedLifetime((doer, inner)) {}
  }

  @Test("a method that waits for its own end through a forwarding object gets an error", arguments: [false, true])
  func throughAsked(isElsewhere: Bool) async {
    final class Door: ForwardingProxy, Member, @unchecked Sendable {}  // immutable
    let (outer, door) = (MulticastProxy<any Member>(), Door(to: proxy))
    outer.add(door, delivery: isElsewhere ? .queue(DispatchQueue(label: "door")) : .direct)
    doer.does { number in number > 1 ? number : try await outer.collectAndWait(.slow, 2, returning: .sum) }
    await expect(code { _ = try await proxy.ask() }, equals: .wouldDeadlock)
    withExtendedLifetime((doer, door)) {}
  }

  @Test("a method may wait for another target behind a forwarding object", arguments: [false, true])
  func throughAskedToOther(isElsewhere: Bool) async throws {
    final class Door: ForwardingProxy, Member, @unchecked Sendable {}  // immutable
    let (outer, inner, other) = (MulticastProxy<any Member>(), MulticastProxy<any Member>(), Doer())
    inner.add(other, delivery: .queue(DispatchQueue(label: "other")))
    let door = Door(to: inner)
    outer.add(door, delivery: isElsewhere ? .queue(DispatchQueue(label: "door")) : .direct)
    doer.does { number in try await outer.ask(number + 1) * 10 }
    try await expect(proxy.ask(), equals: 20)
    withExtendedLifetime((doer, door, other)) {}
  }

  @Test("a queued object that forwards a message back to its proxy gets the error for a cycle")
  func ringThroughAsked() async {
    final class Door: ForwardingProxy, Member, @unchecked Sendable {}  // immutable
    let outer = MulticastProxy<any Member>()
    let door = Door(to: outer)
    outer.add(door, delivery: .queue(DispatchQueue(label: "door")))
    await expect(code { _ = try await outer.ask() }, equals: .proxyCycle)
    outer.removeAll()
  }
}
