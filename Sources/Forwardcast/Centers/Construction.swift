// Construction.swift: services under construction, and who waits for which.
// Layer: Centers. See DESIGN.md, "Services under construction".

import Dispatch

/// One service while it is made, by one thread; others who ask for it wait for the outcome.
final class Construction: Sendable {
  enum Outcome: Sendable {
    case made(AnyServiceEntry)
    case failed(any Error)
  }

  let name: String
  let thread = ThreadMark.current
  fileprivate let gate = DispatchGroup()
  private let outcome = Guarded<Outcome?>(nil)

  init(_ name: String) {
    self.name = name
    gate.enter()
  }

  /// Lets those who wait go on. Called once, when the outcome is in the store.
  func finish(_ result: Outcome) {
    outcome.withLock { $0 = result }
    ConstructionGraph.end(self)
    gate.leave()
  }

  /// Waits for the outcome on a thread that asked for this service.
  ///
  /// - Throws: `constructionCycle` when the thread that makes the service waits, over however many others, for one that
  ///   the calling thread makes; what the construction threw.
  func wait() throws -> AnyServiceEntry {
    try ConstructionGraph.wait(for: self)
    switch outcome.withLock({ $0 }) {
    case .made(let entry)?: return entry
    case .failed(let error)?: throw error
    case nil: preconditionFailure("the construction of \(name) was left without an outcome")
    }
  }
}

/// Which thread makes what, and waits for what, in all centers of the process.
///
/// A thread that makes a service may ask for a second, which makes it wait for the thread that makes that one. Threads
/// that wait for each other in a ring would wait for ever. So each looks along the ring before it waits, under one lock:
/// whoever would close the ring gets an error instead.
enum ConstructionGraph {
  private struct Worker {
    /// What the thread makes: each asked for by the one before.
    var stack: [Construction] = []
    /// What it waits for.
    var awaited: Construction?
  }

  private static let workers = Guarded<[ThreadMark: Worker]>([:])

  static func begin(_ construction: Construction) {
    workers.withLock { $0[construction.thread, default: Worker()].stack.append(construction) }
  }

  fileprivate static func end(_ construction: Construction) {
    workers.withLock { workers in
      workers[construction.thread]?.stack.removeAll { $0 === construction }
      if workers[construction.thread]?.stack.isEmpty == true { workers[construction.thread] = nil }
    }
  }

  fileprivate static func wait(for construction: Construction) throws(ServiceError) {
    let me = ThreadMark.current
    let ring = workers.withLock { workers -> [String]? in
      if let ring = self.ring(closedBy: construction, on: me, workers) { return ring }
      workers[me, default: Worker()].awaited = construction
      return nil
    }
    if let ring { throw ServiceError(code: .constructionCycle, service: construction.name, chain: ring) }
    construction.gate.wait()
    workers.withLock { workers in
      workers[me]?.awaited = nil
      if workers[me]?.stack.isEmpty == true { workers[me] = nil }
    }
  }

  /// The chain of names if waiting for `wanted` closed a ring: all that `me` makes, then on each thread of the ring from
  /// the awaited service up to what it waits for itself.
  private static func ring(closedBy wanted: Construction, on me: ThreadMark, _ workers: [ThreadMark: Worker])
    -> [String]?
  {
    guard let mine = workers[me]?.stack else { return nil }
    var chain = mine.map(\.name)
    var next = wanted
    while next.thread != me {
      // A construction that has ended is no longer on its thread's stack: who waits for it is about to go on.
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
