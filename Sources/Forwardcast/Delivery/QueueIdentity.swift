// QueueIdentity.swift: a queue's identity and its target queue.

import Dispatch
import Synchronization

/// A dispatch queue's identity, stored on the queue and released with it. The address of a queue
/// object is not enough, since the main queue or a global queue can have several objects.
///
/// Dispatch reveals a queue's target only to code that runs on the queue. So each queue looks up
/// its target in a block of its own. It does so when the library first sees the queue, and when the
/// queue is woken after new queues were seen. Deadlock detection follows these links.
final class QueueIdentity: Sendable {
  /// The key of a queue's identity. Code on the queue, or on a queue that targets it, sees the
  /// value. The lock guards two actions: setting an identity, and hiding it briefly to read the
  /// target queue's identity.
  private static let key = Guarded(DispatchSpecificKey<QueueIdentity>())
  private static let known = Atomic<Int>(0)

  /// A key for which only this queue has a value. Code on queues that target it sees the value too.
  private let mark = DispatchSpecificKey<Bool>()
  private let isConcurrent = Atomic<Bool>(false)
  /// The number of known queues at the last lookup.
  private let looked = Atomic<Int>(0)
  private let target = Guarded(Target())

  private struct Target {
    var queue: QueueIdentity?
    var isMain = false
  }

  private init() {}

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
    // This block runs before all messages that are sent to the queue later.
    if isNew { queue.async { identity.lookForNewTarget(of: queue) } }
    return identity
  }

  /// True if the running code is on the queue, or on a queue that targets it.
  var isCurrent: Bool {
    mark.isCurrent || HeldContext.contains(ObjectIdentifier(self))
  }

  /// The serial queues that the running code is on, as far as known.
  static var held: [ObjectIdentifier] {
    var held = HeldContext.isMain ? [ObjectIdentifier(MainActor.shared)] : []
    var next = key.withLock { DispatchQueue.getSpecific(key: $0) }
    // Bounded, see ``waitsForCaller``.
    for _ in 0..<100 {
      guard let queue = next else { break }
      if !queue.isConcurrent.load(ordering: .acquiring) { held.append(ObjectIdentifier(queue)) }
      next = queue.target.withLock { $0.queue }
    }
    return held
  }

  /// True if the caller is on a queue that this queue targets, so waiting for this queue would
  /// deadlock.
  var waitsForCaller: Bool {
    var next = target.withLock { $0 }
    // Bounded, since concurrent changes of targets may be observed as a cycle.
    for _ in 0..<100 {
      if next.isMain && HeldContext.isMain { return true }
      guard let queue = next.queue else { return false }
      if !queue.isConcurrent.load(ordering: .acquiring) && queue.isCurrent { return true }
      next = queue.target.withLock { $0 }
    }
    return false
  }

  /// Looks up the target again if new queues were seen. Called on `queue`, which has this identity.
  @inline(__always)
  func lookForNewTarget(of queue: DispatchQueue) {
    if looked.load(ordering: .relaxed) != Self.known.load(ordering: .relaxed) { lookForTarget(of: queue) }
  }

  @inline(never)
  private func lookForTarget(of queue: DispatchQueue) {
    assert(mark.isCurrent, "a queue looks for its target in a block of its own")
    looked.store(Self.known.load(ordering: .acquiring), ordering: .relaxed)
    // The system's own queues have no target.
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
