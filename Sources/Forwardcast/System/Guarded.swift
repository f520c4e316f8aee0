// Guarded.swift: a value behind a lock that the thread sanitizer can see.

import Synchronization

/// A `Mutex` whose hand-over from one thread to the next shows in instrumented code.
///
/// On Linux the lock inside `Mutex` lives in a library that is not built for the thread sanitizer, which
/// therefore reports every pair of accesses under it as a race. Here each holder also writes a word of its
/// own when it leaves, and reads it when it enters: an order that the sanitizer does see, for one load and
/// one store.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let handOver = Atomic<UInt8>(0)

  @inlinable
  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` while no other thread is inside. Not recursive; foreign code has no place in `body`.
  ///
  /// Inlined into other modules too: unspecialized it costs a remote message 5 % of its time.
  @inlinable
  @inline(__always)
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { (value) throws(Failure) -> sending Result in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(1, ordering: .releasing) }
      return try body(&value)
    }
  }
}
