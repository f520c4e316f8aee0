// World+Hints.swift: hints for errors, and completions.

extension World {
  private static let candidateLimit = 2000

  func hinting(_ error: ScriptError) -> ScriptError {
    let candidates: [String] =
      switch error.subject {
      case .name: boundNames + receiverNames + Parser.reservedWords
      case .receiver: receiverNames
      case .selector: rowSelectors + ValueMessages.all.map(\.selector)
      case .word, .advice, nil: []
      }
    var error = error
    error.hint = World.hint(about: error.subject, among: candidates)
    return error
  }

  /// `did you mean "a" or "b"?`, or an advice.
  static func hint(about subject: ScriptFault.Subject?, among candidates: [String] = []) -> String? {
    let near: [String]
    switch subject {
    case .name(let name), .receiver(let name), .selector(let name): near = Likeness.nearest(to: name, among: candidates)
    case .word(let word): near = ScriptLanguage.words(like: word)
    case .advice(let text): return text
    case nil: return nil
    }
    return near.isEmpty ? nil : "did you mean \(near.map { "\"\($0)\"" }.joined(separator: " or "))?"
  }

  var completions: [String] { boundNames + receiverNames + rowSelectors }

  private var boundNames: [String] {
    state.withLock { state in
      state.names.prefix(World.candidateLimit).compactMap { if case .value = $0.value { $0.key } else { nil } }
    }
  }

  private var receiverNames: [String] { state.withLock { Array($0.receivers.keys.prefix(World.candidateLimit)) } }

  /// The selectors of the script's receivers and of the host's objects.
  private var rowSelectors: [String] {
    let tables = state.withLock { state in
      state.receivers.values.prefix(World.candidateLimit).map(\.table)
        + state.names.values.prefix(World.candidateLimit).compactMap {
          if case .value(.object(let object)) = $0 { type(of: object.receiver).selectorTable } else { nil }
        }
    }
    var selectors: Set<String> = []
    for table in tables where selectors.count < World.candidateLimit {
      selectors.formUnion(table.selectors.map(\.name))
    }
    return Array(selectors)
  }
}
