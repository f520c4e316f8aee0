// Client.swift: a person's end of the connection, and the inbox of what was heard there.
// Example: Chat.

import Dispatch
import Forwardcast
import Synchronization

final class Client: Sendable {
  let name: String
  let delegates = LineListenerProxy()
  private let wire: Wire

  init(_ name: String, port: UInt16) throws {
    self.name = name
    wire = Wire(try connectedSocket(to: port))
    wire.read(on: DispatchQueue(label: "network of \(name)")) { [delegates] line in
      if let line { delegates.heard(line) }
    }
  }

  /// The first line says who this is.
  func join() { wire.send(name) }
  func say(_ text: String) { wire.send(text) }
  func leave() { wire.finish() }
}

/// A delegate of one client. It hears on its own queue, and gives to whoever waits for the next line.
final class Inbox: LineListener {
  struct Silence: Error {}

  private let lines = Mutex<[String]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func heard(_ line: String) {
    lines.withLock { $0.append(line) }
    arrived.signal()
  }

  /// Blocks until there is a line, and throws when none comes for long.
  func next() throws -> String {
    guard arrived.wait(timeout: .now() + 20) == .success else { throw Silence() }
    return lines.withLock { $0.removeFirst() }
  }
}
