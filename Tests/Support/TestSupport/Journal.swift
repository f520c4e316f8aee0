// Journal.swift: a thread-safe list of events.

/// A list of lines that any thread may append to.
package final class Journal: Sendable {
  private let lines = Locked<[String]>([])

  package init() {}

  package func write(_ line: String) { lines.withLock { $0.append(line) } }
  package var all: [String] { lines.withLock { $0 } }

  /// Removes and returns all lines.
  @discardableResult
  package func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
