// AutomaticDeliveryTests.swift: deliveries that are direct if the sender is already on the context.

import AllocationCounter
import CoreTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

/// Used on one queue at a time.
private final class Adder: Member, MessageReceiver, @unchecked Sendable {
  private(set) var sum = 0
  func add(_ number: Int) { sum += number }
  static let selectorTable = SelectorTable(for: Adder.self) {
    Responds(to: .note) { adder, number in adder.add(number) }
  }
}

/// Forwards to a journal. For a waiting sender it may suspend.
private final class Relay: Member, MessageForwarding {
  static let selectorTable = SelectorTable(for: Relay.self, rows: [])
  let journal: Journal
  let onSuspension = Locked<(@Sendable () async -> Void)?>(nil)
  init(_ journal: Journal) { self.journal = journal }

  func methodSignature(for selector: MessageSelector) -> MethodSignature? { .objects(arguments: 1) }
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    journal.write("begins \(invocation.arguments[0])")
    journal.write("ends \(invocation.arguments[0])")
    return DeliveryReport()
  }
  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    journal.write("begins \(invocation.arguments[0])")
    await onSuspension.withLock { $0 }?()
    journal.write("ends \(invocation.arguments[0])")
    return DeliveryReport()
  }
}

/// Forwards to a method that suspends.
private final class Switchboard: Member, MessageForwarding {
  static let selectorTable = SelectorTable(for: Switchboard.self, rows: [])
  let writer: SlowWriter
  init(_ writer: SlowWriter) { self.writer = writer }
  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { writer }
}

private final class SlowWriter: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: SlowWriter.self) {
    Responds(to: .note) { (writer: SlowWriter, number: Int) async in await writer.write(number) }
  }
  let journal: Journal
  let first: Turnstile
  init(_ journal: Journal, _ first: Turnstile) { (self.journal, self.first) = (journal, first) }
  func write(_ number: Int) async {
    journal.write("begins \(number)")
    if number == 1 { await first.pass() }
    journal.write("ends \(number)")
  }
}

/// A context that runs a closure each time it is asked whether it is the current one.
private final class AskedContext: DeliveryContext {
  let whenAsked: @Sendable () -> Void
  let name = "asked"
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var isCurrent: Bool {
    whenAsked()
    return true
  }
  init(_ whenAsked: @escaping @Sendable () -> Void) { self.whenAsked = whenAsked }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {}
}

@Suite("Automatic delivery")
struct AutomaticDeliveryTests {
  private let proxy = MulticastProxy<any Member>()
  private let journal = Journal()
  private let queue = DispatchQueue(label: "automatic")

  @Test("a closure with the attribute @MainActor runs synchronously if its sender is on the main actor")
  @MainActor
  func mainActorClosure() async throws {
    let sum = Locked(0)
    proxy.on(.note) { @MainActor number in sum.withLock { $0 += number } }
    proxy.on(.note, delivery: .mainActor, onMainActor: { number in sum.withLock { $0 += 10 * number } })
    expect(proxy.broadcast(.note, 1), equals: BroadcastSummary(delivered: 1, queued: 1))
    expect(sum.withLock { $0 }, equals: 1)
    try await proxy.drain()
    expect(sum.withLock { $0 }, equals: 11)
    await Task.detached { [proxy] in expect(proxy.broadcast(.note, 2).queued, equals: 2) }.value
    try await proxy.drain()
    expect(sum.withLock { $0 }, equals: 33)
  }

