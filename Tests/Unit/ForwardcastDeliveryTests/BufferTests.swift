// BufferTests.swift: the messages that wait for one target, and which of them a buffer drops.

import CoreTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Buffers")
struct BufferTests {
  let journal = Journal()
  let context = StepContext("steps")
  let proxy = MulticastProxy<any Member>()

  @Test(
    "a bounded buffer keeps the messages of its policy and counts the dropped ones",
    arguments: [
      (DeliveryBuffer.unbounded, ["a 1", "a 2", "a 3", "a 4", "a 5"], 0),
      (.keepNewest(2), ["a 4", "a 5"], 3), (.keepOldest(2), ["a 1", "a 2"], 3),
      (.latestPerSelector, ["a 5"], 4), (.suspendSender(2), ["a 1", "a 2"], 3),
      (.keepNewest(1), ["a 5"], 4), (.keepOldest(9), ["a 1", "a 2", "a 3", "a 4", "a 5"], 0),
    ])
  func policies(buffer: DeliveryBuffer, kept: [String], dropped: Int) {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    let registration = proxy.add(target, delivery: .on(context), buffer: buffer)
    var lost = 0
    var queued = 0
    for number in 1...5 {
      let summary = proxy.broadcast(.note, number)
      lost += summary.dropped
      queued += summary.queued
    }
    context.run()
    expect(journal.take(), equals: kept)
    expect(lost == dropped && registration.dropped == dropped)
    if buffer == .keepOldest(2) { expect(queued, equals: 2) }
    for number in 6...7 { proxy.broadcast(.note, number) }
    context.run()
    expect(journal.all.last, equals: "a 7", "an emptied buffer takes messages again")
  }

