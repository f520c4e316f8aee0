// MailboxTests.swift: the drains that a mailbox schedules.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

/// A context that only records the priorities it was woken with.
private final class NotingContext: DeliveryContext {
  private let priorities = Locked<[TaskPriority]>([])
  let hasPriority: Bool

  init(hasPriority: Bool) { self.hasPriority = hasPriority }

  let name = "notes"
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var isCurrent: Bool { isHeld }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { priorities.withLock { $0.append(priority) } }

  /// The priorities since the last call.
  func take() -> [TaskPriority] {
    priorities.withLock { priorities in
      defer { priorities = [] }
      return priorities
    }
  }
}

/// An envelope that messages are added to.
private final class Bag: Envelope, @unchecked Sendable {  // used by one task after another
  private(set) var opened = 0
  /// True if an opened envelope waits for a sender's message.
  private let waits: Bool

  init(waits: Bool = false) { self.waits = waits }

  override func open(in mailbox: Mailbox) -> Int {
    opened += 1
    isUnfinished = waits
    return 1
  }

  override func awaitsSender() -> Bool { waits }
}

/// An envelope that waits at a gate when it is opened.
private final class Visitor: Envelope, @unchecked Sendable {  // used by one task after another
  private let gate: SerialGate
  private(set) var isThrough = false

  init(at gate: SerialGate) { self.gate = gate }

  override func open(in mailbox: Mailbox) -> Int {
    isThrough = !mailbox.park(self, 0, at: gate)
    return 1
  }

  override func resume(_ index: Int, in mailbox: Mailbox) { isThrough = true }
}

@Suite("Mailboxes")
struct MailboxTests {
  private let context = NotingContext(hasPriority: true)

