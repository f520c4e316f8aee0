// MailboxTests.swift: for which turns a mailbox wakes its context.

import TestSupport
import Testing

@testable import Forwardcast

/// A context of tasks that only notes with which priorities it was woken.
private final class NotingContext: DeliveryContext {
  private let priorities = Locked<[TaskPriority]>([])
  let hasPriority: Bool

  init(hasPriority: Bool) { self.hasPriority = hasPriority }

  let name = "notes"
  var identity: ContextIdentity { .executor(ObjectIdentifier(self)) }
  var isCurrent: Bool { isHeld }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { priorities.withLock { $0.append(priority) } }

  /// What it was woken with since the last look.
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
  /// Whether it waits for a sender's message when it is opened.
  private let waits: Bool

  init(waits: Bool = false) { self.waits = waits }

  override func open(in mailbox: Mailbox) -> Int {
    opened += 1
    isUnfinished = waits
    return 1
  }

  override func awaitsSender() -> Bool { waits }
}

@Suite("Mailboxes")
struct MailboxTests {
  private let context = NotingContext(hasPriority: true)

  /// Runs in a task of that priority, which nobody awaits: who does gives it its own priority.
  private func run(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Task.detached(priority: priority) {
        body()
        continuation.resume()
      }
    }
  }

  @Test("what is added to an envelope that waits wakes the context for a turn of a higher priority alone")
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

  @Test("a turn of a lower priority opens nothing while a more urgent message is about to be added")
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
    #expect(mailbox.isAsleep)
  }

  @Test("a sender that a turn waits for wakes the context for a turn that is not below what was asked for meanwhile")
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

  @Test("a mailbox that falls asleep while a sender adds to it is woken once more")
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

  @Test("where turns have no priority, a sender wakes the context only when that waits for it")
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
