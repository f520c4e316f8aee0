// Growth.swift: checks how processor time grows with size.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
package import Testing

/// An operation on inputs of any size.
package struct Growing: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  private let prepare: @Sendable (Int) throws -> () throws -> Void

  /// - Parameter prepare: returns the measured closure for a size.
  package init(_ title: String, _ prepare: @escaping @Sendable (Int) throws -> () throws -> Void) {
    (testDescription, self.prepare) = (title, prepare)
  }

  /// Expects that sixteen times the size takes about sixteen times as long; quadratic growth would
  /// take 256 times. Compares this thread's processor time. One of eight attempts must succeed.
  package func expectLinear(
    from few: Int = bound(200, full: 500), sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var found = ""
    for _ in 0..<8 {
      let first = try (0..<3).map { _ in try time(few) }.min() ?? 0
      let last = try time(few * 16)
      if last < first * 64 { return }
      found += "\(few): \(first) s, \(few * 16): \(last) s; "
    }
    Issue.record("\(found)", sourceLocation: sourceLocation)
  }

  private func time(_ count: Int) throws -> Double {
    let body = try prepare(count)
    let start = now()
    try body()
    return now() - start
  }

  private func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

extension Array {
  /// The elements in three orders: unchanged, reversed and shuffled.
  package var inThreeOrders: [[Element]] {
    var numbers = SeededGenerator(seed: 1)
    return [self, reversed(), shuffled(using: &numbers)]
  }
}
