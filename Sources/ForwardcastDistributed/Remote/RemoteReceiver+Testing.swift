// RemoteReceiver+Testing.swift: state for tests of engines.

extension RemoteReceiver {
  /// The number of messages that have not ended.
  package var standing: Int { line.state.withLock { $0.waiting.count + $0.messages.count } }
  /// The number of all messages.
  package var called: Int { line.state.withLock { $0.tickets } }
  /// The number of ended calls that the engine has not returned.
  package var abandoned: Int { line.state.withLock { $0.abandoned } }
  /// Whether the endpoint is or will be told what is no longer awaited.
  package var isTelling: Bool { line.state.withLock { $0.isTelling || $0.mustTell } }
}
