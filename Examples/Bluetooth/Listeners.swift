// Listeners.swift: screens that belong to the main actor, and a log that belongs to a queue.
// Example: Bluetooth.

import Dispatch
import Forwardcast
import Synchronization

/// A screen touches its views on the main actor only: the attribute sees that and writes rows that run there.
@MainActor
@Receiver
final class Screen: ConnectionListener {
  let name: String
  private var title = "-"

  init(_ name: String) { self.name = name }

  @Message func linkChanged(_ state: LinkState) { show("\(state)") }
  @Message func heartRate(_ beats: Int) { show("\(beats) bpm") }

  private func show(_ text: String) {
    print("  \(name): \(title) -> \(text)")
    title = text
  }
}

/// Only wants to know whether there is a link: it has no method for heart rates, and gets none.
@MainActor
@Receiver
final class StatusIcon: ConnectionListener {
  @Message func linkChanged(_ state: LinkState) { print("  icon: \(state == .connected ? "(*)" : "( )")") }
}

/// Writes everything down, on a queue where it may be slow: no screen waits for it.
@Receiver
final class Log: ConnectionListener {
  static let queue = DispatchQueue(label: "log")
  private let lines = Mutex<[String]>([])

  @Message func linkChanged(_ state: LinkState) { write("link \(state)") }
  @Message func heartRate(_ beats: Int) { write("heart rate \(beats)") }

  private func write(_ line: String) {
    dispatchPrecondition(condition: .onQueue(Log.queue))
    lines.withLock { $0.append("\($0.count + 1). \(line)") }
  }

  var text: String { lines.withLock { $0.joined(separator: "\n  ") } }
}
