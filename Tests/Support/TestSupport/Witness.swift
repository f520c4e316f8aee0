// Witness.swift: counts live objects.

import Synchronization

/// A count of live objects.
package final class LeakCounter: Sendable {
  private let count = Atomic<Int>(0)
  package init() {}
  package var alive: Int { count.load(ordering: .sequentiallyConsistent) }
  fileprivate func entered() { count.add(1, ordering: .sequentiallyConsistent) }
  fileprivate func left() { count.subtract(1, ordering: .sequentiallyConsistent) }
}

/// An object that is counted while it is alive.
package final class Witness: Sendable {
  private let counter: LeakCounter
  package init(_ counter: LeakCounter) {
    self.counter = counter
    counter.entered()
  }
  deinit { counter.left() }
}
