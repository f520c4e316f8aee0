// Locked.swift: a value of a test behind a lock that the thread sanitizer can see.

import Synchronization

/// As `Mutex`, whose lock is not built for the sanitizer on Linux: each holder also leaves a mark for the next.
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
