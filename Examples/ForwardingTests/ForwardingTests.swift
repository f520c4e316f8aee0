// ForwardingTests.swift: how forwarding behaves, as tests to copy for a protocol of your own.
// Example: ForwardingTests. Run it with `swift test --filter ForwardingTests`.

import Dispatch
import Forwardcast
import Synchronization
import Testing

@Forwarded
protocol DoorWatcher: AnyObject, Sendable {
  func knocked(_ times: Int)
  @Answer(.every) func mayOpen() -> Bool
  func unlock() throws -> String
}

/// Records calls from any thread.
final class Log: Sendable {
  private let state = Mutex<[String]>([])
  var lines: [String] { state.withLock { $0 } }
  func note(_ line: String) { state.withLock { $0.append(line) } }
}

struct Jammed: Error, Equatable {}

/// Records its calls, and runs a closure of the test.
final class Watcher: DoorWatcher {
  let name: String
  let log: Log
  let opens: Bool
  let onKnock: @Sendable () -> Void
  init(_ name: String, _ log: Log, opens: Bool = true, onKnock: @escaping @Sendable () -> Void = {}) {
    (self.name, self.log, self.opens, self.onKnock) = (name, log, opens, onKnock)
  }

  func knocked(_ times: Int) {
    log.note("\(name) \(times)")
    onKnock()
  }
  func mayOpen() -> Bool {
    log.note("\(name) asked")
    return opens
  }
  func unlock() throws -> String {
    log.note("\(name) unlocks")
    guard opens else { throw Jammed() }
    return name
  }
}

@Suite("Forwarding")
struct ForwardingTests {
  let log = Log()
  let door = DoorWatcherProxy()

  @Test("Targets are called in the order in which they were added, higher priority first")
  func order() {
    let (ann, bo, chu) = (Watcher("ann", log), Watcher("bo", log), Watcher("chu", log))
    door.add(ann)
    door.add(bo)
    door.add(chu, priority: 1)
    door.knocked(2)
    #expect(log.lines == ["chu 2", "ann 2", "bo 2"])
    withExtendedLifetime((ann, bo, chu)) {}
  }

  @Test("A target that is removed during a message does not receive it")
  func removalWithin() {
    let bo = Watcher("bo", log)
    let ann = Watcher("ann", log) { [door, bo] in door.remove(bo) }
    door.add(ann)
    door.add(bo)
    door.knocked(1)
    #expect(log.lines == ["ann 1"])
    #expect(door.count == 1)
  }

  @Test("A target that is released is not called, and need not be removed")
  func released() {
    var ann: Watcher? = Watcher("ann", log)
    if let ann { door.add(ann) }
    ann = nil
    door.knocked(1)
    #expect(log.lines.isEmpty && door.count == 0)
  }

  @Test("The first false ends a vote, and later targets are not called")
  func earlyStop() {
    let (ann, bo) = (Watcher("ann", log, opens: false), Watcher("bo", log))
    door.add(ann)
    door.add(bo)
    #expect(!door.mayOpen())
    #expect(log.lines == ["ann asked"])
    withExtendedLifetime((ann, bo)) {}
  }

  @Test("An error does not stop other targets, and is thrown to a caller that can throw")
  func errors() {
    let (ann, bo) = (Watcher("ann", log, opens: false), Watcher("bo", log))
    door.add(ann)
    door.add(bo)
    #expect(throws: Jammed()) { try door.unlock() }
    #expect(log.lines == ["ann unlocks", "bo unlocks"])
    withExtendedLifetime((ann, bo)) {}
  }

  @Test("With firstSuccess, the first result that is not an error ends the message")
  func firstSuccess() throws {
    let (ann, bo, chu) = (Watcher("ann", log, opens: false), Watcher("bo", log), Watcher("chu", log))
    for watcher in [ann, bo, chu] { door.add(watcher) }
    #expect(try door.unlock(returning: .firstSuccess) == "bo")
    #expect(log.lines == ["ann unlocks", "bo unlocks"])
  }

  @Test("Without targets, a call does nothing, a vote is true, and a throwing call throws")
  func silence() {
    door.knocked(1)
    #expect(door.mayOpen())
    let error = #expect(throws: MessageError.self) { try door.unlock() }
    #expect(error?.code == .nobodyResponds)
  }

  @Test("A target on a queue runs there, after the sender has continued")
  func queue() async throws {
    let queue = DispatchQueue(label: "watchers")
    let (ann, bo) = (Watcher("ann", log), Watcher("bo", log))
    door.add(ann, delivery: .queue(queue))
    door.add(bo)
    queue.suspend()  // holds the queue, so the test needs no sleep
    door.knocked(3)
    #expect(log.lines == ["bo 3"])
    queue.resume()
    try await door.drain()  // waits for all queued messages
    #expect(log.lines == ["bo 3", "ann 3"])
    withExtendedLifetime((ann, bo)) {}
  }
}
