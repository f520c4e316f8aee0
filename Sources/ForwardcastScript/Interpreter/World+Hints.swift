// World+Hints.swift: what may have been meant, and what may be written next.
// Layer: Script, Interpreter. See the article "How the script works".

extension World {
  /// Names of each kind that are looked at.
  private static let candidateLimit = 2000

  /// The error with a hint, where something near is known.
  func hinting(_ error: ScriptError) -> ScriptError {
    let near: [String] =
      switch error.subject {
      case .name(let name): Likeness.nearest(to: name, among: boundNames + receiverNames + Parser.reservedWords)
      case .receiver(let name): Likeness.nearest(to: name, among: receiverNames)
      case .selector(let selector):
        Likeness.nearest(to: selector, among: rowSelectors + ValueMessages.table.map(\.selector))
      case .word(let word): ScriptLanguage.words(like: word)
      case nil: []
      }
    var error = error
    error.hint = World.hint(near)
    return error
  }

  /// `did you mean "a" or "b"?`
  static func hint(_ words: [String]) -> String? {
    if words.isEmpty { return nil }
    return "did you mean \(words.map { "\"\($0)\"" }.joined(separator: " or "))?"
  }

  var completions: [String] { boundNames + receiverNames + rowSelectors }

  private var boundNames: [String] {
    state.withLock { state in
      var names: [String] = []
      for (name, binding) in state.names.prefix(World.candidateLimit) {
        if case .value = binding { names.append(name) }
      }
      return names
    }
  }

  private var receiverNames: [String] { state.withLock { Array($0.tables.keys.prefix(World.candidateLimit)) } }

  private var rowSelectors: [String] {
    let tables = state.withLock { Array($0.tables.values.prefix(World.candidateLimit)) }
    var selectors: Set<String> = []
    for table in tables where selectors.count < World.candidateLimit {
      selectors.formUnion(table.selectors.map(\.name))
    }
    return Array(selectors)
  }
}
