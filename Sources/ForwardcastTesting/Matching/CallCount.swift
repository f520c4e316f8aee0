// CallCount.swift: an expected number of calls.

/// An expected number of calls. An integer literal means exactly that number.
///
///     store.verify(Messages.save, "a", .any, times: 2)
///     store.verify(Messages.save, .any, .any, times: .atMost(3))
public struct CallCount: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  let lower: Int
  let upper: Int?

  private init(_ lower: Int, _ upper: Int?) { (self.lower, self.upper) = (lower, upper) }

  /// Exactly `value` calls.
  public init(integerLiteral value: Int) { self.init(value, value) }

  /// No call.
  public static var never: CallCount { CallCount(0, 0) }
  /// Exactly one call.
  public static var once: CallCount { CallCount(1, 1) }
  /// Exactly `count` calls.
  public static func exactly(_ count: Int) -> CallCount { CallCount(count, count) }
  /// `count` calls or more.
  public static func atLeast(_ count: Int) -> CallCount { CallCount(count, nil) }
  /// `count` calls or fewer.
  public static func atMost(_ count: Int) -> CallCount { CallCount(0, count) }
  /// A number of calls within `range`, both ends included.
  public static func between(_ range: ClosedRange<Int>) -> CallCount { CallCount(range.lowerBound, range.upperBound) }

  func accepts(_ count: Int) -> Bool { count >= lower && upper.map { count <= $0 } ?? true }

  /// `no call`, `1 call`, `at least 2 calls`.
  public var description: String {
    func calls(_ count: Int) -> String { count == 1 ? "1 call" : "\(count) calls" }
    if upper == 0 { return "no call" }
    if upper == lower { return calls(lower) }
    guard let upper else { return "at least \(calls(lower))" }
    return lower == 0 ? "at most \(calls(upper))" : "\(lower) to \(calls(upper))"
  }
}
