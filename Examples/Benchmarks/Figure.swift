// Figure.swift: one line of the table, with its goal.

/// One measured line.
struct Figure {
  /// The row, a named group of lines, that the line belongs to.
  let row: String
  let name: String
  let n: Int
  var ours: Double
  let reference: Double?
  let unit: String
  var ratio: Double?
  var spread: Double?
  /// Allocations of the library for one message or operation.
  var allocations: Double?
  /// Allocations of the counterpart.
  var referenceAllocations: Double?
  var goal: Goal?

  var isReached: Bool? { goal?.isReached(self) }

  /// True if the figure misses its goal by less than the noise: 5 % plus its own spread.
  var isWithinNoise: Bool {
    guard isReached == false, var better = goal.map({ _ in self }), goal?.isLowerBound == false else { return false }
    let noise = 0.05 + (spread ?? 0) / (ratio ?? 1)
    better.ours *= 1 - noise
    better.ratio = ratio.map { $0 * (1 - noise) }
    return better.isReached == true
  }
}

/// The upper or lower bound for a figure.
struct Goal {
  enum Quantity { case ours, ratio, allocations }

  let quantity: Quantity
  let bound: Double
  var isLowerBound = false
  var unit = ""

  /// At most this ratio to the counterpart.
  static func ratio(_ bound: Double) -> Goal { Goal(quantity: .ratio, bound: bound) }
  /// The goal for `n` targets: `one` for a single target, then ratios to the counterpart for 10,
  /// for 100, and for 1,000 and more.
  static func by(_ n: Int, one: Goal, _ ratios: (Double, Double, Double)) -> Goal {
    switch n {
    case 1: one
    case ..<100: .ratio(ratios.0)
    case ..<1000: .ratio(ratios.1)
    default: .ratio(ratios.2)
    }
  }
  /// At most this value.
  static func atMost(_ bound: Double, _ unit: String) -> Goal { Goal(quantity: .ours, bound: bound, unit: unit) }
  /// At least this value.
  static func atLeast(_ bound: Double, _ unit: String) -> Goal {
    Goal(quantity: .ours, bound: bound, isLowerBound: true, unit: unit)
  }
  /// At least this many times as fast as the counterpart.
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
  /// The number with this many decimal places; `–` if it is not finite.
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
