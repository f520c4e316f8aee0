// WaitingTests.swift: senders that wait for answers, suspended or blocked.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Waiting for answers")
struct WaitingTests {
  let journal = Journal()
  let context = StepContext("steps")
  let queue = DispatchQueue(label: "answers")
  let proxy = MulticastProxy<any Member>()

  @Test("answers of direct and queued targets are returned in the order of delivery")
  func collects() async throws {
    let targets = ["four", "to", "three"].map { Clerk($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    proxy.add(targets[0], delivery: .queue(queue))
    proxy.add(targets[1])
    proxy.add(targets[2], delivery: .mainActor)
    try await expect(proxy.collectAndWait(.value, returning: .all), equals: [4, 2, 5])
    try await expect(proxy.collectAndWait(.value, returning: .sum), equals: 11)
    try await expect(proxy.collectAndWait(.value, returning: .first), equals: 4)
    expect(try await proxy.collectAndWait(.agrees, returning: .any) == false)
    let empty = try await proxy.collectAndWait(Message<() -> String>("nobody"), returning: .all)
    expect(empty.isEmpty)
    // A synchronous collect does not wait for queued targets.
    try expect(proxy.collect(.value, returning: .all), equals: [2])
  }

  @Test("a policy that knows its result early queries no target behind it")
  func stopsEarly() async throws {
    let (yes, no) = (Clerk("yes", journal), Clerk("no", journal))
    proxy.add(yes)
    proxy.add(no, delivery: .on(context))
    expect(try await proxy.collectAndWait(.agrees, returning: .any))
    expect(context.waiting, equals: 0)
  }

  @Test("a sender is told of a message that its context has thrown away")
  func lost() throws {
    final class Forgetful: DeliveryContext {
      let name = "forgetful"
      var identity: ObjectIdentifier { ObjectIdentifier(self) }
      var isCurrent: Bool { false }
      func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { _ = mailbox.takePosted() }
    }
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(Forgetful()))
    // The timeout passes only if the sender is not notified.
    let report = try proxy.forwardBlocking(Invocation("value"), timeout: .seconds(60))
    expect(report.skipped.map(\.reason), equals: [.lost])
    try expect(proxy.collectBlocking(.value, returning: .all, timeout: .seconds(60)), equals: [])
    expect(journal.all, equals: [])
  }

  @Test("the first error is thrown after the others have answered")
  func errors() async throws {
    let (good, bad) = (Clerk("good", journal), Clerk("bad", journal))
    bad.onNote { _ in throw TargetError(name: "bad") }
    proxy.add(bad, delivery: .queue(queue))
    proxy.add(good, delivery: .queue(queue))
    await #expect(throws: TargetError(name: "bad")) { try await proxy.collectAndWait(.note, 1, returning: .all) }
    expect(journal.all, equals: ["bad 1", "good 1"])
    let report = try await proxy.forwardAndWait(Invocation("note:", arguments: [ArgumentBox(2)]))
    expect(report.failures.count == 1 && report.answers.count == 1 && report.queued.isEmpty)
    expect(report.answers.first?.wasQueued == true)
  }

  @Test(
    "a sender does not wait for a target that is removed, muted or deallocated meanwhile",
    arguments: ["remove", "mute", "die", "all"])
  func leaving(how: String) async throws {
    let stays = Clerk("stays", journal)
    defer { withExtendedLifetime(stays) {} }
    var leaves: Clerk? = Clerk("leaves", journal)
    proxy.add(stays, delivery: .on(context))
    let registration = proxy.add(leaves.unsafelyUnwrapped, delivery: .on(context))
    let answer = Task { [proxy] in try await proxy.collectAndWait(.value, returning: .all) }
    await until(context.waiting > 0)
    switch how {
    case "remove": registration.cancel()
    case "mute": registration.mute()
    case "die": leaves = nil
    default: proxy.removeAll()
    }
    context.run()
    try await expect(answer.value, equals: how == "all" ? [] : [5])
    withExtendedLifetime(leaves) {}
  }

  @Test("a call with a timeout sends nothing in a canceled task")
  func canceledBefore() async throws {
    let (clerk, proxy) = (Clerk("clerk", journal), proxy)
    proxy.add(clerk, delivery: .queue(queue))
    let sender = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await proxy.collectAndWait(.note, 1, returning: .all, timeout: .seconds(60))
    }
    await #expect(throws: CancellationError.self) { try await sender.value }
    try await proxy.drain()
    expect(journal.all, equals: [])
    withExtendedLifetime(clerk) {}
  }

