// Listeners.swift: screens on the main actor, and a log on a queue.
// Example: Bluetooth.

import Dispatch
import Forwardcast
import Synchronization

typealias Messages = ConnectionListenerProxy.Messages

/// A screen on the main actor, where its methods run.
@MainActor
final class Screen: ConnectionListener {
  let name: String
  private var title = "-"

  init(_ name: String) { self.name = name }

  func linkChanged(to state: LinkState) { show("\(state)") }
  func heartRate(_ beats: Int) { show("\(beats) bpm") }

  private func show(_ text: String) {
    print("  \(name): \(title) -> \(text)")
    title = text
  }
}

/// Shows whether there is a link. The closure is written on the main actor, so it runs there.
@MainActor
final class StatusIcon {
  func listen(to strap: ConnectionListenerProxy) {
    strap.on(Messages.linkChanged, owner: self) { display, state in display.show(state == .connected) }
  }
  private func show(_ isConnected: Bool) { print("  icon: \(isConnected ? "(*)" : "( )")") }
}

/// Writes all events, on a queue where it may be slow.
final class Log: Sendable {
  private let queue = DispatchQueue(label: "log")
  private let lines = Mutex<[String]>([])

  func listen(to strap: ConnectionListenerProxy) {
    strap.on(Messages.linkChanged, delivery: .queue(queue)) { [self] state in write("link \(state)") }
    strap.on(Messages.heartRate, delivery: .queue(queue)) { [self] beats in write("heart rate \(beats)") }
  }

  private func write(_ line: String) {
    dispatchPrecondition(condition: .onQueue(queue))
    lines.withLock { $0.append("\($0.count + 1). \(line)") }
  }

  var text: String { lines.withLock { $0.joined(separator: "\n  ") } }
}
