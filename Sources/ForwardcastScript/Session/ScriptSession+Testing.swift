// ScriptSession+Testing.swift: doors for tests.
// Layer: Script, Session. See the article "How the script works".

extension ScriptSession {
  /// Runs `body` with other limits for the texts and the sessions that it makes.
  package static func withLimits<Result>(
    _ change: (inout ScriptLimits) -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    var limits = ScriptLimits.current
    change(&limits)
    return try ScriptLimits.$current.withValue(limits) { try body() }
  }

  /// Bounds anew what the names of all texts may take in this process, for the rest of its life.
  package static func limitInternedNames(to bytes: Int) { InternedNames.limit.store(bytes, ordering: .relaxed) }
}
