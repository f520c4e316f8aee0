// AllocationCounter.swift: counts memory allocations of a piece of code.
// Used by the benchmarks and by the tests that check their figures.

import Interposer
import Synchronization

/// Counts allocations exactly, including those of the Swift runtime and Dispatch.
public enum AllocationCounter {
  /// The threads whose allocations are counted.
  public enum Scope: Sendable { case thisThread, process }

  /// True if allocations can be counted. They cannot if the C library's `malloc` cannot be
  /// interposed: without glibc, or with a sanitizer.
  public static var isAvailable: Bool { interposer_is_present() }

  /// The number of blocks allocated while `body` runs, or `nil` if ``isAvailable`` is false.
  ///
  /// Concurrent calls wait for each other. `body` must not count allocations itself.
  public static func count(_ scope: Scope, _ body: () throws -> Void) rethrows -> Int? {
    guard isAvailable else { return nil }
    return try busy.withLock { _ in
      interposer_begin(scope == .thisThread)
      var isOver = false
      defer { if !isOver { _ = interposer_end() } }
      try body()
      isOver = true
      return interposer_end()
    }
  }

  private static let busy = Mutex(())
}
