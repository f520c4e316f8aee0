// Support.swift: what pages take for granted.

import Synchronization

/// Lines that any thread may add.
nonisolated final class Heard: Sendable {
  private let state = Mutex([String]())
  var lines: [String] { state.withLock { $0 } }
  func note(_ line: String) { state.withLock { $0.append(line) } }
}
