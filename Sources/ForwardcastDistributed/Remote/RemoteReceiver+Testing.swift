// RemoteReceiver+Testing.swift: state for tests of engines.

extension RemoteReceiver {
  /// The number of messages that have not ended.
  package var standing: Int { line.state.withLock { $0.waiting.count + $0.messages.count } }
  /// The number of all messages so far.
  package var called: Int { line.state.withLock { $0.tickets } }
  package var abandoned: Int { line.state.withLock { $0.abandoned } }
  /// True until the endpoint knows which messages are still awaited.
  package var isTelling: Bool { line.state.withLock { $0.isTelling || $0.mustTell } }
}
