// ScheduleContext.swift: a queue or an actor of a schedule.

import Forwardcast

/// A queue or an actor of a schedule. Each turn delivers one message to all targets on this queue
/// or actor. Turns run in a task of the context, which has the task-local values of the test.
final class ScheduleContext: DeliveryContext, TaskExecutor, @unchecked Sendable {  // used by the turn that has control
  let name: String
  let number: Int
  /// Strong, because owners of the context may outlive the run. The end of the run breaks the
  /// cycle.
  private let world: ScheduleWorld
  private let isMain: Bool
  var lanes: [ScheduleLane] = []
  var within: (() -> Void) -> Void = { $0() }
  var holder: Turn?
  /// The lane of the last turn, and the lanes that have woken the context and await a turn.
  private var last: ScheduleLane?
  private var woken: [ScheduleLane] = []
  /// The work that the context's task does next, and the job that resumes the task.
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

  /// Resumes the task. More than one job may be necessary to leave a pause.
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

  /// Records a post to a lane. The post wakes the context if the lane's mailbox was empty. For a
  /// post to the mailbox of the last turn there are two possibilities: the mailbox is still awake,
  /// or it waits behind other mailboxes. The search tries both.
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
