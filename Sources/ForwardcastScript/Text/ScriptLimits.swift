// ScriptLimits.swift: limits that take long to reach, so that tests lower them.

package struct ScriptLimits: Sendable {
  /// Those of the texts and sessions that the running task makes.
  @TaskLocal static var current = ScriptLimits()

  /// Bytes of a text that are read.
  package var text = 16 << 20
  /// Words, signs and literals of a text: each takes up to 150 bytes once it is parsed.
  package var tokens = 1 << 21
  /// Calls that one recording proxy keeps; whoever asks for more gets `limit exceeded`.
  package var recordedCalls = 100_000
  /// Names that one session may add to the process's selectors.
  package var names = 10_000
  /// Proxies, questions and hooks that one message passes.
  package var proxies = 1 << 15
  /// Registrations that one message passes by.
  package var registrations = 100_000
}

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
