// ScriptSession+Testing.swift: doors for tests.
// Layer: Script, Session. See the article "How the script works".

extension ScriptSession {
  /// Runs `body` with another ``textLimit`` for the texts that it gives to sessions.
  package static func withTextLimit<Result>(_ bytes: Int, _ body: () throws -> Result) rethrows -> Result {
    try SourceText.$limit.withValue(bytes) { try body() }
  }

  /// Runs `body` with another limit on the calls that a recording proxy keeps, for the texts that it gives to sessions.
  package static func withRecordedCallLimit<Result>(_ calls: Int, _ body: () throws -> Result) rethrows -> Result {
    try Interpreter.$recordedCallLimit.withValue(calls) { try body() }
  }

  /// Bounds anew what the names of all texts may take in this process, for the rest of its life.
  package static func limitInternedNames(to bytes: Int) { InternedNames.limit.store(bytes, ordering: .relaxed) }
}
