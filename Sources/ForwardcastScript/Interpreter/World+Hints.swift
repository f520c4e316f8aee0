// World+Hints.swift: hints for errors, and completions.

import Forwardcast

extension World {
  func hinting(_ error: ScriptError) -> ScriptError {
    var error = error
    error.hint = error.subject.flatMap(hint)
    return error
  }

  /// Advice, or similar names: `did you mean "a" or "b"?`.
  private func hint(_ subject: ScriptError.Subject) -> String? {
    let near: [String]
    switch subject {
    case .advice(let text): return text
    case .name(let name) where receiver(name) != nil: return "\(name) is a receiver; new \(name) makes an object"
    case .name(let word) where Advice.words[word] != nil, .word(let word) where Advice.words[word] != nil:
      return Advice.words[word]
    case .name(let name): near = Likeness.nearest(to: name, among: boundNames + receiverNames + Parser.reservedWords)
    case .receiver(let name): near = Likeness.nearest(to: name, among: receiverNames)
    case .selector(let name):
      let known = ScriptLanguage.entries.filter { $0.kind == .valueMessage }.map(\.word)
      near = Likeness.nearest(to: name, among: rowSelectors + known)
    case .word(let word): near = ScriptLanguage.words(like: word)
    }
    return near.isEmpty ? nil : "did you mean \(near.map { "\"\($0)\"" }.joined(separator: " or "))?"
  }

  var completions: [String] { boundNames + receiverNames + rowSelectors }

  private var boundNames: [String] {
    state.withLock { state in
      state.names.prefix(Likeness.candidateLimit).compactMap { if case .value = $0.value { $0.key } else { nil } }
    }
  }

  private var receiverNames: [String] { state.withLock { Array($0.receivers.keys.prefix(Likeness.candidateLimit)) } }

  private var rowSelectors: [String] {
    let (tables, objects) = state.withLock { state in
      (
        state.receivers.values.prefix(Likeness.candidateLimit).map(\.table),
        state.names.values.prefix(Likeness.candidateLimit).compactMap {
          if case .value(.object(let object)) = $0 { object } else { nil }
        }
      )
    }
    var selectors: Set<String> = []
    for table in tables + objects.map({ type(of: $0.receiver).selectorTable })
    where selectors.count < Likeness.candidateLimit {
      selectors.formUnion(table.selectors.map(\.name))
    }
    return Array(selectors)
  }
}
