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
  /// Searched, since few threads work or wait at a time.
  private struct State {
    /// What all threads do; of one thread, each needed by the one before.
    var work: [SharedWork] = []
    var waits: [(thread: ThreadIdentity, work: SharedWork)] = []

    func ring(closedBy wanted: SharedWork, on me: ThreadIdentity) -> [String]? {
      let mine = work.filter { $0.thread == me }
      var (chain, next) = (mine.map(\.name), wanted)
      while next.thread != me {
        let theirs = work.filter { $0.thread == next.thread }
        // Work that has ended is not there: its waiter is about to continue.
        guard let place = theirs.firstIndex(where: { $0 === next }),
          let wait = waits.first(where: { $0.thread == next.thread })
        else { return nil }
        chain += theirs[place...].map(\.name)
        next = wait.work
      }
      return mine.contains { $0 === next } ? chain + [next.name] : nil
    }
  }

  private static let state = Guarded(State())

  package static func begin(_ work: SharedWork) { state.withLock { $0.work.append(work) } }

  /// Ends `work` and its waits. Called once, when its outcome is where waiters look for it.
  package static func end(_ work: SharedWork) {
    state.withLock { $0.work.removeAll { $0 === work } }
    // Last: a thread that waits for ended work is about to continue, and in no ring.
    work.gate.leave()
  }

  /// Waits until `work` has ended.
  ///
  /// - Throws: when its thread is the calling one, or waits, perhaps across others, for work of the calling thread.
  package static func wait(for work: SharedWork) throws(WaitCycle) {
    let me = ThreadIdentity.current
    let ring = state.withLock { state -> [String]? in
      let ring = state.ring(closedBy: work, on: me)
      if ring == nil { state.waits.append((me, work)) }
      return ring
    }
    if let ring { throw WaitCycle(chain: ring) }
    work.gate.wait()
    state.withLock { $0.waits.removeAll { $0.thread == me } }
  }
}
