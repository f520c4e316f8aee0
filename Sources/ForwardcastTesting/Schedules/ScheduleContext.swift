// ScheduleContext.swift: a queue or an actor of a schedule.

import Forwardcast

/// A queue or an actor of a schedule. A turn on it is the delivery of one message to all of its targets there.
///
/// Turns run in a task of the context, which has the test's task-local values and so knows the current test.
final class ScheduleContext: DeliveryContext, TaskExecutor, @unchecked Sendable {  // used by the turn that has control
  let name: String
  let number: Int
  /// A reference cycle while the run lasts, since the context's owners may outlive the run.
  private let world: ScheduleWorld
  private let isMain: Bool
  /// The mailboxes in the order of their first posts.
  var lanes: [ScheduleLane] = []
  var within: (() -> Void) -> Void = { $0() }
  var holder: Turn?
  /// The lane of the last turn, which continues unless its mailbox is asleep, and the lanes that
  /// have woken the context since.
  private var last: ScheduleLane?
  private var woken: [ScheduleLane] = []
  /// The next work of the context's task, and the job that resumes the task.
  private var next: (() -> Void)?
  private var job: UnownedJob?
  private var isOver = false

  init(_ name: String, isMain: Bool, number: Int, in world: ScheduleWorld) {
    (self.name, self.isMain, self.number, self.world) = (name, isMain, number, world)
    Task(executorPreference: self) { [self] in
      while !isOver {
        next.take()?()
        await Task.yield()
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

  /// Runs the context's task until its next pause.
  func run(_ body: @escaping () -> Void) {
    next = body
    resume { next != nil }
  }

  /// Resumes the task. Resuming from a pause may take a job of its own.
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

  var identity: ObjectIdentifier { isMain ? ObjectIdentifier(MainActor.shared) : ObjectIdentifier(self) }

  var isCurrent: Bool { isHeld }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { world.posted(mailbox, on: self) }

  // MARK: Turns

  func lane(_ mailbox: Mailbox) -> ScheduleLane? {
    lanes.first { if case .mailbox(_, let own) = $0.kind { own === mailbox } else { false } }
  }

  /// Records that a message was posted, which wakes the context if the mailbox was empty. The
  /// mailbox of the last turn either is not asleep yet and continues, or follows the mailboxes that
  /// woke the context before it: both are tried.
  func noteWoken(_ lane: ScheduleLane) {
    if lane.entries.count == 1, !woken.contains(where: { $0 === lane }) { woken.append(lane) }
  }

  func isReady(_ lane: ScheduleLane) -> Bool {
    guard holder == nil, !lane.entries.isEmpty else { return false }
    if lane === last { return true }
    let hasGone = last.map { last in last.entries.isEmpty || woken.contains { $0 === last } } ?? true
    return hasGone && woken.first { $0 !== last } === lane && (woken.first === lane || last === woken.first)
  }

  func begin(_ turn: Turn) {
    (holder, last) = (turn, turn.lane)
    woken.removeAll { $0 === turn.lane }
  }
}
