// AllocationCounter.swift: how often a piece of code asks for memory.
// Used by the benchmarks and by the tests that hold their figures.

import Interposer
import Synchronization

/// Counts requests for memory exactly: those of the Swift runtime and of Dispatch as well.
public enum AllocationCounter {
  /// Whose requests are counted.
  public enum Scope: Sendable { case thisThread, process }

  /// Whether requests can be counted. They cannot where nobody can stand in front of the C library's `malloc`: without
  /// glibc, and under a sanitizer.
  public static var isAvailable: Bool { interposer_is_present() }

  /// How many blocks are asked for while `body` runs; `nil` where that is not ``isAvailable``.
  ///
  /// Of calls that overlap, on several threads, the later ones wait for the earlier ones. `body` counts nothing itself.
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
