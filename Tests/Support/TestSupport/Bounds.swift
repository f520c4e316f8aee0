// Bounds.swift: how far tests go that are random, exhaustive or large.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// How far tests go whose work grows with a bound: a short way by default, so that `swift test` takes minutes; the whole
/// way with `FORWARDCAST_FULL=1` in the environment, as `.ci/run` sets it for the optimized tests.
package enum Bounds {
  package static let areFull = setting("FORWARDCAST_FULL").map { $0 != "0" } ?? false
}

/// A test's bound: `few` by default, `full` where bounds are full.
package func bound(_ few: Int, full: Int) -> Int { Bounds.areFull ? full : few }

/// The same for a bound that has a variable of its own, which goes before both.
package func bound(_ few: Int, full: Int, named name: String) -> Int {
  setting(name).flatMap { Int($0) } ?? bound(few, full: full)
}

/// A variable of the environment; `nil` where it is not set or empty.
package func setting(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}

extension Sequence {
  /// All elements where bounds are full, and otherwise the first and each `step`th after it. A `step` that has no divisor in
  /// common with the sizes of what is combined meets every kind of element.
  package func sampled(each step: Int) -> [Element] {
    enumerated().lazy.filter { Bounds.areFull || $0.offset.isMultiple(of: step) }.map(\.element)
  }
}
