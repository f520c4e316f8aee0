// QueueIdentity.swift: the identity of a queue, and which queue it targets.

import Dispatch
import Synchronization

/// A dispatch queue's own object, stored on the queue and released with it: the objects for the main and global queues are made
/// anew each time.
///
/// Dispatch tells which queue a queue targets only to code that runs on it, and names the nearest one that has a value for the key.
/// So each queue looks for that one in a block when it becomes known and, where more have become known since, when it is woken.
/// A waiter follows these links.
final class QueueIdentity: Sendable {
  /// The key of a queue's object, seen by whatever runs on it or on a queue that targets it. Its lock guards the moment in which a
  /// queue gets an object, and the one in which it removes its own to see the target's.
  private static let key = Guarded(DispatchSpecificKey<QueueIdentity>())
  private static let known = Atomic<Int>(0)

  /// The key of a value on this queue alone, seen like the object.
  private let mark = DispatchSpecificKey<Bool>()
  private let isConcurrent = Atomic<Bool>(false)
  /// How many queues were known when this one looked.
  private let looked = Atomic<Int>(0)
  private let target = Guarded(Target())

  /// What a queue's blocks run on, as far as has been seen.
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
    // Whatever is sent to the queue next runs after this block.
    if isNew { queue.async { identity.lookForNewTarget(of: queue) } }
    return identity
  }

  /// Whether the running code is on the queue, or on one that targets it.
  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: mark) != nil || HeldContext.contains(ObjectIdentifier(self))
  }

  /// The serial queues that the running code is known to be on.
  static var held: [ObjectIdentifier] {
    var held = HeldContext.isMain ? [ObjectIdentifier(MainActor.shared)] : []
    var next = key.withLock { DispatchQueue.getSpecific(key: $0) }
    // Bounded, as below.
    for _ in 0..<100 {
      guard let queue = next else { break }
      if !queue.isConcurrent.load(ordering: .acquiring) { held.append(ObjectIdentifier(queue)) }
      next = queue.target.withLock { $0.queue }
    }
    return held
  }

  /// Whether the queue is known to target one that the running code holds, so that it does nothing before that code has ended.
  var waitsForCaller: Bool {
    var next = target.withLock { $0 }
    // Bounded: if targets changed meanwhile, two queues may each have been seen behind the other.
    for _ in 0..<100 {
      if next.isMain && HeldContext.isMain { return true }
      guard let queue = next.queue else { return false }
      if !queue.isConcurrent.load(ordering: .acquiring) && queue.isCurrent { return true }
      next = queue.target.withLock { $0 }
    }
    return false
  }

  /// Looks for the target of `queue`, which is this one, if queues have become known since. Called on the queue.
  @inline(__always)
  func lookForNewTarget(of queue: DispatchQueue) {
    if looked.load(ordering: .relaxed) != Self.known.load(ordering: .relaxed) { lookForTarget(of: queue) }
  }

  @inline(never)
  private func lookForTarget(of queue: DispatchQueue) {
    assert(DispatchQueue.getSpecific(key: mark) != nil, "a queue looks for its target in a block of its own")
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
