// Listeners.swift: screens that belong to the main actor, and a log that belongs to a queue.
// Example: Bluetooth.

import Dispatch
import Forwardcast
import Synchronization

/// A screen touches its views on the main actor only. Its rows say so, and the compiler checks them.
@MainActor
final class Screen: ConnectionListener {
  let name: String
  private var title = "-"

  init(_ name: String) { self.name = name }

  nonisolated static let selectorTable = SelectorTable(for: Screen.self) {
    Responds(to: .linkChanged, onMainActor: { screen, state in screen.show("\(state)") })
    Responds(to: .heartRate, onMainActor: { screen, beats in screen.show("\(beats) bpm") })
  }

  private func show(_ text: String) {
    print("  \(name): \(title) -> \(text)")
    title = text
  }
}

/// Only wants to know whether there is a link: it has no row for heart rates, and gets none.
@MainActor
final class StatusIcon: ConnectionListener {
  nonisolated static let selectorTable = SelectorTable(for: StatusIcon.self) {
    Responds(to: .linkChanged, onMainActor: { _, state in print("  icon: \(state == .connected ? "(*)" : "( )")") })
  }
}

/// Writes everything down, on a queue where it may be slow: no screen waits for it.
final class Log: ConnectionListener {
  static let queue = DispatchQueue(label: "log")
  private let lines = Mutex<[String]>([])

  static let selectorTable = SelectorTable(for: Log.self) {
    Responds(to: .linkChanged) { log, state in log.write("link \(state)") }
    Responds(to: .heartRate) { log, beats in log.write("heart rate \(beats)") }
  }

  private func write(_ line: String) {
    dispatchPrecondition(condition: .onQueue(Log.queue))
    lines.withLock { $0.append("\($0.count + 1). \(line)") }
  }

  var text: String { lines.withLock { $0.joined(separator: "\n  ") } }
}
