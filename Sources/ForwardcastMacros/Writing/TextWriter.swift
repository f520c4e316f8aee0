// TextWriter.swift: lines of Swift with their indentation.

/// Collects lines. The one place where written text gets its shape.
struct TextWriter {
  private(set) var text = ""
  private var level = 0

  /// One line, at the current level; an empty one has no blanks.
  mutating func line(_ line: String) {
    if !line.isEmpty { text += String(repeating: "  ", count: level) + line }
    text += "\n"
  }

  /// One line that the compiler takes for one of the user's, so that what it says of it stands there.
  mutating func line(_ line: String, at place: SourcePlace?) {
    lines(place.map { $0.lines(line) } ?? [line])
  }

  mutating func lines(_ lines: [String]) {
    for line in lines { self.line(line) }
  }

  /// What `body` writes for each message that is wanted, with the lines of `#if` around them.
  mutating func entries(
    _ items: [EntryItem], where isWanted: (Entry) -> Bool = { _ in true }, _ body: (Entry, inout TextWriter) -> Void
  ) {
    for item in items {
      switch item {
      case .directive(let line): self.line(line)
      case .entry(let entry): if isWanted(entry) { body(entry, &self) }
      }
    }
  }

  /// `head {`, the lines that `body` writes, `}`.
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
