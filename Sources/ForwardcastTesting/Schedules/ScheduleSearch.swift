// ScheduleSearch.swift: the orders to run.

/// The orders that ``everySchedule(_:upTo:reporter:progress:fileID:filePath:line:column:_:)`` runs.
public struct ScheduleSearch: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case every
    case changes(Int)
    case random(UInt64)
    case replay(String)
  }

  let kind: Kind

  /// Every order. If half of the limit is not enough, the other half are random orders from a fixed
  /// seed, because the systematic orders of a long program differ only in their last turns.
  public static let every = ScheduleSearch(kind: .every)

  /// Every order with at most `changes` preemptions of a turn that could continue. Most ordering
  /// errors need one or two preemptions, and such orders are far fewer than all orders.
  public static func every(changes: Int) -> ScheduleSearch { ScheduleSearch(kind: .changes(changes)) }

  /// Random orders up to the limit, possibly with repetitions.
  public static func random(seed: UInt64) -> ScheduleSearch { ScheduleSearch(kind: .random(seed)) }

  /// The order that a failure has printed.
  public static func replaying(_ order: String) -> ScheduleSearch { ScheduleSearch(kind: .replay(order)) }
}

/// An order as text: the letter of a lane, followed by the number of its steps if there are several
/// in a row. `a3b2` means three steps of the first lane, then two steps of the second lane.
enum OrderCode {
  /// The letters of the first lanes. Further lanes are numbers in parentheses.
  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

  static func text(_ lanes: [Int]) -> String {
    var runs: [(lane: Int, count: Int)] = []
    for lane in lanes {
      if runs.last?.lane == lane { runs[runs.count - 1].count += 1 } else { runs.append((lane, 1)) }
    }
    return runs.map { lane, count in
      (lane < letters.count ? String(letters[lane]) : "(\(lane))") + (count == 1 ? "" : "\(count)")
    }.joined()
  }

  static func lanes(_ text: String) -> [Int]? {
    var lanes: [Int] = []
    var rest = text[...]
    func number() -> Int? {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      return Int(digits)
    }
    while let sign = rest.popFirst() {
      var lane = letters.firstIndex(of: sign)
      if sign == "(", let found = number(), rest.popFirst() == ")" { lane = found }
      let count = rest.first.map { $0.isASCII && $0.isNumber } == true ? number() : 1
      guard let lane, let count, count > 0, count <= 1_000_000, lanes.count + count <= 1_000_000 else { return nil }
      lanes += Array(repeating: lane, count: count)
    }
    return lanes.isEmpty ? nil : lanes
  }
}
