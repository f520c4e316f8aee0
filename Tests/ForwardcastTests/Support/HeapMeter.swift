// HeapMeter.swift: whether a piece of code asks for memory on the heap.

import Foundation

/// Says how many bytes a piece of code takes from the heap, given back meanwhile or not.
enum HeapMeter {
  /// The median over many runs of what `body` takes; `nil` where the allocator cannot be asked.
  ///
  /// The thread's cache of freed blocks is emptied before each run, so that what `body` asks for comes from the heap,
  /// and what it gives back goes into the cache and still counts. Other threads disturb some runs, but not most.
  static func bytes(in body: () -> Void) -> Int? {
    #if canImport(Glibc) && arch(x86_64)
      let runs = (0..<101).map { _ in measure(body) }.sorted()
      let control = (0..<101).map { _ in measure { withExtendedLifetime(Probe()) {} } }.sorted()
      return control[50] > 0 ? runs[50] : nil
    #else
      return nil
    #endif
  }

  #if canImport(Glibc) && arch(x86_64)
    private final class Probe {}

    private static func measure(_ body: () -> Void) -> Int {
      var held: [UnsafeMutableRawPointer?] = []
      held.reserveCapacity(40 * 32)
      for size in stride(from: 24, through: 640, by: 16) {
        for _ in 0..<32 { held.append(malloc(size)) }
      }
      defer { for block in held { free(block) } }
      let before = bytesInUse()
      body()
      return bytesInUse() - before
    }

    /// `mallinfo2().uordblks`. The function is not in the module of the C library; on this processor a structure of ten
    /// words comes back at the address that is passed as a hidden first argument.
    private static func bytesInUse() -> Int {
      withUnsafeTemporaryAllocation(of: Int.self, capacity: 10) { words in
        words.initialize(repeating: 0)
        _ = mallinfo?(words.baseAddress)
        return words[7]
      }
    }

    private static let mallinfo: (@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)? =
      dlsym(nil, "mallinfo2").map {
        unsafeBitCast($0, to: (@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?).self)
      }
  #endif
}