  @Test("a canceled sender stops waiting at once; the message stays sent")
  func cancellation() async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .on(context))
    let answer = Task { [proxy] in try await proxy.collectAndWait(.note, 1, returning: .all) }
    await until(context.waiting > 0)
    answer.cancel()
    await #expect(throws: CancellationError.self) { try await answer.value }
    context.run()
    expect(journal.all, equals: ["a 1"])
  }

  @Test("a blocked sender gets the answers, or the names of the targets that did not answer")
  func blocking() throws {
    let (a, b) = (Clerk("a", journal), Clerk("bb", journal))
    proxy.add(a, delivery: .queue(queue))
    try expect(proxy.collectBlocking(.value, returning: .all, timeout: .seconds(600)), equals: [1])
    proxy.add(b, delivery: .on(context))
    let error = #expect(throws: MessageError.self) {
      try proxy.collectBlocking(.value, returning: .all, timeout: .milliseconds(1))
    }
    expect(error?.code, equals: .timedOut)
    expect(error?.evidence.contains("Clerk on steps") ?? false)
    #expect(throws: MessageError.self) { try proxy.drainBlocking(timeout: .milliseconds(1)) }
    context.run()
  }

  @Test("an error that occurs before the timeout is reported once")
  func errorBeforeTimeout() {
    let (bad, here, slow) = (Clerk("bad"), Clerk("here"), Clerk("slow"))
    let (never, told) = (StepContext("never"), Journal())
    bad.onNote { _ in throw TargetError(name: "bad") }
    here.onNote { [context] _ in context.run() }
    proxy.add(bad, delivery: .on(context))
    proxy.add(here)
    proxy.add(slow, delivery: .on(never))
    proxy.onError = { told.write("\($0.error)") }
    let error = #expect(throws: MessageError.self) {
      try proxy.collectBlocking(.note, 1, returning: .all, timeout: .milliseconds(1))
    }
    expect(error?.code, equals: .timedOut)
    expect(told.all, equals: ["refused by bad"])
    never.run()
    withExtendedLifetime((bad, here, slow)) {}
  }

  @Test("an error behind a queued proxy goes to onError once its sender has stopped waiting")
  func lateErrorBehindProxy() {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (outer, inner, bad, told) = (Shared(), Shared(), Clerk("bad"), Journal())
    bad.onNote { _ in throw TargetError(name: "bad") }
    inner.add(bad, delivery: .direct)
    outer.add(inner, delivery: .on(context))
    outer.onError = { told.write("\($0.error)") }
    let error = #expect(throws: MessageError.self) {
      try outer.collectBlocking(.note, 1, returning: .all, timeout: .milliseconds(1))
    }
    expect(error?.code, equals: .timedOut)
    expect(told.all, equals: [])
    context.run()
    expect(told.all, equals: ["refused by bad"])
    withExtendedLifetime(bad) {}
  }

  @Test("waiting for the current queue is an error instead of a deadlock")
  func deadlock() throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .queue(queue))
    func refused(_ body: () throws -> Void) {
      expect(#expect(throws: MessageError.self) { try body() }?.code, equals: .wouldDeadlock)
    }
    queue.sync {
      refused { _ = try proxy.collectBlocking(.value, returning: .sum, timeout: .seconds(600)) }
      refused { _ = try proxy.forwardBlocking(Invocation("value"), timeout: .seconds(600)) }
      refused { try proxy.drainBlocking(timeout: .seconds(600)) }
    }
    let narrower = DispatchQueue(label: "inner", target: queue)
    narrower.sync { refused { _ = try proxy.collectBlocking(.value, returning: .sum, timeout: .seconds(600)) } }
    let inside = Locked<MessageError.Code?>(nil)
    target.onNote { [proxy] _ in
      do { _ = try proxy.collectBlocking(.value, returning: .sum, timeout: .seconds(600)) } catch {
        inside.withLock { $0 = (error as? MessageError)?.code }
      }
    }
    proxy.broadcast(.note, 1)
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(inside.withLock { $0 }, equals: .wouldDeadlock)
  }

  @Test("a sender on a queue does not wait for a muted target on the same queue")
  func mutedOnHeldQueue() throws {
    let (muted, heard) = (Clerk("a", journal), Clerk("bb", journal))
    proxy.add(muted, delivery: .queue(queue)).mute()
    proxy.add(heard)
    let answers = try queue.sync { try proxy.collectBlocking(.value, returning: .all, timeout: .seconds(600)) }
    expect(answers, equals: [2])
    withExtendedLifetime((muted, heard)) {}
  }

  @Test(
    "waiting for a queue that targets the caller's queue is an error, whichever was used first",
    arguments: [true, false])
  func targetedQueue(outerFirst: Bool) throws {
    let (outer, middle) = (queue, DispatchQueue(label: "middle", target: queue))
    let inner = DispatchQueue(label: "inner", target: middle)
    let (waiter, target) = (Clerk("outer", journal), Clerk("inner", journal))
    let outside = MulticastProxy<any Member>()
    if outerFirst { outside.add(waiter, delivery: .queue(outer)) }
    proxy.add(target, delivery: .queue(inner))
    inner.sync {}
    if !outerFirst {
      outside.add(waiter, delivery: .queue(outer))
      // A queue checks its target queues for newly used ones when a message arrives.
      proxy.broadcast(.note, 1)
      try proxy.drainBlocking(timeout: .seconds(600))
    }
    let found = Locked<[MessageError]>([])
    waiter.onNote { [proxy] _ in
      for wait in [
        { _ = try proxy.collectBlocking(.value, returning: .sum, timeout: .seconds(600)) },
        { try proxy.drainBlocking(timeout: .seconds(600)) },
      ] as [() throws -> Void] {
        do { try wait() } catch { found.withLock { $0 += [error as? MessageError].compactMap { $0 } } }
      }
    }
    outside.broadcast(.note, 2)
    try outside.drainBlocking(timeout: .seconds(600))
    expect(found.withLock { $0.map(\.code) }, equals: [.wouldDeadlock, .wouldDeadlock])
    expect(
      found.withLock { $0.allSatisfy { $0.evidence.contains("queue inner") && $0.evidence.contains("target queue") } })
    // A thread outside the queues may wait for it.
    try expect(proxy.collectBlocking(.value, returning: .all, timeout: .seconds(600)), equals: [5])
    withExtendedLifetime((waiter, target)) {}
  }

  @Test("a sender on a concurrent queue may wait for a queue that targets it")
  func concurrentTarget() throws {
    let outer = DispatchQueue(label: "outer", attributes: .concurrent)
    let inner = DispatchQueue(label: "inner", target: outer)
    let (waiter, target) = (Clerk("outer", journal), Clerk("inner", journal))
    let outside = MulticastProxy<any Member>()
    outside.add(waiter, delivery: .concurrentQueue(outer))
    proxy.add(target, delivery: .queue(inner))
    inner.sync {}
    let found = Locked<[Int]>([])
    waiter.onNote { [proxy] _ in
      let values = try? proxy.collectBlocking(.value, returning: .all, timeout: .seconds(600))
      found.withLock { $0 = values ?? [] }
    }
    outside.broadcast(.note, 2)
    try outside.drainBlocking(timeout: .seconds(600))
    expect(found.withLock { $0 }, equals: [5])
    withExtendedLifetime((waiter, target)) {}
  }

  @Test("drain also waits for messages that targets send while they run")
  func draining() async throws {
    let (first, second) = (Clerk("1", journal), Clerk("2", journal))
    first.onNote { [proxy] number in if number < 20 { proxy.broadcast(.note, number + 1) } }
    proxy.add(first, delivery: .queue(queue))
    proxy.add(second, delivery: .queue(DispatchQueue(label: "other")))
    proxy.broadcast(.note, 1)
    try await proxy.drain()
    expect(journal.all.count, equals: 40)
    try await expect(proxy.drain(), equals: 0)
  }

  @Test("drain counts the deliveries of a proxy that was added meanwhile only from then on")
  func drainingMore() async throws {
    let (outer, clerk) = (MulticastProxy<any MessageReceiver & Sendable>(), Clerk("1", journal))
    proxy.add(clerk, delivery: .queue(queue))
    for number in 1...5 { proxy.broadcast(.note, number) }
    _ = try await proxy.drain()
    outer.on(.note, delivery: .queue(DispatchQueue(label: "outer"))) { [proxy, outer] _ in outer.add(proxy) }
    outer.broadcast(.note, 6)
    // None if the message ran before the call.
    try await #expect(outer.drain() <= 1)
    withExtendedLifetime(clerk) {}
  }

  @Test("drain counts an awaited message to a queued proxy once")
  func drainingQueuedProxy() async throws {
    typealias Outer = MulticastProxy<any MessageReceiver & Sendable>
    let (outer, inner, clerk) = (Outer(), Outer(), Clerk("12", journal))
    inner.add(clerk)
    outer.add(inner, delivery: .queue(queue))
    queue.suspend()
    let mailbox = try #require(outer.core.mailboxes.first)
    async let answer = outer.collectAndWait(.value, returning: .sum)
    await until(mailbox.last != 0)
    let message = mailbox.last
    async let count = outer.drain()
    await until(mailbox.last != message)
    queue.resume()
    try await expect([answer, count], equals: [2, 1])
    withExtendedLifetime(clerk) {}
  }

  @Test("a queued proxy that a target of its context removes or mutes first gets no awaited message")
  func removedQueuedProxy() async throws {
    typealias Outer = MulticastProxy<any MessageReceiver & Sendable>
    for isMuted in [false, true] {
      let (outer, inner, clerk, remover) = (Outer(), Outer(), Clerk("inner", journal), Clerk("remover", journal))
      inner.add(clerk)
      let nested = outer.add(inner, delivery: .queue(queue))
      remover.onNote { _ in if isMuted { nested.mute() } else { nested.cancel() } }
      outer.add(remover, delivery: .queue(queue))
      let report = try await outer.forwardAndWait(Invocation("note:", arguments: [ArgumentBox(1)]))
      expect(report.skipped.map(\.reason), equals: [isMuted ? .muted : .removed])
      expect(journal.take(), equals: ["remover 1"])
      withExtendedLifetime((clerk, remover)) {}
    }
  }

  @Test("an asynchronous method ends before its target's next message runs, and delays no other target")
  func suspending() async throws {
    let (slow, quick) = (Clerk("slow", journal), Clerk("quick", journal))
    proxy.add(slow, delivery: .on(context))
    proxy.add(quick, delivery: .on(context))
    let gate = Turnstile.shut(71)
    proxy.on(.slow, delivery: .on(context)) { _ in 0 }.cancel()
    let answers = Task { [proxy] in try await proxy.collectAndWait(.slow, 71, returning: .all) }
    await until(context.waiting > 0)
    proxy.remove(quick)
    proxy.add(quick, delivery: .on(context))
    proxy.broadcast(.note, 2)
    context.run()
    await gate.arrived(1)
    expect(Set(journal.take()), equals: ["quick 2", "slow begins 71"])
    gate.open()
    try await expect(answers.value, equals: [71])
    await until(!context.step() && journal.all.count >= 2)
    expect(journal.all, equals: ["slow ends 71", "slow 2"])
  }

  @Test("an asynchronous method that would wait for its own end gets an error")
  func waitsForItself() async throws {
    let seen = Locked<[MessageError.Code]>([])
    let proxy = proxy
    final class Looper: Member, MessageReceiver {
      let proxy: MulticastProxy<any Member>
      init(_ proxy: MulticastProxy<any Member>) { self.proxy = proxy }
      static let selectorTable = SelectorTable(for: Looper.self) {
        Responds(
          to: .slow,
          async: { looper, number in
            try await looper.proxy.collectAndWait(.slow, number, returning: .sum)
          })
      }
    }
    let looper = Looper(proxy)
    defer { withExtendedLifetime(looper) {} }
    proxy.add(looper, delivery: .queue(queue))
    do { _ = try await proxy.collectAndWait(.slow, 1, returning: .sum) } catch let error as MessageError {
      seen.withLock { $0.append(error.code) }
    }
    expect(seen.withLock { $0 }, equals: [.wouldDeadlock])
  }

  @Test("an answer by boxes crosses only when it is known to be Sendable")
  func boxedAnswers() async throws {
    final class Thing {}
    proxy.on(Message<() -> Thing>("thing"), delivery: .queue(queue)) { Thing() }
    proxy.on(Message<() -> Int>("number"), delivery: .queue(queue)) { 5 }
    let target = Clerk("abc", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .queue(queue))
    let refused = try await proxy.forwardAndWait(Invocation("thing"))
    expect((refused.failures.first?.error as? MessageError)?.code, equals: .isolationMismatch)
    let given = try await proxy.forwardAndWait(Invocation("value"))
    try expect(given.answers.first?.result?.unbox(as: Int.self), equals: 3)
  }

  @Test("a thread that would wait for its own queue through a proxy on another queue gets an error at once")
  func deadlockThroughProxy() {
    let (outer, inner) = (Shared(), Shared())
    let target = Clerk("a", journal)
    inner.add(target, delivery: .queue(queue))
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    // The timeout passes only if the wait is not refused.
    let error = #expect(throws: MessageError.self) {
      try queue.sync { try outer.collectBlocking(.value, returning: .sum, timeout: .seconds(60)) }
    }
    expect(error?.code, equals: .wouldDeadlock)
    withExtendedLifetime((target, inner)) {}
  }

  @Test("a report lists a queued target that is muted and deallocated as dead, and does not retain it")
  func mutedAndDead() async throws {
    var goes: Clerk? = Clerk("goes", journal)
    let registration = proxy.add(goes.unsafelyUnwrapped, delivery: .on(context))
    let reasons = Task { [proxy] in try await proxy.forwardAndWait(Invocation("value")).skipped.map(\.reason) }
    await until(context.waiting > 0)
    registration.mute()
    goes = nil
    context.run()
    try await expect(reasons.value, equals: [.dead])
  }

  @Test("a sender does not wait for capacity behind a muted nested proxy")
  func roomOfMuted() async throws {
    let (outer, inner) = (Shared(), Shared())
    let target = Clerk("a", journal)
    inner.add(target, delivery: .on(context), buffer: .suspendSender(1))
    inner.broadcast(.note, 1)
    outer.add(inner).mute()
    let reasons = try await outer.forwardAndWait(Invocation("value")).skipped.map(\.reason)
    expect(reasons, equals: [.muted])
    withExtendedLifetime((target, inner)) {}
  }

  private typealias Shared = MulticastProxy<any MessageReceiver & Sendable>

  @Test(
    "a proxy that stops at the first error also stops at an error that another context has already reported",
    arguments: [false, true])
  func stopsForKnown(isNested: Bool) async throws {
    let options = MulticastOptions(errors: .stopAtFirst)
    let (inner, outer) = (Shared(options: options), Shared(options: isNested ? options : MulticastOptions()))
    let (bad, runs, last) = (Clerk("bad", journal), Clerk("runs", journal), Clerk("last", journal))
    bad.onNote { _ in throw TargetError(name: "bad") }
    runs.onNote { [context] _ in context.run() }
    inner.add(bad, delivery: .on(context))
    inner.add(runs)
    outer.add(inner)
    (isNested ? outer : inner).add(last)
    await #expect(throws: TargetError.self) {
      try await (isNested ? outer : inner).collectAndWait(.note, 1, returning: .all)
    }
    expect(journal.all, equals: ["runs 1", "bad 1"])
    withExtendedLifetime((bad, runs, last, inner)) {}
  }
}
