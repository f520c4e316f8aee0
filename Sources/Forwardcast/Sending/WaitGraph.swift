// WaitGraph.swift: work that one thread does for all who ask for it, and who waits for which.

import Dispatch

/// Work that one thread does while others wait for its end: a resolver hook, or a service under construction.
///
/// Whoever makes one calls ``WaitGraph/begin(_:)`` and ``WaitGraph/end(_:)`` on the same thread.
package final class SharedWork: Sendable {
  private let makeName: @Sendable () -> String
  /// What errors call it.
  package var name: String { makeName() }
  /// The thread that does it: the one that made this.
  package let thread = ThreadIdentity.current
  fileprivate let gate = DispatchGroup()

  /// Work of the calling thread, for which others may wait from now on.
  ///
  /// - Precondition: it is begun and ended: a gate that is never left is never freed.
  /// - Parameter name: makes what errors call it, when there is one.
  package init(_ name: @escaping @Sendable () -> String) {
    makeName = name
    gate.enter()
  }
}

/// Why a thread must not wait: it would wait for itself, perhaps over other threads.
package struct WaitCycle: Error {
  /// The names of all work in the ring: what the calling thread is doing, then on each further thread from the work that is
  /// waited for to the work in which it waits itself; the last name is the one that closes the ring.
  package let chain: [String]
}

/// Which thread does what, and waits for what, in the whole process.
///
/// A thread may need the result of another thread's work, and wait for it. Threads that wait for each other in a ring
/// would wait for ever. So each looks along the ring before it waits, and enters its wait in the same step under one
/// lock: of the threads that close a ring exactly one finds it, and gets an error instead.
package enum WaitGraph {
  private struct Worker {
    let thread: ThreadIdentity
    /// What the thread is at: each item asked for by the one before.
    var stack: [SharedWork] = []
    /// What it waits for.
    var awaited: SharedWork?
  }

  /// The threads that are at something, or wait: few.
  private static let workers = Guarded<[Worker]>([])

  /// Changes what a thread is at, or waits for.
  private static func change(_ thread: ThreadIdentity, _ workers: inout [Worker], _ change: (inout Worker) -> Void) {
    let place = workers.firstIndex { $0.thread == thread } ?? workers.endIndex
    if place == workers.endIndex { workers.append(Worker(thread: thread)) }
    change(&workers[place])
    if workers[place].stack.isEmpty, workers[place].awaited == nil { workers.remove(at: place) }
  }

  /// Notes that the calling thread, which made `work`, does it now.
  package static func begin(_ work: SharedWork) {
    workers.withLock { change(work.thread, &$0) { $0.stack.append(work) } }
  }

  /// Lets those who wait for `work` go on. Called once, when its outcome is where they will look for it.
  package static func end(_ work: SharedWork) {
    workers.withLock { change(work.thread, &$0) { $0.stack.removeAll { $0 === work } } }
    // After that: who waits for work that has ended is about to go on, and in no ring.
    work.gate.leave()
  }

  /// Waits until `work` has ended.
  ///
  /// - Throws: when its thread is the calling one, or waits, over however many others, for something that the calling
  ///   thread is at.
  package static func wait(for work: SharedWork) throws(WaitCycle) {
    let me = ThreadIdentity.current
    let ring = workers.withLock { workers -> [String]? in
      if let ring = self.ring(closedBy: work, on: me, workers) { return ring }
      change(me, &workers) { $0.awaited = work }
      return nil
    }
    if let ring { throw WaitCycle(chain: ring) }
    work.gate.wait()
    workers.withLock { change(me, &$0) { $0.awaited = nil } }
  }

  private static func ring(closedBy wanted: SharedWork, on me: ThreadIdentity, _ workers: [Worker]) -> [String]? {
    func worker(_ thread: ThreadIdentity) -> Worker? { workers.first { $0.thread == thread } }
    guard let mine = worker(me)?.stack else { return nil }
    var chain = mine.map(\.name)
    var next = wanted
    while next.thread != me {
      // Work that has ended is no longer on its thread's stack: who waits for it is about to go on.
      guard let worker = worker(next.thread), let place = worker.stack.firstIndex(where: { $0 === next }),
        let further = worker.awaited
      else { return nil }
      chain += worker.stack[place...].map(\.name)
      next = further
    }
    guard mine.contains(where: { $0 === next }) else { return nil }
    return chain + [next.name]
  }
}
