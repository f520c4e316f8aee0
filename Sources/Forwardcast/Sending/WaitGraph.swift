// WaitGraph.swift: who waits for whom, so that nobody waits for itself.

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

  fileprivate var awaited: AwaitedEnd {
    AwaitedEnd([ObjectIdentifier(self)]) { WaitGraph.work(of: self.thread).drop { $0 !== self }.map(\.name) }
  }
}

/// A thread must not wait: it would wait for itself, perhaps across other threads.
package struct WaitCycle: Error {
  /// The names of all work in the ring: the calling thread's, then each further thread's from the awaited work to the work in
  /// which it waits itself; the last name closes the ring.
  package let chain: [String]
}

/// Something that a sender or thread waits for.
struct AwaitedEnd: Sendable {
  /// Whoever holds one of these has to end first.
  fileprivate let identities: [ObjectIdentifier]
  /// Its name, and those of what is done for it.
  let names: @Sendable () -> [String]

  /// - Parameter names: retains the objects of the identities.
  init(_ identities: [ObjectIdentifier], names: @escaping @Sendable () -> [String]) {
    (self.identities, self.names) = (identities, names)
  }
}

/// A wait, and what stays busy until it ends.
final class Wait: @unchecked Sendable {  // `awaits` is guarded by the graph's lock
  fileprivate let held: [ObjectIdentifier]
  /// Whether the holder waits itself. A task that a method made may be awaited by it, or not.
  fileprivate let isOwn: Bool
  private var awaits: @Sendable () -> [AwaitedEnd] = { [] }

  /// - Parameter held: the identities that nobody else can use until the wait ends.
  init(holding held: [ObjectIdentifier], isOwn: Bool = true) { (self.held, self.isOwn) = (held, isOwn) }

  fileprivate var awaited: [AwaitedEnd] { WaitGraph.graph.withLock { _ in awaits }() }

  /// Replaces what is waited for by a part of it.
  func narrow(to awaits: @escaping @Sendable () -> [AwaitedEnd]) {
    let old = WaitGraph.graph.withLock { graph in
      graph.changes += 1
      return exchange(&self.awaits, with: awaits)
    }
    withExtendedLifetime(old) {}
  }

  /// Enters the wait, or more that it waits for, unless that is certain to close a ring.
  ///
  /// - Parameter wanted: what is waited for in addition.
  /// - Returns: the ring that it closes or may close, from the wanted end to one that is held.
  func enter(_ wanted: [AwaitedEnd]) -> (ring: [AwaitedEnd], isCertain: Bool)? {
    while true {
      let changes = WaitGraph.graph.withLock { $0.changes }
      let own = isOwn ? WaitGraph.path(from: wanted, to: held) { $0.isOwn } : nil
      let ring = own ?? WaitGraph.path(from: wanted, to: held) { _ in true }
      // While nothing is entered waits only end, so all that was seen existed at one moment.
      let isCurrent = WaitGraph.graph.withLock { graph in
        guard graph.changes == changes else { return false }
        if own != nil { return true }
        graph.changes += 1
        awaits = { [awaits] in awaits() + wanted }
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

/// The waits of the whole process: of threads for shared work, of senders for targets.
///
/// Whoever is about to wait looks for a ring and enters the wait, unless another one was entered meanwhile; then it looks again. So
/// exactly one of those that close a ring finds it, and throws instead. Other waits are asked outside of the lock.
package enum WaitGraph {
  fileprivate struct Graph {
    /// What all threads do; of one thread, each needed by the one before.
    var work: [SharedWork] = []
    var waits: [ObjectIdentifier: [Wait]] = .init()
    var changes = 0
  }
  fileprivate static let graph = Guarded(Graph())

  fileprivate static func work(of thread: ThreadIdentity) -> [SharedWork] {
    graph.withLock { $0.work.filter { $0.thread == thread } }
  }

  /// What the running thread holds: contexts of deliveries and shared work.
  static var held: [ObjectIdentifier] { HeldContext.all + work(of: .current).map { ObjectIdentifier($0) } }

  /// What the holder of an identity waits for.
  static func awaited(byHolderOf identity: ObjectIdentifier) -> [AwaitedEnd] {
    (graph.withLock { $0.waits[identity] } ?? []).flatMap(\.awaited)
  }

  /// The ends from a wanted one to one that is held, each awaited by the holder of the one before;
  /// `nil` if there is no such path.
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

  /// Ends `work` and its waits. Called once, when its outcome is where waiters look for it.
  package static func end(_ work: SharedWork) {
    graph.withLock { $0.work.removeAll { $0 === work } }
    // Last: a thread that waits for ended work is about to continue, and in no ring.
    work.gate.leave()
  }

  /// Waits until `work` has ended.
  ///
  /// - Throws: when its thread is the calling one, or waits, perhaps across others, for work of the calling thread.
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
