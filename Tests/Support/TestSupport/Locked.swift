// Locked.swift: a lock that the thread sanitizer understands.

import Synchronization

/// Like `Mutex`, plus an atomic that shows the thread sanitizer the order of the holders.
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
