// RemoteReceiver+Testing.swift: what checks of engines look at.
// Layer: Remote.

extension RemoteReceiver {
  /// How many messages have not ended.
  package var standing: Int { line.state.withLock { $0.waiting.count + $0.underWay.count } }
  /// How many messages were ever called.
  package var called: Int { line.state.withLock { $0.tickets } }
  /// Whether the endpoint is being told what is not awaited any more, or is still to be.
  package var isTelling: Bool { line.state.withLock { $0.isTelling || $0.mustTell } }
}