  @Test("the latest message of each selector stays, and the kept messages run in sending order")
  func latest() {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context), buffer: .latestPerSelector)
    proxy.broadcast(.note, 1)
    proxy.broadcast(.say, "x")
    proxy.broadcast(.note, 2)
    context.run()
    expect(journal.all, equals: ["a: x", "a 2"])
  }

  @Test(
    "a new buffer policy is applied to waiting messages, but a bound on the oldest removes none of them",
    arguments: [
      (DeliveryBuffer.latestPerSelector, ["a: x", "a 3"]), (.keepNewest(2), ["a 2", "a 3"]),
      (.keepOldest(1), ["a 1", "a: x", "a 2", "a 3"]), (.suspendSender(1), ["a 1", "a: x", "a 2", "a 3"]),
      (.unbounded, ["a 1", "a: x", "a 2", "a 3"]),
    ])
  func change(buffer: DeliveryBuffer, kept: [String]) {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    let registration = proxy.add(target, delivery: .on(context), buffer: .keepOldest(9))
    proxy.broadcast(.note, 1)
    proxy.broadcast(.say, "x")
    for number in 2...3 { proxy.broadcast(.note, number) }
    expect(proxy.add(target, delivery: .on(context), buffer: buffer) === registration)
    context.run()
    expect(journal.all, equals: kept)
    expect(registration.dropped, equals: 4 - kept.count)
  }

  @Test("a target with many waiting messages lets other targets of its context run in between")
  func fair() {
    let (flooded, other) = (Clerk("f", journal), Clerk("o", journal))
    defer { withExtendedLifetime((flooded, other)) {} }
    proxy.add(flooded, delivery: .on(context), only: ["note:"], buffer: .keepNewest(200))
    proxy.add(other, delivery: .on(context), only: ["say:"])
    for number in 1...200 { proxy.broadcast(.note, number) }
    proxy.broadcast(.say, "x")
    context.run()
    expect(journal.all.count, equals: 201)
    expect(journal.all.firstIndex(of: "o: x") ?? .max < 100)
  }

  @Test("senders that wait for capacity continue when the registration ends")
  func ended() async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    let registration = proxy.add(target, delivery: .on(context), buffer: .suspendSender(1))
    let line = try #require(registration.queued?.line)
    try await proxy.broadcastWhenReady(.note, 1)
    let sender = Task { [proxy] in try await proxy.broadcastWhenReady(.note, 2) }
    await until(line.waitingSenders == 1)
    registration.cancel()
    expect(line.waitingSenders, equals: 0)
    if line.waitingSenders > 0 { sender.cancel() }
    _ = try await sender.value
    context.run()
    expect(journal.all, equals: [])
  }

  @Test("a reserved slot that its sender gives back can be reserved again")
  func placeGivenBack() {
    let line = BufferedLine(.suspendSender(1), gate: SerialGate())
    expect(line.reserveAtOnce())
    expect(!line.reserveAtOnce())
    line.giveBack()
    expect(line.reserveAtOnce())
  }

  @Test("a freed slot resumes one waiting sender")
  func onePlace() async throws {
    let line = BufferedLine(.suspendSender(1), gate: SerialGate())
    expect(line.reserveAtOnce())
    let senders = (0..<2).map { _ in Task { try await line.reserve() } }
    await until(line.waitingSenders == 2)
    for others in [1, 0] {
      line.giveBack()
      expect(line.waitingSenders, equals: others)
    }
    for sender in senders { try await sender.value }
  }

  @Test("a slot that a sender has reserved is not used by another sender")
  func placeKept() {
    let (line, mailbox) = (BufferedLine(.suspendSender(1), gate: SerialGate()), Mailbox(context))
    let (own, other) = (Envelope(), Envelope())
    expect(line.reserveAtOnce())
    expect(line.offer(other, reserved: false, to: mailbox) === other)
    expect(line.offer(own, reserved: true, to: mailbox) == nil)
    expect(line.count, equals: 1)
  }

  @Test("targets on one queue run in order, with or without a buffer")
  func orderAmongBuffers() {
    let clerks = ["a", "b", "c"].map { Clerk($0, journal) }
    for (clerk, buffer) in zip(clerks, [DeliveryBuffer.unbounded, .keepNewest(5), .unbounded]) {
      proxy.add(clerk, delivery: .on(context), buffer: buffer)
    }
    proxy.broadcast(.note, 1)
    context.run()
    expect(journal.all, equals: ["a 1", "b 1", "c 1"])
    withExtendedLifetime(clerks) {}
  }

  @Test("one target's buffer does not drop another's messages")
  func apart() {
    let (bounded, free) = (Clerk("b", journal), Clerk("f", journal))
    proxy.add(bounded, delivery: .on(context), buffer: .keepNewest(1))
    proxy.add(free, delivery: .on(context))
    for number in 1...3 { proxy.broadcast(.note, number) }
    context.run()
    expect(journal.all.filter { $0.hasPrefix("f") }, equals: ["f 1", "f 2", "f 3"])
    expect(journal.all.filter { $0.hasPrefix("b") }, equals: ["b 3"])
  }

  @Test("a report lists a target whose full buffer dropped the message")
  func report() throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context), buffer: .keepOldest(1))
    var call = Invocation("note:", arguments: [ArgumentBox(1)])
    try expect(proxy.forward(&call).queued.count, equals: 1)
    let report = try proxy.forward(&call)
    expect(report.queued.isEmpty && report.dropped == 1)
    expect(report.skipped.map(\.reason), equals: [.bufferFull])
    expect("\(report)", equals: "delivered 0, queued 0, failed 0, skipped 1 (Clerk: buffer full), dropped 1")
  }

  @Test("the report of a message that a later one replaced does not say that nobody responded")
  func replaced() async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context), buffer: .keepNewest(1))
    let sender = Task { [proxy] in
      let report = try await proxy.forwardAndWait(Invocation("note:", arguments: [ArgumentBox(1)]))
      return (report.skipped.map(\.reason), report.nobodyResponded)
    }
    while context.waiting == 0 { await Task.yield() }
    expect(proxy.broadcast(.note, 2).dropped, equals: 1)
    let (reasons, nobodyResponded) = try await sender.value
    expect(reasons, equals: [.bufferFull])
    expect(!nobodyResponded)
  }

  @Test("senders that wait for capacity are resumed in order, and no message is lost")
  func suspended() async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    let registration = proxy.add(target, delivery: .on(context), buffer: .suspendSender(2))
    for number in 1...2 { try await proxy.broadcastWhenReady(.note, number) }
    let sender = Task { [proxy] in
      for number in 3...50 { try await proxy.broadcastWhenReady(.note, number) }
    }
    while journal.all.count < 50 {
      context.step()
      await Task.yield()
    }
    try await sender.value
    expect(journal.all, equals: (1...50).map { "a \($0)" })
    expect(registration.dropped, equals: 0)
  }

  @Test("a sender that is canceled while it waits for capacity sends nothing and takes no slot")
  func cancelled() async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context), buffer: .suspendSender(1))
    try await proxy.broadcastWhenReady(.note, 1)
    let sender = Task { [proxy] in try await proxy.broadcastWhenReady(.note, 2) }
    sender.cancel()
    await #expect(throws: CancellationError.self) { try await sender.value }
    context.run()
    expect(journal.all, equals: ["a 1"])
    try await proxy.broadcastWhenReady(.note, 3)
    context.run()
    expect(journal.all, equals: ["a 1", "a 3"])
  }

  @Test("a message that ends while it waits for capacity can be sent to the same proxy again")
  func sentAgain() async throws {
    /// Keeps the first message that it gets. Used by one task at a time.
    final class Keeper: Member, MessageForwarding, @unchecked Sendable {
      static let selectorTable = SelectorTable(for: Keeper.self, rows: [])
      var kept: Invocation?
      func methodSignature(for selector: MessageSelector) -> MethodSignature? { .objects(arguments: 1) }
      func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
        kept = kept ?? invocation
        return DeliveryReport()
      }
    }
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(errors: .stopAtFirst))
    let (keeper, target) = (Keeper(), Clerk("a", journal))
    proxy.add(keeper)
    let line = try #require(
      proxy.add(target, delivery: .on(context), buffer: .suspendSender(1)).queued?.line)
    proxy.broadcast(.note, 1)
    keeper.kept = nil
    let sender = Task { [proxy] in try await proxy.broadcastWhenReady(.note, 2) }
    await until(line.waitingSenders == 1)
    sender.cancel()
    await #expect(throws: (any Error).self) { try await sender.value }
    let kept = try #require(keeper.kept)
    let summary = proxy.broadcast(kept)
    expect(summary.failed == 0 && summary.delivered == 1, "\(summary)")
    context.run()
    withExtendedLifetime((keeper, target)) {}
  }
}
