// ScheduleContext.swift: a queue or an actor whose turns a schedule gives.

import Forwardcast

/// A queue or an actor of a schedule: the deliveries on it are turns, one message at all of its targets there a turn.
///
/// They run in a task of its own, which has the task-local values of the test and so knows which test it is.
final class ScheduleContext: DeliveryContext, TaskExecutor, @unchecked Sendable {  // touched by whoever has the turn
  let name: String
  let number: Int
  /// What its turns have in common, and its posts.
  let turns: Int
  let line: Int
  /// Held in a ring while the run lasts: what has a context may outlive it.
  private let world: ScheduleWorld
  private let isQueue: Bool
  private let isMain: Bool
  /// The mailboxes that were posted to, in that order.
  var lanes: [ScheduleLane] = []
  /// What each delivery runs in.
  var within: (() -> Void) -> Void = { $0() }
  /// The turn that the context is in, if it has begun and not ended.
  var holder: Turn?
  /// The lane that had the context last, which keeps it while it does not fall asleep, and those that have woken it since.
  private var last: ScheduleLane?
  private var woken: [ScheduleLane] = []
  /// What the context's task does next, and where it goes on.
  private var next: (() -> Void)?
  private var job: UnownedJob?
  private var isOver = false

  init(_ name: String, isQueue: Bool, isMain: Bool, number: Int, turns: Int, line: Int, in world: ScheduleWorld) {
    (self.name, self.isQueue, self.isMain, self.number) = (name, isQueue, isMain, number)
    (self.turns, self.line, self.world) = (turns, line, world)
    Task(executorPreference: self) { [self] in
      while !isOver {
        next.take()?()
        await Task.yield()
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

  /// Lets the context's task go on until its next pause.
  func run(_ body: @escaping () -> Void) {
    next = body
    resume { next != nil }
  }

  /// Lets the task go on. Its way back from a pause may take a job of its own.
  private func resume(while isWanted: () -> Bool) {
    while isWanted(), let job {
      self.job = nil
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  func end() {
    isOver = true
    resume { true }
  }

  // MARK: As a context

  var identity: ContextIdentity {
    if isMain { return .actor(ObjectIdentifier(MainActor.shared)) }
    return isQueue ? .queue(ObjectIdentifier(self)) : .actor(ObjectIdentifier(self))
  }

  var isCurrent: Bool { isHeld }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { world.posted(mailbox, on: self) }

  // MARK: Turns

  func lane(_ mailbox: Mailbox) -> ScheduleLane? {
    lanes.first { if case .mailbox(_, let own) = $0.kind { own === mailbox } else { false } }
  }

  /// Notes that a message was posted: to a mailbox that was empty it wakes the context. The mailbox that had the last turn may
  /// not be asleep yet, and then goes on, or may be, and then comes after those that woke the context before: both are possible.
  func noteWoken(_ lane: ScheduleLane) {
    if lane.entries.count == 1, !woken.contains(where: { $0 === lane }) { woken.append(lane) }
  }

  func isReady(_ lane: ScheduleLane) -> Bool {
    guard holder == nil, !lane.entries.isEmpty else { return false }
    if lane === last { return true }
    let hasGone = last.map { last in last.entries.isEmpty || woken.contains { $0 === last } } ?? true
    return hasGone && woken.first { $0 !== last } === lane
      && (woken.first === lane || last === woken.first)
  }

  func begin(_ turn: Turn) {
    (holder, last) = (turn, turn.lane)
    woken.removeAll { $0 === turn.lane }
  }
}
