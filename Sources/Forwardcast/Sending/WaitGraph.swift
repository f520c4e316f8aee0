// WaitGraph.swift: the wait-for graph of threads, tasks and queues, for detecting deadlocks.

import Dispatch

/// Work of one thread that other threads may wait for: a resolver hook, or a service under
/// construction. Its thread calls ``WaitGraph/begin(_:)`` and ``WaitGraph/end(_:)``.
package final class SharedWork: Sendable {
  private let makeName: @Sendable () -> String
  package var name: String { makeName() }
  /// The thread that created the work and does it.
  package let thread = ThreadIdentity.current
  fileprivate let gate = DispatchGroup()

  /// Creates work of the calling thread. The thread must begin and end the work. Otherwise the work
  /// is never freed.
  package init(_ name: @escaping @Sendable () -> String) {
    makeName = name
    gate.enter()
  }

  fileprivate var awaited: AwaitedEnd {
    AwaitedEnd([ObjectIdentifier(self)]) { WaitGraph.work(of: self.thread).drop { $0 !== self }.map(\.name) }
  }
}

/// The error of a thread whose wait would deadlock, perhaps across other threads.
package struct WaitCycle: Error {
  /// The names of the work in the cycle, thread by thread, beginning with the calling thread. Each
  /// thread's names end with the work in which it waits. The last name closes the cycle.
  package let chain: [String]
}

/// An object that a sender or thread waits for.
struct AwaitedEnd: Sendable, Equatable {
  /// The wait ends when no other thread or task holds these identities.
  fileprivate let identities: [ObjectIdentifier]
  /// Returns the name of the object, and the names of work done for it.
  let names: @Sendable () -> [String]

  /// - Parameter names: returns the names. The closure retains the objects of the identities.
  init(_ identities: [ObjectIdentifier], names: @escaping @Sendable () -> [String]) {
    (self.identities, self.names) = (identities, names)
  }

  static func == (left: AwaitedEnd, right: AwaitedEnd) -> Bool { left.identities == right.identities }
}

/// A wait of a thread or task. The thread or task holds the identities `held` until the wait ends.
final class Wait: @unchecked Sendable {  // what changes is guarded by the graph's lock
  fileprivate let held: [ObjectIdentifier]
  /// True if the holder itself waits. False if a task waits that the holder might not await.
  fileprivate let isOwn: Bool
  /// Functions that return the awaited objects. A message can add them one by one.
  private var awaits: [@Sendable () -> [AwaitedEnd]] = []
  /// Reduces the awaited objects for a part of a message.
  private struct Reduction: Sendable {
    let part: ObjectIdentifier
    let reduce: @Sendable ([AwaitedEnd]) -> [AwaitedEnd]
  }
  /// Applied one after another.
  private var reductions: [Reduction] = []

  init(holding held: [ObjectIdentifier], isOwn: Bool = true) { (self.held, self.isOwn) = (held, isOwn) }

  fileprivate var awaited: [AwaitedEnd] {
    let (awaits, reductions) = WaitGraph.graph.withLock { _ in (self.awaits, self.reductions) }
    var found = awaits.flatMap { $0() }
    for reduction in reductions { found = reduction.reduce(found) }
    return found
  }

  /// Reduces the awaited objects to a subset: the objects that `awaits` returns.
  func narrow(to awaits: @escaping @Sendable () -> [AwaitedEnd]) {
    let old = WaitGraph.graph.withLock { graph in
      graph.changes += 1
      return (exchange(&self.awaits, with: [awaits]), exchange(&reductions, with: []))
    }
    withExtendedLifetime(old) {}
  }

