// WaitGraph.swift: work that one thread does for all who need it, and who waits for which.

import Dispatch

/// Work that one thread does while others wait for its end: a resolver hook, or a service under construction. Its maker calls
/// ``WaitGraph/begin(_:)`` and ``WaitGraph/end(_:)`` on the same thread.
package final class SharedWork: Sendable {
  private let makeName: @Sendable () -> String
  /// Its name in errors.
  package var name: String { makeName() }
  /// The thread that made it and does it.
  package let thread = ThreadIdentity.current
  fileprivate let gate = DispatchGroup()

  /// Work of the calling thread, for which others may wait from now on.
  ///
  /// - Precondition: it is begun and ended: a gate that is never left is never freed.
  /// - Parameter name: makes its name, for an error.
  package init(_ name: @escaping @Sendable () -> String) {
    makeName = name
    gate.enter()
  }
}

/// A thread must not wait: it would wait for itself, perhaps across other threads.
package struct WaitCycle: Error {
  /// The names of all work in the ring: the calling thread's, then each further thread's from the awaited work to the work in
  /// which it waits itself; the last name closes the ring.
  package let chain: [String]
}

/// Which thread does what, and waits for what, in the whole process.
///
/// Before a thread waits for another's work it looks for a ring of waits, and enters its wait under the same lock: of the threads
/// that close a ring exactly one finds it, and throws instead.
package enum WaitGraph {
  private struct Worker {
    let thread: ThreadIdentity
    /// The thread's work, each item needed by the one before.
    var stack: [SharedWork] = []
    var awaited: SharedWork?
  }

  /// The threads that work or wait: few.
  private static let workers = Guarded<[Worker]>([])

  private static func change(_ thread: ThreadIdentity, _ workers: inout [Worker], _ change: (inout Worker) -> Void) {
    let place = workers.firstIndex { $0.thread == thread } ?? workers.endIndex
    if place == workers.endIndex { workers.append(Worker(thread: thread)) }
    change(&workers[place])
    if workers[place].stack.isEmpty, workers[place].awaited == nil { workers.remove(at: place) }
  }

  package static func begin(_ work: SharedWork) {
    workers.withLock { change(work.thread, &$0) { $0.stack.append(work) } }
  }

  /// Ends `work` and its waits. Called once, when its outcome is where waiters look for it.
  package static func end(_ work: SharedWork) {
    workers.withLock { change(work.thread, &$0) { $0.stack.removeAll { $0 === work } } }
    // Last: a thread that waits for ended work is about to continue, and in no ring.
    work.gate.leave()
  }

  /// Waits until `work` has ended.
  ///
  /// - Throws: when its thread is the calling one, or waits, perhaps across others, for work of the calling thread.
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
      // Work that has ended is not on its thread's stack: its waiter is about to continue.
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
