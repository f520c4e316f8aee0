// QueueIdentity.swift: what tells one queue from another, and which queues its blocks run on.
// Layer: Delivery. See DESIGN.md, "Waiting".

import Dispatch
import Synchronization

/// A dispatch queue's own object: the ones that stand for the main queue and the global ones are made anew each time. It is
/// kept on the queue and goes with it.
///
/// Dispatch tells which queue a queue targets only to code that runs there. So each queue looks once for every other that is
/// known, in a block of its own when it becomes known and, for those that became known later, when it is woken.
final class QueueIdentity: Sendable {
  private static let key = Guarded(DispatchSpecificKey<QueueIdentity>())
  private static let register = Guarded(Register())
  /// How many queues have become known.
  private static let known = Atomic<Int>(0)

  /// Its place among the queues that have become known, from 1.
  private let number: Int
  /// A value on the queue, seen by whatever runs on it or on a queue that targets it.
  private let mark = DispatchSpecificKey<Bool>()
  private let isConcurrent = Atomic<Bool>(false)
  private let targets = Guarded(Targets())
  /// How many queues had become known when this one looked for them.
  private let looked = Atomic<Int>(0)

  /// The queues that a queue's blocks run on, as far as they have been seen.
  private struct Targets {
    var queues: [QueueIdentity] = []
    var areMain = false
  }

  /// All queues that are known, oldest first.
  private struct Register {
    struct Entry {
      let number: Int
      weak var queue: QueueIdentity?
    }
    var entries: [Entry] = []
    /// The numbers of those that are gone and still listed.
    var gone: Set<Int> = []
  }

  private init(number: Int) { self.number = number }

  deinit {
    Self.register.withLock { register in
      register.gone.insert(number)
      guard register.gone.count * 2 > register.entries.count else { return }
      // By number: a look at a queue that is about to go would let go of it here, under the lock.
      register.entries.removeAll { register.gone.contains($0.number) }
      register.gone = []
    }
  }

  /// The identity of a queue, which is concurrent if `isConcurrent` says so.
  static func of(_ queue: DispatchQueue, isConcurrent: Bool) -> QueueIdentity {
    let (identity, isNew) = key.withLock { key -> (QueueIdentity, Bool) in
      if let identity = queue.getSpecific(key: key) { return (identity, false) }
      let identity = register.withLock { register in
        let identity = QueueIdentity(number: known.load(ordering: .relaxed) + 1)
        register.entries.append(Register.Entry(number: identity.number, queue: identity))
        known.store(identity.number, ordering: .releasing)
        return identity
      }
      queue.setSpecific(key: identity.mark, value: true)
      queue.setSpecific(key: key, value: identity)
      return (identity, true)
    }
    if isConcurrent { identity.isConcurrent.store(true, ordering: .releasing) }
    if isNew {
      // The system's own queues target no other. What is sent to a queue right away is behind this block.
      if !queue.label.hasPrefix("com.apple.") { queue.async { identity.lookForNewTargets() } }
    }
    return identity
  }

  /// Whether the running code is on the queue, or on one that targets it.
  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: mark) != nil || HeldContext.contains(ObjectIdentifier(self))
  }

  /// Whether the queue is known to target one that the running code holds: it does nothing before that code has ended.
  var waitsForCaller: Bool {
    let (queues, areMain) = targets.withLock { ($0.queues, $0.areMain) }
    return queues.contains { !$0.isConcurrent.load(ordering: .acquiring) && $0.isCurrent }
      || areMain && HeldContext.isMain
  }

  /// Looks for the queues that have become known since the last look. Called on the queue.
  @inline(__always)
  func lookForNewTargets() {
    if looked.load(ordering: .relaxed) != Self.known.load(ordering: .relaxed) { lookForTargets() }
  }

  @inline(never)
  private func lookForTargets() {
    let number = Self.known.load(ordering: .acquiring)
    let before = looked.exchange(number, ordering: .acquiringAndReleasing)
    let others = Self.register.withLock { register in
      register.entries.reversed().prefix { $0.number > before }.compactMap(\.queue)
    }
    let seen = others.filter { $0 !== self && DispatchQueue.getSpecific(key: $0.mark) != nil }
    let isMain = HeldContext.isMain
    targets.withLock { targets in
      targets.queues += seen
      targets.areMain = isMain
    }
  }
}
