// OutsideTasks.swift: tasks that code of a schedule makes without saying where they run.

import Forwardcast

/// Takes jobs to the schedule whose code made them, which would run on the runtime's own threads: those of `Task { }`, and of
/// the core's tasks for methods that suspend. A task that has a preference for an executor comes there by itself; one that is
/// made in it has none.
///
/// The runtime calls a function, if there is one, in place of its own. It is looked up by name, as for other test libraries. All
/// threads that are not a schedule's are left to the runtime.
enum OutsideTasks {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The tasks that schedules under way have taken over, by number.
  private static let taken = Guarded<[UInt64: ScheduleWorld]>([:])

  /// Whether the runtime has that function; the first look puts it in place.
  static let areTaken: Bool = {
    guard let place = systemSymbol("swift_task_enqueueGlobal_hook") else { return false }
    place.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if !OutsideTasks.take(job) { original(job) }
    }
    return true
  }()

  private static func take(_ job: UnownedJob) -> Bool {
    if let world = Turn.running?.world {
      if let number = job.taskNumber { taken.withLock { $0[number] = world } }
      world.enqueue(job)
      return true
    }
    guard taken.withLock({ !$0.isEmpty }), let number = job.taskNumber else { return false }
    guard let world = taken.withLock({ $0[number] }) else { return false }
    world.enqueue(job)
    return true
  }

  /// Forgets the tasks of a schedule that has ended.
  static func forget(_ world: ScheduleWorld) {
    taken.withLock { taken in if !taken.isEmpty { taken = taken.filter { $0.value !== world } } }
  }
}

extension UnownedJob {
  /// The number of the job's task; `nil` for a job that is none's, as that of an actor.
  var taskNumber: UInt64? {
    let digits = description.drop { !$0.isNumber }.prefix { $0.isNumber }
    return UInt64(digits)
  }
}
