// Bounds.swift: the sizes of random, exhaustive and large tests.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Whether large tests run all their cases, as with `FORWARDCAST_FULL=1`, which `.ci/run` sets for
/// the optimized tests. By default they run few, so that `swift test` takes minutes.
package enum Bounds {
  package static let areFull = setting("FORWARDCAST_FULL").map { $0 != "0" } ?? false
}

/// A test's size: `few` by default, `full` with `FORWARDCAST_FULL=1`.
package func bound(_ few: Int, full: Int) -> Int { Bounds.areFull ? full : few }

/// A test's size, which the environment variable `name` overrides.
package func bound(_ few: Int, full: Int, named name: String) -> Int {
  setting(name).flatMap { Int($0) } ?? bound(few, full: full)
}

/// The value of an environment variable, or `nil` if it is unset or empty.
package func setting(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}

extension Sequence {
  /// All elements with full bounds, otherwise the first and every `step`th after it. If `step` and
  /// the sizes of combined lists have no common divisor, every value of each list occurs.
  package func sampled(each step: Int) -> [Element] {
    enumerated().lazy.filter { Bounds.areFull || $0.offset.isMultiple(of: step) }.map(\.element)
  }
}
