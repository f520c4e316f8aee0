// Lines.swift: lines of Swift.

/// `head {`, the lines of `body`, `}`. Diagnostics locate the head at a line of the user's.
func block(_ head: String, remark: String? = nil, end: String = "", at place: SourcePlace? = nil, _ body: [String])
  -> [String]
{
  let head = head + " {" + (remark.map { "  // \($0)" } ?? "")
  return (place?.lines(head) ?? [head]) + body.map { $0.isEmpty ? "" : "  " + $0 } + ["}" + end]
}

extension [String] {
  var text: String { map { $0 + "\n" }.joined() }
}

extension [Item<Entry>] {
  /// What `body` writes for each wanted message, between the lines of `#if`.
  func lines(where isWanted: (Entry) -> Bool = { _ in true }, _ body: (Entry) -> [String]) -> [String] {
    flatMap { item in
      switch item {
      case .directive(let line): [line]
      case .element(let entry): isWanted(entry) ? body(entry) : []
      }
    }
  }
}
