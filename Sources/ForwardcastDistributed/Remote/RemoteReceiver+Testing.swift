// RemoteReceiver+Testing.swift: what checks of engines look at.

extension RemoteReceiver {
  /// How many messages have not ended.
  package var standing: Int { line.state.withLock { $0.waiting.count + $0.messages.count } }
  /// How many messages were ever called.
  package var called: Int { line.state.withLock { $0.tickets } }
  /// How many calls the engine has not given back, of those that have ended.
  package var abandoned: Int { line.state.withLock { $0.abandoned } }
  /// Whether the endpoint is being told what is not awaited any more, or is still to be.
  package var isTelling: Bool { line.state.withLock { $0.isTelling || $0.mustTell } }
}
