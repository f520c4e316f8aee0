// Report.swift: the figures as a table for people and as JSON for programs.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes to standard error, without a buffer.
func complain(_ text: String) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let written = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    if written <= 0 { return }
    bytes = bytes.dropFirst(written)
  }
}

/// The conditions of the measurement: the day, the system and its processors.
func conditions() -> String {
  var now = time(nil)
  var day = [CChar](repeating: 0, count: 32)
  if let calendar = gmtime(&now) { strftime(&day, day.count, "%Y-%m-%d", calendar) }
  var names = utsname()
  uname(&names)
  func text(_ field: some Any) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
  let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
  return String(decoding: day.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    + ", \(text(names.sysname)) \(text(names.machine)), \(count) processors."
}

/// Shows on a terminal what is being measured, in one line that is overwritten.
final class Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    guard isTerminal else { return }
    complain("\r\u{1B}[K\(text)")
  }

  func finish() { show("") }
}

enum Report {
  private static let head = [
    "row", "case", "N", "ours", "by hand", "unit", "ratio", "±", "allocations", "to reach", "reached",
  ]
  /// The text columns, which are aligned left.
  private static let words: Set = [0, 1, 5, 9, 10]

  private static func cells(_ figure: Figure) -> [String] {
    [
      figure.row, figure.name, "\(figure.n)", figure.ours.text(2), figure.reference?.text(2) ?? "–", figure.unit,
      figure.ratio?.text(2) ?? "–", figure.spread?.text(2) ?? "–",
      pair(figure.allocations, figure.referenceAllocations),
      figure.goal?.description ?? "–",
      figure.isReached.map { $0 ? "yes" : figure.isWithinNoise ? "within ±" : "no" } ?? "–",
    ]
  }

  /// The table: one line for each figure, and whether it reaches its goal.
  static func table(_ figures: [Figure]) -> String {
    let lines = figures.map(cells)
    let widths = head.indices.map { column in ([head] + lines).map { $0[column].count }.max() ?? 0 }
    return ([head, widths.map { String(repeating: "-", count: $0) }] + lines).map { line in
      line.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - line[column].count)
        return words.contains(column) ? line[column] + space : space + line[column]
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  /// The table and its summary as Markdown.
  ///
  /// - Parameter conditions: the conditions of the measurement, in one line.
  static func markdown(_ figures: [Figure], _ conditions: String) -> String {
    let rule = head.indices.map { words.contains($0) ? "---" : "---:" }
    let lines = ([head, rule] + figures.map(cells)).map { "| \($0.joined(separator: " | ")) |" }
    return "# Figures\n\nWritten by `swift run -c release forwardcast-benchmarks --markdown`. \(conditions)\n\n"
      + lines.joined(separator: "\n") + "\n\n" + summary(figures) + "\n"
  }

  /// The number of figures that reach their goals, and how linear the costs are.
  static func summary(_ figures: [Figure]) -> String {
    let reached = figures.count { $0.isReached == true }
    let near = figures.count { $0.isWithinNoise }
    let above = figures.count { $0.isReached == false } - near
    var lines = [
      "\(figures.count) figures: \(reached) reach their goal, \(near) but for noise (5 % and their own ±), \(above) do not. "
        + "A second thread sleeps throughout."
    ]
    if near + above > 0 {
      lines.append(
        "Times depend on what else the machine does; compare runs on an idle one. Instructions do not: Tests/Tools/Cost."
      )
    }
    let growth = figures.filter { $0.row == "growth" }.sorted { $0.n < $1.n }
    if growth.count > 1, let first = growth.first, let last = growth.last {
      let costs = growth.map(\.ours)
      let others = growth.compactMap(\.reference)
      func factor(_ costs: [Double]) -> String { ((costs.max() ?? 0) / (costs.min() ?? 1)).text(2) }
      lines.append(
        "Growth: a delivery among \(first.n) to \(last.n) targets costs \((costs.min() ?? 0).text(1)) to "
          + "\((costs.max() ?? 0).text(1)) ns, \(factor(costs)) × (by hand \(factor(others)) ×).")
    }
    return lines.joined(separator: "\n")
  }

  private static func pair(_ mine: Double?, _ theirs: Double?) -> String {
    guard let mine else { return "–" }
    return theirs.map { "\(mine.text(2)) / \($0.text(2))" } ?? mine.text(2)
  }

  /// A JSON array with an object for each figure.
  static func json(_ figures: [Figure]) -> String {
    let objects = figures.map { figure in
      let members: [(String, String)] = [
        ("row", quoted(figure.row)), ("case", quoted(figure.name)), ("n", "\(figure.n)"), ("ours", number(figure.ours)),
        ("reference", number(figure.reference)), ("unit", quoted(figure.unit)), ("ratio", number(figure.ratio)),
        ("allocations", number(figure.allocations)), ("spread", number(figure.spread)),
        ("goal", figure.goal.map { quoted($0.description) } ?? "null"),
        ("reached", figure.isReached.map { "\($0)" } ?? "null"),
      ]
      return "  {" + members.map { "\(quoted($0)): \($1)" }.joined(separator: ", ") + "}"
    }
    return "[\n" + objects.joined(separator: ",\n") + "\n]\n"
  }

  private static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "null" }
    return "\(value)"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 0x20:
        let code = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - code.count) + code
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Writes `text` to the file at `path`; returns `false` if that fails.
  static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let written = fputs(text, file) >= 0
    return fclose(file) == 0 && written
  }
}
