// Figure.swift: one line of the table, and what it has to reach.

/// One measured line.
struct Figure {
  /// The row of the cost table that the line belongs to.
  let row: String
  let name: String
  let n: Int
  let ours: Double
  let reference: Double?
  let unit: String
  let ratio: Double?
  var spread: Double?
  /// Requests for memory by the library for one message, or one operation.
  var allocations: Double?
  /// The same of the counterpart.
  var referenceAllocations: Double?
  var goal: Goal?

  var isReached: Bool? { goal?.isReached(self) }
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
