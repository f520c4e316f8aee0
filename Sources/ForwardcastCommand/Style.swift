// Style.swift: colors on a terminal.

struct Style {
  let isColored: Bool

  /// Uses colors on a terminal, unless `TERM` is `dumb`, or `NO_COLOR` is set and not empty.
  init(_ stream: Stream) {
    let refused = environment("NO_COLOR").map { !$0.isEmpty } ?? false
    isColored = stream.isTerminal && !refused && environment("TERM") != "dumb"
  }

  func bold(_ text: String) -> String { paint(text, "1") }
  func red(_ text: String) -> String { paint(text, "1;31") }
  func green(_ text: String) -> String { paint(text, "1;32") }
  func faint(_ text: String) -> String { paint(text, "2") }

  func error(_ description: String) -> String {
    guard isColored else { return description }
    var lines = description.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let first = lines.first, let mark = first.firstRange(of: " error: ") {
      lines[0] = bold(String(first[..<mark.lowerBound])) + " " + red("error:") + " " + String(first[mark.upperBound...])
    }
    if lines.count > 1, let last = lines.indices.last, lines[last].hasSuffix("^") { lines[last] = green(lines[last]) }
    return lines.joined(separator: "\n")
  }

  private func paint(_ text: String, _ code: String) -> String { isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
