// Construction.swift: one service while it is made, and those who wait for it.

import Forwardcast

/// One service while it is made, by one thread; others who ask for it wait for the outcome.
///
/// Who waits for which construction is in the process's one `WaitGraph`, beside the resolver hooks: services of
/// different centers need each other, and hooks need services.
final class Construction: Sendable {
  typealias Outcome = Result<AnyServiceEntry, any Error>

  private let work: SharedWork
  private let outcome = Guarded<Outcome?>(nil)

  /// A construction by the calling thread, which calls ``begin()`` and ``finish(_:)``.
  init(_ name: String) { work = SharedWork { name } }

  /// The thread that makes the service.
  var thread: ThreadIdentity { work.thread }

  /// Notes that the service is being made from now on.
  func begin() { WaitGraph.begin(work) }

  /// Lets those who wait go on. Called once, when the outcome is in the store.
  func finish(_ result: Outcome) {
    outcome.withLock { $0 = result }
    WaitGraph.end(work)
  }

  /// Waits for the outcome on a thread that asked for this service.
  ///
  /// - Throws: `constructionCycle` when the thread that makes the service waits, over however many others, for something
  ///   that the calling thread makes; what the construction threw.
  func wait() throws -> AnyServiceEntry {
    do { try WaitGraph.wait(for: work) } catch {
      throw ServiceError(code: .constructionCycle, service: work.name, chain: error.chain)
    }
    guard let outcome = outcome.withLock({ $0 }) else {
      preconditionFailure("the construction of \(work.name) was left without an outcome")
    }
    return try outcome.get()
  }
}
