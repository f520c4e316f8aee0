// FailureText.swift: failures that show expected and actual calls side by side.

import Forwardcast
import ForwardcastRecording

/// The texts of failures. The first line says what is wrong. Two columns of expected and actual
/// calls follow: `✓` marks expected calls, `✗` wrong calls, and `·` unrelated calls.
enum FailureText {
  /// A call in the right column and, below it, why it is not the expected call.
  private struct Line {
    let text: String
    var note: String?
  }

  private static let lineLimit = 40
  private static let widthLimit = 100

  static func count(_ times: CallCount, of expected: ExpectedCall, found: Int) -> String {
    calls(of: expected, "\(times)", "expected", "found \(found)", areUnwanted: times.upper == 0)
  }

  static func waited(_ times: Int, for expected: ExpectedCall, found: Int, _ end: String) -> String {
    calls(of: expected, "\(CallCount.atLeast(times))", "waited for", "found \(found) \(end)", areUnwanted: false)
  }

  static func came(_ expected: ExpectedCall, found: Int, within limit: Duration) -> String {
    let end = found == 0 ? "the test was canceled before \(limit) had passed" : "found \(found)"
    return calls(of: expected, "no call", "expected", end, areUnwanted: true)
  }

  private static func calls(
    of expected: ExpectedCall, _ wanted: String, _ verb: String, _ end: String, areUnwanted: Bool
  ) -> String {
    let actual = expected.book.calls.lazy.map { call in
      let text = expected.book.text(call.message)
      if expected.match.accepts(call.message) { return Line(text: (areUnwanted ? "✗ " : "✓ ") + text) }
      let difference = expected.match.difference(from: call.message)
      return Line(text: (difference == nil || areUnwanted ? "· " : "✗ ") + text, note: difference)
    }
    return "\(expected.book.name): \(verb) \(wanted) of \(expected.call), \(end)"
      + columns(["\(wanted): \(expected.call)"], actual)
  }

  static func unexpected(_ message: Invocation, of book: CallBook, stubs: [CallMatch]) -> String {
    let title = "\(book.name): unexpected call of \(book.text(message)), for which this strict double has no stub"
    let actual = book.calls.lazy.map { call in
      let text = book.text(call.message)
      if stubs.contains(where: { $0.accepts(call.message) }) { return Line(text: "✓ \(text)") }
      return Line(text: "✗ \(text)", note: stubs.lazy.compactMap { $0.difference(from: call.message) }.first)
    }
    return title + columns(stubs.isEmpty ? ["no call"] : stubs.map { book.text($0) }, actual)
  }

  static func unwanted(_ calls: [RecordedCall], of book: CallBook, _ wanted: String) -> String {
    let orders = Set(calls.map(\.order))
    let actual = book.calls.lazy.map { Line(text: (orders.contains($0.order) ? "✗ " : "✓ ") + book.text($0.message)) }
    return "\(book.name): expected \(wanted)s, found \(calls.count)" + columns([wanted], actual)
  }

  static func order(_ expected: [ExpectedCall], found: [Int], _ calls: [BookedCall]) -> String {
    let missing = expected[found.count]
    let title =
      found.isEmpty
      ? "expected \(missing), which did not happen"
      : "expected \(missing) after \(expected[found.count - 1]), but found no such call after it"
    let left = expected.enumerated().map { index, call in
      (index < found.count ? "✓ " : index == found.count ? "✗ " : "· ") + "\(call)"
    }
    let right = calls.enumerated().map { index, entry in
      if found.contains(index) { return Line(text: "✓ \(entry)") }
      if missing.accepts(entry) { return Line(text: "✗ \(entry)", note: "too early") }
      let isOther = missing.book !== entry.book
      return Line(text: "· \(entry)", note: isOther ? nil : missing.match.difference(from: entry.call.message))
    }
    return title + columns(left, right)
  }

  static func never(
    _ unexpected: ExpectedCall, after event: ExpectedCall, start: Int?, late: [Int], _ calls: [BookedCall]
  ) -> String {
    let title =
      start == nil
      ? "expected no \(unexpected) after \(event), but \(event) did not happen"
      : "expected no \(unexpected) after \(event), found \(late.count)"
    let right = calls.enumerated().map { index, entry in
      Line(text: (index == start ? "✓ " : late.contains(index) ? "✗ " : "· ") + "\(entry)")
    }
    return title + columns(["\(event)", "then no \(unexpected)"], right)
  }

  // MARK: Columns

  private static func columns(_ expected: [String], _ actual: some Collection<Line>) -> String {
    let left = ["expected"] + limited(expected.lazy.map { Line(text: $0) })
    let right = ["actual"] + (actual.isEmpty ? ["no calls"] : limited(actual))
    let width = left.map(\.count).max() ?? 0
    var text = ""
    for index in 0..<max(left.count, right.count) {
      let cell = index < left.count ? left[index] : ""
      let padded = cell + String(repeating: " ", count: width - cell.count)
      text += "\n  \(padded) |" + (index < right.count ? " \(right[index])" : "")
    }
    return text
  }

  private static func limited(_ lines: some Collection<Line>) -> [String] {
    var shown: [String] = []
    for line in lines.prefix(lineLimit) {
      shown.append(shortened(line.text))
      if let note = line.note { shown.append("    " + shortened(note)) }
    }
    if lines.count > lineLimit { shown.append("… and \(lines.count - lineLimit) more") }
    return shown
  }

  private static func shortened(_ line: String) -> String {
    let oneLine = String(line.map { $0.isNewline ? " " : $0 })
    return oneLine.count > widthLimit ? oneLine.prefix(widthLimit - 1) + "…" : oneLine
  }
}
