// ModelOutcome.swift: everything that can be observed of one case.

import Foundation

/// What can be observed of one message, as texts: a prediction, or what the library did.
struct ModelOutcome: Sendable {
  /// Who ran a message in the sender's turn and, for each queue and proxy, there: `t3 7` in the order of the calls.
  var calls: [String: [String]] = [:]
  /// Errors that handlers of proxies got, in no order: `p0: refused by t3`.
  var told: [String] = []
  /// Proxies whose handler of silence was called.
  var silences: [String] = []
  /// The summary, the answer or the result; `nil` where an error was thrown.
  var output: String?
  /// What was thrown.
  var error: String?
  /// The lists of a report.
  var report: Report?

  struct Report: Sendable {
    /// `t3 = 5`, with `queued` behind it where it ran on a context of its own.
    var answers: [String] = []
    var queued: [String] = []
    /// `t3: refused by t3`
    var failures: [String] = []
    /// `t3 muted`, in the order of delivery.
    var skipped: [String] = []
    var result = "nil"
    var endsQueued = false
  }

  /// Entries of `report.skipped` that may be there or not.
  var optionalSkips: Set<String> = []
  /// Whether a summary may count targets that had left before the message.
  var hidesSkipCount = false
  /// Whether it is open who counts as queued: an inner proxy on a queue, or each of its targets.
  var hidesQueued = false
}

/// One thing in which the library differs from the prediction.
struct ModelDifference: Hashable, Sendable {
  enum Field: String, Hashable, Sendable {
    case calls, told, silences, output, error
    case answers, queued, failures, skipped, result, endsQueued
  }
  let field: Field
  let predicted: String
  let actual: String
}

extension ModelOutcome {
  /// In what `actual` differs from this prediction.
  func differences(from actual: ModelOutcome, telling: ModelTelling) -> [ModelDifference] {
    var found: [ModelDifference] = []
    func compare(_ field: ModelDifference.Field, _ predicted: String, _ actual: String) {
      if predicted != actual { found.append(ModelDifference(field: field, predicted: predicted, actual: actual)) }
    }
    func list(_ lines: [String]) -> String { lines.joined(separator: ", ") }
    for context in Set(calls.keys).union(actual.calls.keys).sorted() {
      compare(.calls, "\(context): \(list(calls[context] ?? []))", "\(context): \(list(actual.calls[context] ?? []))")
    }
    compare(.told, list(telling.told(told)), list(telling.told(actual.told)))
    compare(.silences, list(silences.sorted()), list(actual.silences.sorted()))
    func result(_ outcome: ModelOutcome) -> String {
      var parts = (outcome.output ?? "nothing").components(separatedBy: ", ")
      if hidesSkipCount || hidesQueued { parts.removeAll { $0.hasPrefix("skipped") } }
      if hidesQueued { parts.removeAll { $0.hasPrefix("queued") } }
      return list(parts)
    }
    compare(.output, result(self), result(actual))
    compare(.error, error ?? "none", actual.error ?? "none")
    guard let report, let other = actual.report else { return found }
    compare(.answers, list(report.answers), list(other.answers))
    if !hidesQueued { compare(.queued, list(report.queued), list(other.queued)) }
    compare(.failures, list(report.failures), list(other.failures))
    compare(
      .skipped, list(report.skipped.filter { !optionalSkips.contains($0) }),
      list(other.skipped.filter { !optionalSkips.contains($0) }))
    compare(.result, report.result, other.result)
    if !hidesQueued { compare(.endsQueued, "\(report.endsQueued)", "\(other.endsQueued)") }
    return found
  }
}

/// How exactly it is stated who is told of an error.
enum ModelTelling: Sendable {
  /// Each error by the handler of a certain proxy.
  case exactly
  /// Each error by the handler of some proxy.
  case somewhere

  func told(_ lines: [String]) -> [String] {
    switch self {
    case .exactly: lines.sorted()
    case .somewhere: lines.map { String($0.drop { $0 != ":" }.dropFirst(2)) }.sorted()
    }
  }
}

extension ModelDoor {
  /// A broadcast's errors belong to the innermost handler; of those that a `collect` or a `send` does not throw, the
  /// specification only says that they are not lost.
  var telling: ModelTelling { family == .output || family == .answer ? .somewhere : .exactly }
}
