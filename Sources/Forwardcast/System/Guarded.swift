// Guarded.swift: a mutex that the thread sanitizer understands.

import Synchronization

/// A `Mutex` that the thread sanitizer understands.
///
/// On Linux the lock inside `Mutex` is in a library not built for the thread sanitizer, which therefore reports accesses under it
/// as races. So each holder also reads a word when it enters and writes it when it leaves: an order that the sanitizer sees, for
/// one load and one store.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let handOver = Atomic<UInt8>(0)
  #if DEBUG
    /// The thread that holds the lock, for ``assertHeld()``.
    @usableFromInline let holder = Atomic<UInt>(0)
  #endif

  @inlinable
  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` under the lock. Not recursive; `body` must not call foreign code.
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
      #if DEBUG
        noteHolder(true)
        defer { noteHolder(false) }
      #endif
      return try body(&value)
    }
  }

  /// Stops a debug build if the calling thread does not hold the lock. Release builds do not check.
  @inline(__always)
  package borrowing func assertHeld(file: StaticString = #fileID, line: UInt = #line) {
    #if DEBUG
      let isHeld = holder.load(ordering: .relaxed) == ThreadIdentity.current.id
      assert(isHeld, "the lock is not held", file: file, line: line)
    #endif
  }

  #if DEBUG
    @usableFromInline
    borrowing func noteHolder(_ isHeld: Bool) {
      holder.store(isHeld ? ThreadIdentity.current.id : 0, ordering: .relaxed)
    }
  #endif
}