  /// Runs in a detached task of the given priority. Awaiting the task would raise its priority.
  private func run(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Task.detached(priority: priority) {
        body()
        continuation.resume()
      }
    }
  }

  @Test("a drain ends after the number of messages its context allows, and schedules the next one")
  func endOfTurn() {
    let (mailbox, bags) = (Mailbox(context), (0...context.turn).map { _ in Bag() })
    for bag in bags { mailbox.post(bag, Mailbox.level(.medium)) }
    expect(context.take(), equals: [.medium])
    for turn in [context.turn, 1] {
      let opened = bags.count { $0.opened == 1 }
      mailbox.drain(.medium)
      expect(bags.count { $0.opened == 1 } - opened, equals: turn)
    }
    expect(context.take(), equals: [.medium])
    expect(mailbox.isAsleep)
  }

  @Test("adding to a waiting envelope schedules a drain only if the new message has a higher priority")
  func addedMoreUrgently() async {
    let (mailbox, bag) = (Mailbox(context), Bag())
    mailbox.post(bag, Mailbox.level(.medium))
    expect(context.take(), equals: [.medium])
    await run(.low) { mailbox.adding(to: bag) { false } }
    expect(context.take(), equals: [])
    await run(.high) { mailbox.adding(to: bag) { false } }
    expect(context.take(), equals: [.high])
    await run(.high) { mailbox.adding(to: bag) { false } }
    expect(context.take(), equals: [])
  }

  @Test("a task's job on a context runs in a drain of the task's priority, whoever resumes the task")
  func resumedTask() async {
    let context = NotingContext(hasPriority: true)
    let (mailbox, turnstile) = (Mailbox(context), Turnstile.shut(4741))
    let task = Task.detached(executorPreference: MailboxExecutor(mailbox), priority: .high) { await turnstile.pass() }
    expect(context.take(), equals: [.high])
    mailbox.drain(.high)
    await turnstile.arrived(1)
    await Task.detached(priority: .background) { turnstile.open() }.value
    expect(context.take(), equals: [.high])
    mailbox.drain(.high)
    await task.value
  }

  @Test("a drain of a lower priority opens nothing while a more urgent message is being added")
  func lowerTurn() async {
    let (mailbox, bag) = (Mailbox(context), Bag())
    mailbox.post(bag, Mailbox.level(.low))
    await run(.high) {
      mailbox.adding(to: bag) {
        mailbox.drain(.low)
        return false
      }
    }
    expect(bag.opened, equals: 0)
    expect(context.take(), equals: [.low, .high])
    mailbox.drain(.high)
    expect(bag.opened, equals: 1)
    expect(mailbox.isAsleep)
  }

  @Test("a sender that a drain waits for schedules a drain with at least the priority requested meanwhile")
  func awaited() async {
    let (mailbox, bag) = (Mailbox(context), Bag(waits: true))
    mailbox.post(bag, Mailbox.level(.low))
    mailbox.drain(.low)
    await run(.low) { mailbox.adding(to: bag) { true } }
    expect(context.take(), equals: [.low, .low])
    mailbox.drain(.low)
    mailbox.post(Bag(), Mailbox.level(.high))
    mailbox.drain(.high)
    await run(.low) { mailbox.adding(to: bag) { true } }
    expect(context.take(), equals: [.high, .high])
    expect(bag.opened, equals: 3)
  }

  @Test("a mailbox that becomes asleep while a sender adds a message is woken again")
  func asleepMeanwhile() async {
    let (mailbox, bag) = (Mailbox(context), Bag())
    mailbox.post(bag, Mailbox.level(.high))
    await run(.low) {
      mailbox.adding(to: bag) {
        mailbox.drain(.high)
        return false
      }
    }
    expect(context.take(), equals: [.high, .low])
  }

  @Test("a message added to a waiting bounded line gets a drain of its priority, which also runs earlier messages")
  func joinedLine() async throws {
    let (proxy, clerk) = (MulticastProxy<any Member>(), Clerk("a"))
    let registration = proxy.add(clerk, delivery: .on(context), buffer: .keepOldest(2))
    let mailbox = try #require(registration.queued?.mailbox)
    await run(.low) { proxy.broadcast(.note, 1) }
    await run(.medium) { proxy.broadcast(.note, 2) }
    expect(context.take(), equals: [.low, .medium])
    // The buffer has no slot for it, so the most urgent waiting message is the same.
    await run(.high) { proxy.broadcast(.note, 3) }
    mailbox.drain(.low)
    expect(clerk.journal.all, equals: [])
    mailbox.drain(.medium)
    expect(clerk.journal.take(), equals: ["a 1", "a 2"])
    expect(context.take(), equals: [])
    // An empty buffer does not remember earlier priorities.
    await run(.low) { proxy.broadcast(.note, 4) }
    mailbox.drain(.low)
    expect(clerk.journal.all, equals: ["a 4"])
    expect(context.take(), equals: [.low])
    expect(mailbox.isAsleep)
  }

  @Test("a drain stops opening a bounded line once a more urgent message was added to it")
  func joinedOpenLine() async throws {
    let (proxy, clerk, sent) = (MulticastProxy<any Member>(), Clerk("a"), DispatchSemaphore(value: 0))
    let registration = proxy.add(clerk, delivery: .on(context), buffer: .keepNewest(9))
    let mailbox = try #require(registration.queued?.mailbox)
    clerk.onNote { number in
      guard number == 1 else { return }
      Task.detached(priority: .high) {
        proxy.broadcast(.note, 3)
        sent.signal()
      }
      sent.wait()
    }
    await run(.low) { for number in 1...2 { proxy.broadcast(.note, number) } }
    mailbox.drain(.low)
    expect(clerk.journal.all, equals: ["a 1"])
    expect(context.take(), equals: [.low, .high])
    mailbox.drain(.high)
    expect(clerk.journal.all, equals: ["a 1", "a 2", "a 3"])
    expect(mailbox.isAsleep)
  }

  @Test("messages postponed until a method ends run in a drain of their own priority")
  func putOff() async {
    let (mailbox, gate) = (Mailbox(context), SerialGate())
    let visitors = (0..<3).map { _ in Visitor(at: gate) }
    mailbox.close(gate)
    mailbox.post(visitors[0], Mailbox.level(.low))
    mailbox.post(visitors[1], Mailbox.level(.medium))
    mailbox.post(visitors[2], Mailbox.level(.low))
    mailbox.drain(.medium)
    await run(.low) { mailbox.reopen(gate) }
    expect(context.take(), equals: [.low, .medium, .low])
    mailbox.drain(.low)
    expect(visitors.map(\.isThrough), equals: [true, false, false])
    expect(context.take(), equals: [.medium])
    mailbox.drain(.medium)
    expect(visitors.map(\.isThrough), equals: [true, true, true])
    expect(mailbox.isAsleep)
  }

  @Test("on a context without priorities, a sender schedules a drain only if the context waits for it")
  func withoutPriorities() async {
    let context = NotingContext(hasPriority: false)
    let (mailbox, bag) = (Mailbox(context), Bag())
    mailbox.post(bag)
    expect(context.take().count, equals: 1)
    await run(.high) { mailbox.adding(to: bag) { false } }
    expect(context.take(), equals: [])
    await run(.high) { mailbox.adding(to: bag) { true } }
    expect(context.take(), equals: [.medium])
  }
}
