// Locked.swift: a lock that the thread sanitizer understands.

import Synchronization

/// As `Mutex`, plus an atomic that shows the sanitizer the order of the holders, since `Mutex` does not do so on Linux.
package final class Locked<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>
  private let handOver = Atomic<Bool>(false)

  package init(_ value: Value) { mutex = Mutex(value) }

  package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try mutex.withLock { value in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(true, ordering: .releasing) }
      return try body(&value)
    }
  }
}
