// Support.swift: declarations that pages use without showing them.

import Synchronization

/// Lines that any thread may append to.
nonisolated final class Heard: Sendable {
  private let state = Mutex([String]())
  var lines: [String] { state.withLock { $0 } }
  func note(_ line: String) { state.withLock { $0.append(line) } }
}
