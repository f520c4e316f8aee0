// WaitGraph.swift: work that one thread does for all who ask for it, and who waits for which.
// Layer: Sending. See DESIGN.md, "Waiting and deadlock".

import Dispatch

/// Work that one thread does while others wait for its end: a resolver hook, or a service under construction.
///
/// Whoever makes one calls ``WaitGraph/begin(_:)`` and ``WaitGraph/end(_:)`` on the same thread.
package final class SharedWork: Sendable {
  /// What errors call it.
  package let name: String
  /// The thread that does it: the one that made this.
  package let thread = ThreadIdentity.current
  fileprivate let gate = DispatchGroup()

  /// Work of the calling thread, for which others may wait from now on.
  ///
  /// - Precondition: it is begun and ended: a gate that is never left is never freed.
  package init(_ name: String) {
    self.name = name
    gate.enter()
  }
}

/// Why a thread must not wait: it would wait for itself, perhaps over other threads.
package struct WaitCycle: Error {
  /// The names of everything on the way: all that the calling thread is at, then on each further thread from what it is
  /// waited for up to what it waits for itself; the last name is the one that closes the ring.
  package let chain: [String]
}

/// Which thread does what, and waits for what, in the whole process.
///
/// A thread at work may need what another thread is at, and wait for it. Threads that wait for each other in a ring
/// would wait for ever. So each looks along the ring before it waits, and enters its wait in the same step under one
/// lock: of the threads that close a ring exactly one finds it, and gets an error instead.
package enum WaitGraph {
  private struct Worker {
    /// What the thread is at: each item asked for by the one before.
    var stack: [SharedWork] = []
    /// What it waits for.
    var awaited: SharedWork?
  }

  private static let workers = Guarded<[ThreadIdentity: Worker]>([:])

  /// Notes that the calling thread, which made `work`, does it now.
  package static func begin(_ work: SharedWork) {
    workers.withLock { $0[work.thread, default: Worker()].stack.append(work) }
  }

  /// Lets those who wait for `work` go on. Called once, when its outcome is where they will look for it.
  package static func end(_ work: SharedWork) {
    workers.withLock { workers in
      workers[work.thread]?.stack.removeAll { $0 === work }
      if workers[work.thread]?.stack.isEmpty == true { workers[work.thread] = nil }
    }
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
      workers[me, default: Worker()].awaited = work
      return nil
    }
    if let ring { throw WaitCycle(chain: ring) }
    work.gate.wait()
    workers.withLock { workers in
      workers[me]?.awaited = nil
      if workers[me]?.stack.isEmpty == true { workers[me] = nil }
    }
  }

  private static func ring(closedBy wanted: SharedWork, on me: ThreadIdentity, _ workers: [ThreadIdentity: Worker])
    -> [String]?
  {
    guard let mine = workers[me]?.stack else { return nil }
    var chain = mine.map(\.name)
    var next = wanted
    while next.thread != me {
      // Work that has ended is no longer on its thread's stack: who waits for it is about to go on.
      guard let worker = workers[next.thread], let place = worker.stack.firstIndex(where: { $0 === next }),
        let further = worker.awaited
      else { return nil }
      chain += worker.stack[place...].map(\.name)
      next = further
    }
    guard mine.contains(where: { $0 === next }) else { return nil }
    return chain + [next.name]
  }
}
