// main.swift: a connection's state for a log on a queue, metrics on an actor, and a health check.
// Example: Server. Run it with `swift run server`.

import Dispatch
import Forwardcast
import Synchronization

enum LinkState: String, Sendable { case up, slow, down }

/// A part of the server, on the thread, queue or actor that suits it.
@Forwarded
protocol LinkObserver: AnyObject, Sendable {
  func link(_ name: String, became state: LinkState)
  @Answer(.every) func isHealthy() async -> Bool
}

/// Writes lines, on a queue where it may be slow.
final class Log: LinkObserver {
  private let lines = Mutex<[String]>([])
  func link(_ name: String, became state: LinkState) { lines.withLock { $0.append("\(name) \(state.rawValue)") } }
  func isHealthy() async -> Bool { true }
  var text: String { lines.withLock { $0.joined(separator: ", ") } }
}

/// Counts changes on its own actor, so senders do not wait for it.
actor Metrics: LinkObserver {
  private var changes: [LinkState: Int] = [:]
  nonisolated func link(_ name: String, became state: LinkState) {
    assumeIsolated { $0.changes[state, default: 0] += 1 }
  }
  func isHealthy() async -> Bool { changes[.down, default: 0] < 2 }
  var summary: String {
    "up \(changes[.up, default: 0]), slow \(changes[.slow, default: 0]), down \(changes[.down, default: 0])"
  }
}

/// Stores which links are down. It runs synchronously, so the next query sees each change.
final class Health: LinkObserver {
  private let down = Mutex<Set<String>>([])
  func link(_ name: String, became state: LinkState) {
    down.withLock { down in if state == .down { down.insert(name) } else { down.remove(name) } }
  }
  func isHealthy() async -> Bool { down.withLock { $0.isEmpty } }
}

let (log, metrics, health) = (Log(), Metrics(), Health())
let links = LinkObserverProxy()
links.add(log, delivery: .queue(DispatchQueue(label: "log")))
links.add(metrics, delivery: .actor(metrics))
links.add(health)

// Any thread may send. Here four connections change their states concurrently.
await withTaskGroup(of: Void.self) { group in
  for name in ["a", "b", "c", "d"] {
    group.addTask { for state in [LinkState.up, .slow] { links.link(name, became: state) } }
  }
}
links.link("c", became: .down)
print("healthy: \(await links.isHealthy())")
links.link("c", became: .up)
print("healthy: \(await links.isHealthy())")

try await links.drain()  // waits for all queued messages
print("metrics: \(await metrics.summary)")
print("log: \(log.text.split(separator: ", ").count) lines, the last one \(log.text.split(separator: ", ").last ?? "")")

// Prints:
// healthy: false
// healthy: true
// metrics: up 5, slow 4, down 1
// log: 10 lines, the last one c up
