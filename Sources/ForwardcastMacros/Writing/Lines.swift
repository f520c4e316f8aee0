// Lines.swift: builds lines of Swift.

/// The lines `head {`, `body` and `}`. The compiler reports problems of the head at `place`.
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
  /// The lines that `body` returns for each wanted message, with the `#if` lines of the members.
  func lines(where isWanted: (Entry) -> Bool = { _ in true }, _ body: (Entry) -> [String]) -> [String] {
    flatMap { item in
      switch item {
      case .directive(let line): [line]
      case .element(let entry): isWanted(entry) ? body(entry) : []
      }
    }
  }
}
