// ScriptLimits.swift: limits that tests lower, because reaching the usual limits is slow.

package struct ScriptLimits: Sendable {
  /// The limits of texts and sessions that the current task creates.
  @TaskLocal static var current = ScriptLimits()

  /// Bytes of a text.
  package var text = 16 << 20
  /// Words, signs and literals of a text. Each takes up to 150 bytes of memory.
  package var tokens = 1 << 21
  package var recordedCalls = 100_000
  package var names = 10_000
  /// Proxies, queries and hooks that one message passes.
  package var proxies = 1 << 15
  /// Registrations that one message passes.
  package var registrations = 100_000
}

extension ScriptSession {
  package static func withLimits<Result>(
    _ change: (inout ScriptLimits) -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    var limits = ScriptLimits.current
    change(&limits)
    return try ScriptLimits.$current.withValue(limits) { try body() }
  }

  package static func limitInternedNames(to bytes: Int) { InternedNames.limit.store(bytes, ordering: .relaxed) }
}