  /// Reduces the awaited objects by `reduce`. Replaces an earlier reduction for the same part.
  func narrow(_ part: ObjectIdentifier, by reduce: @escaping @Sendable ([AwaitedEnd]) -> [AwaitedEnd]) {
    let old = WaitGraph.graph.withLock { graph in
      graph.changes += 1
      let old = reductions.filter { $0.part == part }
      reductions.removeAll { $0.part == part }
      reductions.append(Reduction(part: part, reduce: reduce))
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// Adds the wait, or further awaited objects, to the graph, unless a cycle is certain. Every search
  /// evaluates `awaited`. Returns a certain or possible cycle, as a path from a wanted object to a
  /// held object.
  func enter(_ awaited: @autoclosure @escaping @Sendable () -> [AwaitedEnd]) -> (ring: [AwaitedEnd], isCertain: Bool)? {
    while true {
      let changes = WaitGraph.graph.withLock { $0.changes }
      let wanted = awaited()
      let own = isOwn ? WaitGraph.path(from: wanted, to: held) { $0.isOwn } : nil
      let ring = own ?? WaitGraph.path(from: wanted, to: held) { _ in true }
      // If no wait was entered during the search, all observed waits existed at the same time.
      let isCurrent = WaitGraph.graph.withLock { graph in
        guard graph.changes == changes else { return false }
        if own != nil { return true }
        graph.changes += 1
        awaits.append(awaited)
        for held in held where !(graph.waits[held]?.contains { $0 === self } ?? false) {
          graph.waits[held, default: []].append(self)
        }
        return true
      }
      if isCurrent { return ring.map { ($0, own != nil) } }
    }
  }

  func end() {
    WaitGraph.graph.withLock { graph in
      for held in held {
        graph.waits[held]?.removeAll { $0 === self }
        if graph.waits[held]?.isEmpty == true { graph.waits[held] = nil }
      }
    }
  }
}

/// The waits of the process: threads wait for shared work, and senders wait for targets. A caller
/// searches for a cycle. If no other wait was entered during the search, the caller enters its own;
/// otherwise it searches again. So exactly one caller in a cycle finds the cycle and throws. The
/// lock is not held while the awaited objects are determined.
package enum WaitGraph {
  fileprivate struct Graph {
    /// The work of all threads. Within one thread, each element needs the thread's next element.
    var work: [SharedWork] = []
    var waits: [ObjectIdentifier: [Wait]] = .init()
    var changes = 0
  }
  fileprivate static let graph = Guarded(Graph())

  fileprivate static func work(of thread: ThreadIdentity) -> [SharedWork] {
    graph.withLock { $0.work.filter { $0.thread == thread } }
  }

  /// The identities held by the current thread: shared work, and the contexts of deliveries.
  static var held: [ObjectIdentifier] { HeldContext.all + work(of: .current).map { ObjectIdentifier($0) } }

  /// The objects that an identity's holder waits for.
  static func awaited(byHolderOf identity: ObjectIdentifier) -> [AwaitedEnd] {
    (graph.withLock { $0.waits[identity] } ?? []).flatMap(\.awaited)
  }

  /// A path from a wanted to a held object. The holder of each object awaits the next object.
  fileprivate static func path(
    from wanted: [AwaitedEnd], to held: [ObjectIdentifier], over isMeant: (Wait) -> Bool
  ) -> [AwaitedEnd]? {
    var seen = Set<ObjectIdentifier>()
    var paths = wanted.map { [$0] }
    while let path = paths.popLast(), let last = path.last {
      if last.identities.contains(where: held.contains) { return path }
      for identity in last.identities where seen.insert(identity).inserted {
        for wait in graph.withLock({ $0.waits[identity] }) ?? [] where isMeant(wait) {
          paths += wait.awaited.map { path + [$0] }
        }
      }
    }
    return nil
  }

  package static func begin(_ work: SharedWork) { graph.withLock { $0.work.append(work) } }

  /// Ends `work` and the waits for it. Called once, after the outcome of `work` is available.
  package static func end(_ work: SharedWork) {
    graph.withLock { $0.work.removeAll { $0 === work } }
    // The gate opens last, so that a thread still waiting there is not taken for part of a cycle.
    work.gate.leave()
  }

  /// Waits until `work` has ended. Throws if the thread of `work` is the calling thread or waits
  /// for the calling thread.
  package static func wait(for work: SharedWork) throws(WaitCycle) {
    let wait = Wait(holding: held)
    if let (ring, isCertain) = wait.enter([work.awaited]), isCertain {
      let between = ring.dropLast().flatMap { $0.names() } + (ring.last?.names().prefix(1) ?? [])
      throw WaitCycle(chain: self.work(of: .current).map(\.name) + between)
    }
    work.gate.wait()
    wait.end()
  }
}
