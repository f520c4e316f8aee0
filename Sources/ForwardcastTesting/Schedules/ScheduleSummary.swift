// ScheduleSummary.swift: the result of running a program in every order.

/// The result of running a program in many orders.
public struct ScheduleSummary: Sendable, CustomStringConvertible {
  /// The number of orders that were run to their end.
  public internal(set) var orders = 0
  /// True if every order was run. With `.every(changes:)`, true only if its bound excluded none.
  public internal(set) var isComplete = false
  /// The number of turns of the longest order. An interrupted turn counts again when it goes on.
  public internal(set) var longest = 0
  /// The order that failed, if any. It is the last order that was run.
  public internal(set) var failure: ScheduleFailure?

  public var description: String {
    let extent = isComplete ? "all there are" : "not all there are"
    return
      "\(orders) order\(orders == 1 ? "" : "s"), \(extent); the longest has \(longest) turn\(longest == 1 ? "" : "s")"
      + (failure.map { "; the last one failed: \($0)" } ?? "")
  }
}

/// An order in which the program failed.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible {
  /// The text of the failed expectation or the error.
  public let reason: String
  /// The line of the failed expectation. For other failures, the line that calls `everySchedule`.
  public let place: SourcePlace
  /// The turns in order. Each text names the lane and says what the turn did.
  public let turns: [String]
  /// The messages as a sequence diagram in Mermaid's language; empty if no message was sent.
  public let diagram: String
  /// The order as text, to pass to ``ScheduleSearch/replaying(_:)``; empty if a replayed order did
  /// not fit the program.
  public let order: String

  /// The reason, the turns, the line to put into the test, and the diagram.
  public var description: String {
    var text = reason + "\n  in this order of turns:"
    for (index, turn) in turns.enumerated() { text += "\n    \(index + 1). \(turn)" }
    if !order.isEmpty { text += "\n  to run only this order: everySchedule(.replaying(\"\(order)\"))" }
    return text + diagram.split(separator: "\n").map { "\n  \($0)" }.joined()
  }
}
