// CallCount.swift: an expected number of calls.

/// An expected number of calls. An integer literal means exactly that number.
///
///     store.verify(Messages.save, "a", times: 2)
///     store.verify(Messages.save, .any, times: .atMost(3))
public struct CallCount: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  let lower: Int
  let upper: Int?

  private init(_ lower: Int, _ upper: Int?) { (self.lower, self.upper) = (lower, upper) }

  public init(integerLiteral value: Int) { self.init(value, value) }

  public static var never: CallCount { CallCount(0, 0) }
  public static var once: CallCount { CallCount(1, 1) }
  public static func exactly(_ count: Int) -> CallCount { CallCount(count, count) }
  public static func atLeast(_ count: Int) -> CallCount { CallCount(count, nil) }
  public static func atMost(_ count: Int) -> CallCount { CallCount(0, count) }
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
