// Guarded.swift: a mutex that the thread sanitizer understands.

import Synchronization

/// A `Mutex` that the thread sanitizer understands. On Linux, the sanitizer does not see the lock
/// of `Mutex`, so each holder also reads a word on entry and writes it on exit.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let handOver = Atomic<UInt8>(0)
  #if DEBUG
    @usableFromInline let holder = Atomic<UInt>(0)
  #endif

  @inlinable
  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` under the lock. The lock is not recursive, and `body` must not call foreign code.
  /// Inlined into other modules too, since an unspecialized function would slow remote messages.
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

  /// True if the calling thread holds the lock. Always true in release builds.
  package var isHeld: Bool {
    #if DEBUG
      holder.load(ordering: .relaxed) == ThreadIdentity.current.id
    #else
      true
    #endif
  }

  @inline(__always)
  package borrowing func assertHeld(file: StaticString = #fileID, line: UInt = #line) {
    assert(isHeld, "the lock is not held", file: file, line: line)
  }

  #if DEBUG
    @usableFromInline
    borrowing func noteHolder(_ isHeld: Bool) {
      holder.store(isHeld ? ThreadIdentity.current.id : 0, ordering: .relaxed)
    }
  #endif
}
