// Figure.swift: one line of the table, and what it has to reach.

/// One measured line.
struct Figure {
  /// The row of the cost table that the line belongs to.
  let row: String
  let name: String
  let n: Int
  var ours: Double
  let reference: Double?
  let unit: String
  var ratio: Double?
  var spread: Double?
  /// Requests for memory by the library for one message, or one operation.
  var allocations: Double?
  /// The same of the counterpart.
  var referenceAllocations: Double?
  var goal: Goal?

  var isReached: Bool? { goal?.isReached(self) }

  /// Whether the figure misses its goal by less than the noise: 5 % and its own spread.
  var isWithinNoise: Bool {
    guard isReached == false, var better = goal.map({ _ in self }), goal?.isLowerBound == false else { return false }
    let noise = 0.05 + (spread ?? 0) / (ratio ?? 1)
    better.ours *= 1 - noise
    better.ratio = ratio.map { $0 * (1 - noise) }
    return better.isReached == true
  }
}

/// What a figure has to be at most, or at least.
struct Goal {
  enum Quantity { case ours, ratio, allocations }

  let quantity: Quantity
  let bound: Double
  var isLowerBound = false
  var unit = ""

  /// At most so many times the counterpart.
  static func ratio(_ bound: Double) -> Goal { Goal(quantity: .ratio, bound: bound) }
  /// What is to be reached with `n` targets: `one` with a single one, then so many times the counterpart with 10, with
  /// 100, and with 1,000 and more.
  static func by(_ n: Int, one: Goal, _ ratios: (Double, Double, Double)) -> Goal {
    switch n {
    case 1: one
    case ..<100: .ratio(ratios.0)
    case ..<1000: .ratio(ratios.1)
    default: .ratio(ratios.2)
    }
  }
  /// At most so much.
  static func atMost(_ bound: Double, _ unit: String) -> Goal { Goal(quantity: .ours, bound: bound, unit: unit) }
  /// At least so much.
  static func atLeast(_ bound: Double, _ unit: String) -> Goal {
    Goal(quantity: .ours, bound: bound, isLowerBound: true, unit: unit)
  }
  /// At least so many times as fast as the counterpart.
  static func faster(_ factor: Double) -> Goal { Goal(quantity: .ratio, bound: 1 / factor) }

  func isReached(_ figure: Figure) -> Bool? {
    let value: Double? =
      switch quantity {
      case .ours: figure.ours
      case .ratio: figure.ratio
      case .allocations: figure.allocations
      }
    guard let value else { return nil }
    return isLowerBound ? value >= bound : value <= bound
  }
}

extension Goal: CustomStringConvertible {
  var description: String {
    let sign = isLowerBound ? "≥" : "≤"
    return switch quantity {
    case .ratio: "\(sign) \(bound.text(2)) ×"
    case .ours, .allocations: "\(sign) \(bound.text(1)) \(unit)"
    }
  }
}

extension Double {
  /// The number with so many digits after the point, without trailing zeroes beyond the first.
  func text(_ digits: Int) -> String {
    guard isFinite else { return "–" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    guard magnitude * scale < 1e15 else { return "\(self)" }
    let scaled = Int((magnitude * scale).rounded())
    let (whole, part) = scaled.quotientAndRemainder(dividingBy: Int(scale))
    let sign = self < 0 && scaled > 0 ? "-" : ""
    if digits == 0 { return "\(sign)\(whole)" }
    let text = String(part)
    return "\(sign)\(whole)." + String(repeating: "0", count: digits - text.count) + text
  }
}
