// OutsideTasks.swift: moves tasks without an executor to the schedule whose code created them.

import Forwardcast

/// Moves jobs off the runtime's threads, to the schedule whose code created the jobs' tasks: by
/// `Task { }`, or by calling a method that suspends, for which Forwardcast creates a task. The
/// runtime has a hook for enqueued jobs; this type looks the hook up by name. Jobs that other code
/// enqueues stay on the runtime's threads.
enum OutsideTasks {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The schedules of the moved tasks, by task number.
  private static let taken = Guarded<[UInt64: ScheduleWorld]>([:])

  /// True if the runtime has the hook. The first access installs the hook.
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
    let world = taken.withLock { taken in taken.isEmpty ? nil : job.taskNumber.flatMap { taken[$0] } }
    world?.enqueue(job)
    return world != nil
  }

  static func forget(_ world: ScheduleWorld) {
    taken.withLock { taken in if !taken.isEmpty { taken = taken.filter { $0.value !== world } } }
  }
}

extension UnownedJob {
  /// The number of the job's task; `nil` for jobs without a task, such as an actor's jobs.
  var taskNumber: UInt64? {
    let digits = description.drop { !$0.isNumber }.prefix { $0.isNumber }
    return UInt64(digits)
  }
}
