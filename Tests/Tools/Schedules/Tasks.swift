// Tasks.swift: runs the jobs of tasks as strands of the walk.

import Foundation

@testable import Forwardcast

/// Runs each job for the global executor as a strand of the current walk.
enum Tasks {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private final class Executor: TaskExecutor {
    func enqueue(_ job: UnownedJob) { Tasks.enqueue(job) }
  }
  private static let executor = Executor()
  nonisolated(unsafe) private static weak var walker: Walker?

  /// Takes over the global executor's jobs, once for the whole process.
  static func join(_ walker: Walker) {
    self.walker = walker
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "swift_task_enqueueGlobal_hook") else {
      fatalError("the concurrency runtime has no hook for its jobs")
    }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if Steps.scheduler == nil { original(job) } else { Tasks.enqueue(job) }
    }
  }

  private static func enqueue(_ job: UnownedJob) {
    walker?.start("task") { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
  }
}

/// Runs the jobs of one sender's task as strands with its name.
final class SenderExecutor: TaskExecutor {
  private let sender: Int
  private let walker: Walker

  init(_ sender: Int, _ walker: Walker) { (self.sender, self.walker) = (sender, walker) }

  func enqueue(_ job: UnownedJob) {
    walker.start("sender \(sender)") { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
