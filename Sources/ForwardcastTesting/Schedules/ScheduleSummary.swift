// ScheduleSummary.swift: what came of the orders of a program.

/// What came of the orders that were run.
public struct ScheduleSummary: Sendable {
  /// How many orders were run to their end.
  public internal(set) var orders = 0
  /// How many runs turned out to be an order that had been run, and are not counted.
  public internal(set) var repeated = 0
  /// Whether there is no order that was not run.
  public internal(set) var isComplete = false
  /// How many turns the longest order has.
  public internal(set) var longest = 0
  /// The first order that failed, which was the last that was run.
  public internal(set) var failure: ScheduleFailure?
}

/// An order in which the program did not do what was expected.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible {
  /// What was not as expected: the text of an expectation or of an error.
  public let reason: String
  /// The line at which it did: that of an expectation, or of the call.
  public let place: SourcePlace
  /// The turns, first one first: who had it, and what it was.
  public let turns: [String]
  /// The same as a sequence diagram in Mermaid's language.
  public let diagram: String
  /// The order as ``ScheduleSearch/replaying(_:)`` takes it.
  public let order: String

  /// The reason, the turns, the line to put into the test, and the diagram.
  public var description: String {
    var text = reason + "\n  in this order of turns:"
    for (index, turn) in turns.enumerated() { text += "\n    \(index + 1). \(turn)" }
    text += "\n  to run only this order: everySchedule(.replaying(\"\(order)\"))"
    return text + "\n" + diagram.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
  }
}