  @Test("an asynchronous method is queued when it is sent from its own queue")
  func suspendingMethod() async throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(queue))
    let summary = queue.sync { proxy.broadcast(.slow, 1) }
    expect(summary.queued, equals: 1)
    expect(summary.failed, equals: 0)
    try await proxy.drain()
    expect(journal.all, equals: ["a begins 1", "a ends 1"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a message sent from the target's queue does not overtake a suspended method")
  func noOvertaking() async throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(queue))
    let turnstile = Turnstile.shut(4720)
    proxy.broadcast(.slow, 4720)
    await turnstile.arrived(1)
    let summary = queue.sync { proxy.broadcast(.note, 2) }
    expect(summary.queued, equals: 1)
    expect(journal.all, equals: ["a begins 4720"])
    turnstile.open()
    try await proxy.drain()
    expect(journal.all, equals: ["a begins 4720", "a ends 4720", "a 2"])
    let direct = queue.sync { proxy.broadcast(.note, 3) }
    expect(direct.delivered, equals: 1)
    withExtendedLifetime(clerk) {}
  }

  @Test("a target whose buffer dropped messages runs synchronously again once nothing waits")
  func directAfterDrops() throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(queue), buffer: .keepNewest(1))
    queue.suspend()
    for number in 1...3 { proxy.broadcast(.note, number) }
    queue.resume()
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(journal.all, equals: ["a 3"])
    expect(queue.sync { proxy.broadcast(.note, 4).delivered }, equals: 1)
    withExtendedLifetime(clerk) {}
  }

  @Test("on a concurrent queue a target runs one message at a time, whoever sends from there")
  func concurrentQueue() async throws {
    let (clerk, running, overlaps) = (Clerk("a", journal), Locked(0), Locked(0))
    clerk.onNote { _ in
      let others = running.withLock { count in
        count += 1
        return count - 1
      }
      if others > 0 { overlaps.withLock { $0 += 1 } }
      for _ in 0..<100 { _ = Task.currentPriority }
      running.withLock { $0 -= 1 }
    }
    proxy.add(clerk, delivery: .automatic(.global()))
    DispatchQueue.concurrentPerform(iterations: 8) { [proxy] thread in
      DispatchQueue.global().sync { for number in 0..<50 { _ = proxy.broadcast(.note, thread * 100 + number) } }
    }
    try await proxy.drain()
    expect(journal.all.count, equals: 400)
    expect(overlaps.withLock { $0 }, equals: 0)
    withExtendedLifetime(clerk) {}
  }

  @Test("a sender on a global queue calls the target synchronously")
  func globalQueue() {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .automatic(.global()))
    expect(DispatchQueue.global().sync { proxy.broadcast(.note, 1).delivered }, equals: 1)
    expect(journal.all, equals: ["a 1"])
    withExtendedLifetime(clerk) {}
  }

  // Only Apple systems can tell that such a queue is concurrent.
  private let wide = DispatchQueue(label: "wide", attributes: .concurrent)

  @Test("on a custom concurrent queue, a message sent while the target runs is queued")
  func twoSendersAtOnce() async throws {
    let (clerk, inside, sent) = (Clerk("a", journal), Latch(), Latch())
    clerk.onNote { [journal] number in
      if number == 1 {
        inside.open()
        sent.pass()
      }
      journal.write("a ended \(number)")
    }
    proxy.add(clerk, delivery: .automatic(wide))
    let first = Locked<BroadcastSummary?>(nil)
    wide.async { [proxy] in
      let summary = proxy.broadcast(.note, 1)
      first.withLock { $0 = summary }
    }
    inside.pass()
    let second = wide.sync { proxy.broadcast(.note, 2) }
    expect(second.queued == 1 && second.delivered == 0)
    sent.open()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
    expect(first.withLock { $0?.delivered }, equals: 1)
    expect(journal.all, equals: ["a 1", "a ended 1", "a 2", "a ended 2"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a message that waits for a sender on its concurrent queue keeps its place in the buffer")
  func placeInBuffer() async throws {
    let (clerk, inside, sent) = (Clerk("a", journal), Latch(), Latch())
    clerk.onNote { number in
      guard number == 1 else { return }
      inside.open()
      sent.pass()
    }
    let registration = proxy.add(clerk, delivery: .automatic(wide), buffer: .suspendSender(1))
    wide.async { [proxy] in _ = proxy.broadcast(.note, 1) }
    inside.pass()
    _ = try await proxy.broadcastWhenReady(.note, 2)
    await until(registration.gate?.isClosed ?? true)  // the drain has found the target busy
    let line = try #require(registration.queued?.line)
    let hasSent = Locked(false)
    let third = Task { [proxy] in
      _ = try await proxy.broadcastWhenReady(.note, 3)
      hasSent.withLock { $0 = true }
    }
    await until(line.waitingSenders == 1 || hasSent.withLock { $0 })
    expect(line.count, equals: 1)
    expect(!hasSent.withLock { $0 })
    sent.open()
    try await third.value
    try await proxy.drain()
    expect(journal.all, equals: ["a 1", "a 2", "a 3"])
  }

  @Test("a target with a registration for each of two selectors has one message at a time")
  func twoRegistrations() async throws {
    let (clerk, inside, sent) = (Clerk("a", journal), Latch(), Latch())
    clerk.onNote { [journal] number in
      inside.open()
      sent.pass()
      journal.write("a ended \(number)")
    }
    proxy.add(clerk, delivery: .automatic(wide), only: [Message.note.selector])
    proxy.add(clerk, delivery: .automatic(wide), only: [Message.say.selector])
    wide.async { [proxy] in _ = proxy.broadcast(.note, 1) }
    inside.pass()
    expect(wide.sync { proxy.broadcast(.say, "two").queued }, equals: 1)
    sent.open()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
    expect(journal.all, equals: ["a 1", "a ended 1", "a: two"])
    withExtendedLifetime(clerk) {}
  }

  @Test("queued messages of a target wait while a sender on its concurrent queue calls it")
  func queuedBehindDirect() async throws {
    let (clerk, other, inside, passed) = (Clerk("a", journal), Clerk("b"), Latch(), Latch())
    clerk.onNote { [journal] number in
      if number == 1 {
        inside.open()
        passed.pass()
      }
      journal.write("a ended \(number)")
    }
    other.onNote { if $0 == 3 { passed.open() } }
    proxy.add(clerk, delivery: .automatic(wide), priority: 1)
    let registration = proxy.add(other, delivery: .queue(wide))
    registration.mute()
    wide.async { [proxy] in _ = proxy.broadcast(.note, 1) }
    inside.pass()
    registration.unmute()
    // Sent from another thread, so they run on the queue, the first target before the other.
    for number in 2...3 { expect(proxy.broadcast(.note, number).queued, equals: 2) }
    passed.pass()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
    expect(journal.all, equals: (1...3).flatMap { ["a \($0)", "a ended \($0)"] })
    expect(other.journal.all, equals: ["b 2", "b 3"])
    withExtendedLifetime((clerk, other)) {}
  }

  @Test("a message that a target sends to itself runs synchronously, also during a drain of its queue")
  func nestedTurns() async throws {
    let clerk = Clerk("a", journal)
    clerk.onNote { [proxy, journal] number in
      guard number < 3 else { return }
      let summary = proxy.broadcast(.note, number + 1)
      journal.write("\(number + 1) was \(summary.delivered == 1 ? "direct" : "queued")")
    }
    proxy.add(clerk, delivery: .automatic(wide))
    let expected = ["a 1", "a 2", "a 3", "3 was direct", "2 was direct"]
    wide.sync { _ = proxy.broadcast(.note, 1) }
    expect(journal.take(), equals: expected)
    proxy.broadcast(.note, 1)
    try await proxy.drain()
    expect(journal.take(), equals: expected)
    withExtendedLifetime(clerk) {}
  }

  /// Adds two targets to the concurrent queue.
  private func onBoth(_ first: @escaping @Sendable () -> Int, _ second: @escaping @Sendable () -> Int) {
    proxy.on(.value, delivery: .automatic(wide), first)
    proxy.on(.value, delivery: .automatic(wide), second)
  }

  @Test("a message is queued for a target that another thread starts running during the broadcast")
  func takenMeanwhile() async throws {
    let (inside, sent, turns) = (Latch(), Latch(), Locked((first: 0, second: 0)))
    onBoth { [proxy, wide] in
      let isOuter = turns.withLock { turns in
        turns.first += 1
        return turns.first == 1
      }
      if isOuter {
        // The first target is running, so this message is queued for it and calls the second one.
        wide.async { _ = proxy.broadcast(.value) }
        inside.pass()
      }
      return 1
    } _: { [journal] in
      let turn = turns.withLock { turns in
        turns.second += 1
        return turns.second
      }
      journal.write("begins \(turn)")
      inside.open()
      sent.pass()
      journal.write("ends \(turn)")
      return 10
    }
    let sum = try wide.sync { try proxy.collect(.value, returning: .sum) }
    expect(sum, equals: 1)
    expect(journal.all, equals: ["begins 1"])
    sent.open()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
    expect(journal.all, equals: ["begins 1", "ends 1", "begins 2", "ends 2"])
    expect(turns.withLock { $0.first }, equals: 2)
  }

  /// While the first of two targets runs, another thread starts to run the second one, which ends
  /// after the returned latch was opened.
  private func secondRunsMeanwhile() -> Latch {
    let (inside, sent, isOuter) = (Latch(), Latch(), Locked(true))
    onBoth { [proxy, wide] in
      if isOuter.withLock({ exchange(&$0, with: false) }) {
        wide.async { _ = proxy.broadcast(.value) }
        inside.pass()
      }
      return 1
    } _: {
      inside.open()
      sent.pass()
      return 10
    }
    return sent
  }

  @Test("a broadcast counts a target that another thread started running as queued")
  func countedAsQueued() async throws {
    let sent = secondRunsMeanwhile()
    let summary = wide.sync { proxy.broadcast(.value) }
    expect(summary, equals: BroadcastSummary(delivered: 1, queued: 1))
    sent.open()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
  }

  @Test("an automatic target that forwards to a suspending method has one message at a time")
  @MainActor
  func suspendingForwardingTarget() async throws {
    let gate = Turnstile.shut(4791)
    let target = Switchboard(SlowWriter(journal, gate))
    proxy.add(target, delivery: .automatic())
    let first = Task { [proxy] in _ = try await proxy.collectAndWait(.note, 1, returning: .all) }
    await gate.arrived(1)
    let second = Task { [proxy] in _ = try await proxy.collectAndWait(.note, 2, returning: .all) }
    await Task {}.value
    gate.open()
    try await first.value
    try await second.value
    expect(journal.all, equals: ["begins 1", "ends 1", "begins 2", "ends 2"])
    withExtendedLifetime(target) {}
  }

  @Test("an automatic target that forwards to a suspending method gets a broadcast from its own context")
  @MainActor
  func broadcastToSuspendingForwardingTarget() async throws {
    let target = Switchboard(SlowWriter(journal, Turnstile.shut(4792)))
    proxy.add(target, delivery: .automatic())
    let (errors, stages) = (Journal(), Journal())
    proxy.onError = { errors.write("\($0.error)") }
    let trace = proxy.trace { event in
      if event.receiver.contains("Switchboard") { stages.write("\(event.stage) \(event.step)") }
    }
    proxy.broadcast(.note, 2)
    try await proxy.drain()
    trace.cancel()
    let began = stages.all.filter { $0.hasPrefix("began") }.map { $0.dropFirst(6) }
    let ended = stages.all.filter { $0.hasPrefix("answered") }.map { $0.dropFirst(9) }
    expect(began.sorted(), equals: ended.sorted())
    expect(journal.all, equals: ["begins 2", "ends 2"])
    expect(errors.all, equals: [])
    withExtendedLifetime(target) {}
  }

  @Test("a message that an automatic target forwards to a suspending method is charged and traced once")
  @MainActor
  func suspendingForwardingTargetOnce() async throws {
    let target = Switchboard(SlowWriter(journal, Turnstile.shut(4793)))
    proxy.add(target, delivery: .automatic())
    let (charged, stages) = (Locked(0), Journal())
    let trace = proxy.trace { if $0.receiver.contains("Switchboard") { stages.write($0.stage.rawValue) } }
    let send: @Sendable () -> Void = { [proxy] in
      var message = Invocation("note:", arguments: [ArgumentBox(2)])
      message.budget = MessageBudget { item, _ in if item == .target { charged.withLock { $0 += 1 } } }
      proxy.broadcast(message)
    }
    for isHere in [false, true] {
      if isHere { send() } else { await Task.detached(operation: send).value }
      try await proxy.drain()
      expect(charged.withLock { exchange(&$0, with: 0) }, equals: 1)
      expect(stages.take(), equals: ["queued", "began", "answered"])
    }
    trace.cancel()
  }

  @Test("a message is charged once to a target that another thread starts running during the message")
  func chargedOnce() async throws {
    let (sent, charged) = (secondRunsMeanwhile(), Locked(0))
    var message = Invocation("value")
    message.budget = MessageBudget { item, _ in if item == .target { charged.withLock { $0 += 1 } } }
    wide.sync { [message] in expect(proxy.broadcast(message), equals: BroadcastSummary(delivered: 1, queued: 1)) }
    sent.open()
    wide.sync(flags: .barrier) {}
    try await proxy.drain()
    expect(charged.withLock { $0 }, equals: 2)
  }

  @Test("a blocking sender gets an error if another thread runs the target meanwhile and waits for the sender")
  func busyTargetThatWaits() throws {
    let options = MulticastOptions(errors: .stopAtFirst)
    let (first, second) = (MulticastProxy<any Member>(options: options), MulticastProxy<any Member>(options: options))
    let (entered, found) = (Latch(), Journal())
    @Sendable func isFirst(_ key: String, _ count: Int = 1) -> Bool {
      found.write(key)
      return found.all.filter { $0 == key }.count == count
    }
    // The second message's sender is already in the table of waiting senders.
    first.on(.agrees) {
      if isFirst("before one", 2) { entered.open() }
      return true
    }
    first.on(.agrees, delivery: .automatic(.global())) {
      guard isFirst("one") else { return true }
      do { _ = try second.collectBlocking(.agrees, returning: .all, timeout: .seconds(5)) } catch {
        found.write("\((error as? MessageError)?.code == .wouldDeadlock)")
      }
      return true
    }
    second.on(.agrees) {
      if isFirst("before two") {
        _ = onThreads(1) { _ in _ = second.broadcast(.agrees) }
        entered.pass()
      }
      return true
    }
    second.on(.agrees, delivery: .automatic(.global())) {
      if isFirst("two") { _ = try? first.collectBlocking(.agrees, returning: .all, timeout: .seconds(600)) }
      return true
    }
    _ = onThreads(1) { _ in _ = first.broadcast(.agrees) }
    try first.drainBlocking(timeout: .seconds(600))
    try second.drainBlocking(timeout: .seconds(600))
    expect(found.all.filter { ["true", "false"].contains($0) }, equals: ["true"])
    for proxy in [first, second] { proxy.removeAll() }
  }

  @Test("a forwarding target of a waiting sender on its queue has one message at a time")
  @MainActor
  func forwardingTarget() async throws {
    let relay = Relay(journal)
    proxy.add(relay, delivery: .automatic())
    relay.onSuspension.withLock { [proxy] in
      $0 = { await Task { @MainActor in _ = proxy.broadcast(.note, 2) }.value }
    }
    _ = try await proxy.collectAndWait(.note, 1, returning: .all)
    proxy.broadcast(.note, 2)
    try await proxy.drain()
    expect(Array(journal.all.prefix(4)), equals: ["begins 1", "ends 1", "begins 2", "ends 2"])
    withExtendedLifetime(relay) {}
  }

  @Test("a message without an answer is not reported as not awaited if another thread starts running its only target")
  func takenWithoutAnswer() async throws {
    let (queue, held) = (queue, Locked<Registration?>(nil))
    let registration = proxy.on(.ping, delivery: .automatic(queue)) { [journal] in journal.write("ping") }
    // The sender looks at this target's context after it has found the first target free.
    let asked = AskedContext {
      guard let turns = held.withLock({ exchange(&$0, with: nil) })?.queued?.turns else { return }
      expect(onThreads(1) { _ in expect(turns.acquire()) })
    }
    proxy.on(.ping, delivery: .on(asked, isAutomatic: true)) {}.mute()
    held.withLock { $0 = registration }
    try queue.sync { try expect(proxy.collect(.ping, returning: .all).count, equals: 0) }
    expect(held.withLock { $0 } == nil)
  }

  @Test("a target that is unmuted during a message is not called on a thread outside its queue")
  func unmutedMeanwhile() async throws {
    let muted = Locked<Registration?>(nil)
    let mark = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: mark, value: true)
    proxy.on(.note) { _ in muted.withLock { $0 }?.unmute() }
    let registration = proxy.on(.note, delivery: .automatic(queue)) { [journal] number in
      journal.write("\(number) on \(DispatchQueue.getSpecific(key: mark) == nil ? "the sender" : "its queue")")
    }
    registration.mute()
    muted.withLock { $0 = registration }
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    expect(proxy.broadcast(.note, 2).queued, equals: 1)
    try await proxy.drain()
    expect(journal.all, equals: ["2 on its queue"])
  }

  @Test("errors and deaths of targets called on the sender's queue are counted like those of direct targets")
  func countsInTurn() throws {
    var dying: Clerk? = Clerk("dead", journal)
    let (clerk, failing) = (Clerk("a", journal), Clerk("b", journal))
    failing.onNote { _ in throw Refusal() }
    for target in [clerk, failing, dying].compactMap({ $0 }) { proxy.add(target, delivery: .automatic(queue)) }
    let muted = proxy.add(Clerk("muted", journal), delivery: .automatic(queue), ownership: .strong)
    muted.mute()
    queue.sync { _ = proxy.broadcast(.note, 1) }
    dying = nil
    let summary = queue.sync { proxy.broadcast(.note, 2) }
    expect(summary, equals: BroadcastSummary(delivered: 1, failed: 1, skipped: 2))
    expect(journal.all, equals: ["a 1", "b 1", "dead 1", "a 2", "b 2"])
    // The targets are no longer in use, so the drain delivers messages from other threads.
    expect(proxy.broadcast(.note, 3).queued, equals: 2)
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(journal.all.suffix(2), equals: ["a 3", "b 3"])
    withExtendedLifetime((clerk, failing)) {}
  }

  private struct Refusal: Error {}

  @Test(
    "a message to targets and closures on the sender's own queue allocates nothing",
    .enabled(if: AllocationCounter.isAvailable))
  func allocations() throws {
    let adder = Adder()
    proxy.add(adder, delivery: .automatic(queue))
    for _ in 0..<3 { proxy.on(.note, delivery: .automatic(queue)) { [adder] in adder.add($0) } }
    let blocks = try withTablesUnchanged {
      try queue.sync {
        proxy.broadcast(.note, 1)
        return try #require(AllocationCounter.count(.thisThread) { for _ in 0..<100 { proxy.broadcast(.note, 1) } })
      }
    }
    expect(blocks, equals: 0)
    expect(adder.sum % 4, equals: 0)
  }
}
