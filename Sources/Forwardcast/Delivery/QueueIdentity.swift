// QueueIdentity.swift: what tells one queue from another, and which queue its blocks run on.

import Dispatch
import Synchronization

/// A dispatch queue's own object: the ones that stand for the main queue and the global ones are made anew each time. It is
/// kept on the queue and goes with it.
///
/// Dispatch tells which queue a queue targets only to code that runs there, and names the nearest one that has an object of
/// its own. So each queue looks for that one in a block of its own when it becomes known and, where more have become known
/// since, when it is woken: one look, however many queues there are. Who waits goes from one to the next.
final class QueueIdentity: Sendable {
  /// Where a queue has its object, seen by whatever runs on it or on a queue that targets it. Under the lock a queue gets
  /// one, and looks past its own.
  private static let key = Guarded(DispatchSpecificKey<QueueIdentity>())
  /// How many queues have become known.
  private static let known = Atomic<Int>(0)

  /// A value on the queue, seen as the object is, but by this queue's key.
  private let mark = DispatchSpecificKey<Bool>()
  private let isConcurrent = Atomic<Bool>(false)
  /// How many queues had become known when this one looked.
  private let looked = Atomic<Int>(0)
  private let target = Guarded(Target())

  /// What a queue's blocks run on, as far as it has been seen.
  private struct Target {
    /// The nearest queue that is known.
    var queue: QueueIdentity?
    var isMain = false
  }

  private init() {}

  /// The identity of a queue, which is concurrent if `isConcurrent` says so.
  static func of(_ queue: DispatchQueue, isConcurrent: Bool) -> QueueIdentity {
    let (identity, isNew) = key.withLock { key -> (QueueIdentity, Bool) in
      if let identity = queue.getSpecific(key: key) { return (identity, false) }
      let identity = QueueIdentity()
      queue.setSpecific(key: identity.mark, value: true)
      queue.setSpecific(key: key, value: identity)
      known.wrappingAdd(1, ordering: .releasing)
      return (identity, true)
    }
    if isConcurrent { identity.isConcurrent.store(true, ordering: .releasing) }
    // What is sent to a queue right away is behind this block.
    if isNew { queue.async { identity.lookForNewTarget(of: queue) } }
    return identity
  }

  /// Whether the running code is on the queue, or on one that targets it.
  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: mark) != nil || HeldContext.contains(ObjectIdentifier(self))
  }

  /// Whether the queue is known to target one that the running code holds: it does nothing before that code has ended.
  var waitsForCaller: Bool {
    var next = target.withLock { $0 }
    // A queue whose target was changed meanwhile may have been seen on both sides of another.
    for _ in 0..<100 {
      if next.isMain && HeldContext.isMain { return true }
      guard let queue = next.queue else { return false }
      if !queue.isConcurrent.load(ordering: .acquiring) && queue.isCurrent { return true }
      next = queue.target.withLock { $0 }
    }
    return false
  }

  /// Looks for the queue's target if queues have become known since the last look. Called on the queue, which is `queue`.
  @inline(__always)
  func lookForNewTarget(of queue: DispatchQueue) {
    if looked.load(ordering: .relaxed) != Self.known.load(ordering: .relaxed) { lookForTarget(of: queue) }
  }

  @inline(never)
  private func lookForTarget(of queue: DispatchQueue) {
    looked.store(Self.known.load(ordering: .acquiring), ordering: .relaxed)
    // The system's own queues target no other.
    if queue.label.hasPrefix("com.apple.") { return }
    let found = Self.key.withLock { key in
      queue.setSpecific(key: key, value: nil)
      defer { queue.setSpecific(key: key, value: self) }
      return DispatchQueue.getSpecific(key: key)
    }
    let isMain = HeldContext.isMain
    let old = target.withLock { exchange(&$0, with: Target(queue: found, isMain: isMain)) }
    withExtendedLifetime(old) {}
  }
}
