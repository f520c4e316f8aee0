// TextWriter.swift: indented lines of Swift.

struct TextWriter {
  private(set) var text = ""
  private var level = 0

  /// One line at the current level; an empty one stays without blanks.
  mutating func line(_ line: String) {
    if !line.isEmpty { text += String(repeating: "  ", count: level) + line }
    text += "\n"
  }

  /// One line that diagnostics locate at a line of the user's.
  mutating func line(_ line: String, at place: SourcePlace?) { lines(place.map { $0.lines(line) } ?? [line]) }

  mutating func lines(_ lines: [String]) { for line in lines { self.line(line) } }

  /// What `body` writes for each wanted message, between the lines of `#if`.
  mutating func entries(
    _ items: [Item<Entry>], where isWanted: (Entry) -> Bool = { _ in true }, _ body: (Entry, inout TextWriter) -> Void
  ) {
    for item in items {
      switch item {
      case .directive(let line): self.line(line)
      case .element(let entry): if isWanted(entry) { body(entry, &self) }
      }
    }
  }

  /// `head {`, the lines of `body`, `}`.
  mutating func block(
    _ head: String, remark: String? = nil, end: String = "", at place: SourcePlace? = nil,
    _ body: (inout TextWriter) -> Void
  ) {
    line(head + " {" + (remark.map { "  // \($0)" } ?? ""), at: place)
    level += 1
    body(&self)
    level -= 1
    line("}" + end)
  }
}
