// Journal.swift: what happened, line by line.

/// What happened, in order, from any thread.
package final class Journal: Sendable {
  private let lines = Locked<[String]>([])

  package init() {}

  package func write(_ line: String) { lines.withLock { $0.append(line) } }
  package var all: [String] { lines.withLock { $0 } }

  /// What there is, which then begins anew.
  @discardableResult
  package func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
