// ScheduleSearch.swift: which orders of a program are run.

/// Which orders ``everySchedule(_:upTo:sharing:reporter:progress:fileID:filePath:line:column:_:)`` runs.
public struct ScheduleSearch: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case every
    case changes(Int)
    case random(UInt64)
    case replay(String)
  }

  let kind: Kind

  /// Every order, one after another. Where half of the limit does not suffice, the other half is drawn at random, from a seed
  /// that is always the same, so that not only the last turns of a long program vary.
  public static let every = ScheduleSearch(kind: .every)

  /// Every order in which a turn that could go on is interrupted at most so often.
  ///
  /// Most errors of order need one or two changes, and there are far fewer such orders.
  public static func every(changes: Int) -> ScheduleSearch { ScheduleSearch(kind: .changes(changes)) }

  /// As many orders as the limit says, drawn at random. Some may be drawn twice.
  public static func random(seed: UInt64) -> ScheduleSearch { ScheduleSearch(kind: .random(seed)) }

  /// The one order that a failure has named.
  public static func replaying(_ order: String) -> ScheduleSearch { ScheduleSearch(kind: .replay(order)) }
}

/// What turns may have in common, and so which orders are the same.
public enum ScheduleSharing: Sendable, Hashable {
  /// Any two turns may touch the same memory: no two orders are the same.
  case anything
  /// Turns of different contexts and tasks share nothing but messages and ``Shared`` values: two orders are the same when one
  /// comes from the other by exchanging neighbours that are on different contexts, send to no common context, touch no common
  /// value, and do not start each other. One of them is run.
  case messages
}

/// An order in letters: one for each lane in the order in which they appear, with a number where it goes on. `a3b2` is three
/// turns of the first and two of the second.
enum OrderCode {
  /// For the first lanes; those behind them are numbers in brackets.
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

  /// `nil` for text that is no order.
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
