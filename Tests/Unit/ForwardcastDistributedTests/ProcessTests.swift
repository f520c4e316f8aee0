// ProcessTests.swift: two processes over an engine that drops, duplicates, delays and cuts.

import Forwardcast
import Foundation
import PipeActorSystem
import Synchronization
import TestSupport
import Testing

@testable import ForwardcastDistributed

/// The program `distributed-peer`, beside the tests.
private func peerProgram() throws -> URL {
  let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
  let places = (bundles + [URL(filePath: CommandLine.arguments[0])]).map { $0.deletingLastPathComponent() }
  let found = places.map { $0.appending(path: "distributed-peer") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  return try #require(found, "no distributed-peer beside the tests")
}

/// A file that all processes of one test append to.
private final class JournalFile: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString).journal").path

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The numbers in execution order.
  var numbers: [Int] {
    get throws { try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { Int($0) } }
  }
}

/// A process with its journal and a receiver.
private struct Stage {
  let journal: JournalFile
  let peer: PeerProcess
  let remote: RemoteReceiver

  init(
    _ options: RemoteOptions = RemoteOptions(deadline: unhurried), journal: JournalFile = JournalFile(),
    faults: PipeFaults = PipeFaults()
  )
    async throws
  {
    self.journal = journal
    peer = try PeerProcess(try peerProgram(), journal: journal.path, faults: faults)
    // A busy machine starts a process slowly.
    var connected: RemoteReceiver?
    while connected == nil {
      do {
        connected = try await RemoteReceiver(
          connectingTo: try peer.endpoint("journal"), name: "journal", options: options)
      } catch let error as RemoteError where error.code == .timedOut {}
    }
    remote = try #require(connected)
  }
}

@Suite("Two processes", .whenQuiet, .serialized, .timeLimit(.minutes(10)))
struct ProcessTests {
  @Test("messages run in the other process, in order, and their answers return")
  func basics() async throws {
    let stage = try await Stage()
    for number in 1...200 { try await expect(stage.remote.sendAndWait(.note, number), equals: number) }
    stage.peer.kill()
    try expect(stage.journal.numbers, equals: Array(1...200))
  }

  @Test("after a lost message or a lost answer, it is unknown whether the message ran", arguments: [true, false])
  func lost(message: Bool) async throws {
    let stage = try await Stage()
    stage.peer.system.faults.command { frame, direction in
      frame.kind == (message ? .call : .answer) && direction == (message ? .outgoing : .incoming) ? .drops : .passes
    }
    let error = try await remoteError {
      try await stage.remote.with(deadline: .milliseconds(200)).sendAndWait(.note, 1)
    }
    expect(error.code == .timedOut && error.outcome == .unknown)
    stage.peer.system.faults.command { _, _ in .passes }
    try await expect(stage.remote.sendAndWait(.note, 2), equals: 2)
    stage.peer.kill()
    try expect(stage.journal.numbers, equals: message ? [2] : [1, 2])
  }

  @Test("messages and answers that the engine duplicates run once")
  func doubled() async throws {
    let stage = try await Stage()
    stage.peer.system.faults.command { _, _ in .doubles }
    for number in 1...300 { try await expect(stage.remote.sendAndWait(.note, number), equals: number) }
    stage.peer.kill()
    try expect(stage.journal.numbers, equals: Array(1...300))
  }

  @Test("a message that arrives after a later one does not run", arguments: [false, true])
  func reordered(reversed: Bool) async throws {
    let stage = try await Stage()
    let faults = stage.peer.system.faults
    faults.command { frame, direction in frame.kind == .call && direction == .outgoing ? .held : .passes }
    let hasty = stage.remote.with(deadline: .milliseconds(20))
    for number in 1...3 {
      try await expect(remoteError { try await hasty.sendAndWait(.note, number) }.outcome, equals: .unknown)
    }
    expect(faults.heldCount >= 3)
    faults.command { _, _ in .passes }
    try await expect(stage.remote.sendAndWait(.note, 4), equals: 4)
    faults.release(reversed: reversed)
    try await expect(stage.remote.sendAndWait(.note, 5), equals: 5)
    stage.peer.kill()
    try expect(stage.journal.numbers, equals: [4, 5])
  }

  @Test("calls delayed past the deadline still run in order")
  func delayed() async throws {
    let stage = try await Stage()
    let faults = stage.peer.system.faults
    faults.command { frame, direction in frame.kind == .call && direction == .outgoing ? .held : .passes }
    let hasty = stage.remote.with(deadline: .milliseconds(20))
    for number in 1...3 {
      try await expect(remoteError { try await hasty.sendAndWait(.note, number) }.outcome, equals: .unknown)
    }
    faults.release()
    faults.command { _, _ in .passes }
    try await expect(stage.remote.sendAndWait(.note, 4), equals: 4)
    stage.peer.kill()
    let ran = try stage.journal.numbers
    expect(ran == ran.sorted() && Set(ran).count == ran.count && ran.last == 4)
  }

  @Test("a cut connection fails pending and later calls, and none remains in the engine")
  func cut() async throws {
    let stage = try await Stage()
    stage.peer.system.faults.command { _, direction in direction == .incoming ? .drops : .passes }
    let call = Task { try await stage.remote.sendAndWait(.note, 1) }
    await until(stage.peer.system.pendingCount > 0)
    stage.peer.system.cut()
    let error = try await remoteError { _ = try await call.value }
    expect(error.code == .connectionFailed && error.outcome == .unknown)
    try await expect(remoteError { try await stage.remote.sendAndWait(.note, 2) }.code, equals: .connectionFailed)
    expect(stage.peer.system.pendingCount, equals: 0)
    stage.peer.kill()
  }

  @Test("after a restart of a process, its old receiver throws errors and a new one answers")
  func restarted() async throws {
    let journal = JournalFile()
    let old = try await Stage(journal: journal)
    try await expect(old.remote.sendAndWait(.note, 1), equals: 1)
    old.peer.kill()
    let new = try await Stage(journal: journal)
    try await expect(new.remote.sendAndWait(.note, 2), equals: 2)
    try await expect(remoteError { try await old.remote.sendAndWait(.note, 3) }.code, equals: .connectionFailed)
    new.peer.kill()
    try expect(journal.numbers, equals: [1, 2])
  }

  @Test("calls waiting for a stopped process are bounded, and run when it continues")
  func stopped() async throws {
    let stage = try await Stage()
    let room = MulticastProxy<any MessageReceiver & Sendable>()
    let failures = Locked<[String]>([])
    room.onError = { failure in failures.withLock { $0.append("\(failure.error)") } }
    room.add(remote: stage.remote, buffer: .keepNewest(100))
    stage.peer.pause()
    let kept = LeakCounter()
    var dropped = 0
    let count = bound(1_000, full: 5_000)
    for number in 1...count {
      dropped += room.broadcast(.note, number).dropped
      dropped += room.broadcast(Message<(Witness) -> Int>("note:"), Witness(kept)).dropped
    }
    expect(dropped >= 2 * count - 110)
    expect(stage.peer.system.pendingCount <= 1)
    // Dropped messages have released their arguments.
    expect(kept.alive <= 110)
    stage.peer.goOn()
    try await room.drain()
    stage.peer.kill()
    let ran = try stage.journal.numbers
    expect(ran.last == count && ran == ran.sorted() && ran.count <= 110)
    // The objects are not numbers, so the sender refused each of them.
    expect(failures.withLock { $0 }.allSatisfy { $0.hasPrefix("type mismatch") })
  }

  @Test("a process that stops for longer than the deadline is lost, and receives messages again when it continues")
  func stoppedAndBack() async throws {
    let stage = try await Stage(RemoteOptions(deadline: .milliseconds(300), givesUpAfter: 1))
    let room = MulticastProxy<any MessageReceiver & Sendable>()
    room.onError = { _ in }
    let registration = room.add(
      remote: stage.remote,
      whenGone: .keepsTrying(RemoteBackoff(first: .milliseconds(1), longest: .milliseconds(50))))
    var presences = stage.remote.presences.makeAsyncIterator()
    await expect(presences.next(), equals: .connected)
    stage.peer.pause()
    room.broadcast(.note, 1)
    await expect(presences.next(), equals: .lost("1 call was not answered"))
    try await expect(remoteError { try await stage.remote.sendAndWait(.note, 2) }.code, equals: .gone)
    stage.peer.goOn()
    await expect(presences.next(), equals: .connected)
    try await expect(stage.remote.with(deadline: unhurried).sendAndWait(.note, 3), equals: 3)
    expect(registration.isLive)
    stage.peer.kill()
    // The outcome of the first message was unknown.
    expect([[1, 3], [3]].contains(try stage.journal.numbers))
  }

  @Test(
    "every message of a hostile peer is answered, memory stays bounded, and other senders are answered",
    arguments: HostilePeer.Attack.allCases)
  func hostile(attack: HostilePeer.Attack) async throws {
    let stage = try await Stage()
    let door = try stage.peer.endpoint("journal")
    let replies = try await HostilePeer { try await door.receive($0) }.make(attack, parts: 10)
    switch attack {
    case .names: expect(replies, equals: ["opened": 100])
    case .pastTheMark: expect(replies, equals: ["ahead": 100])
    // Messages that ran threw an error, since they have a text instead of a number.
    case .held: expect(replies["busy", default: 0] > 40 && replies.values.reduce(0, +) == 96, "\(replies)")
    case .again: expect(replies["kept", default: 0] > 4 && replies.values.reduce(0, +) == 40, "\(replies)")
    case .lines: expect(replies, equals: ["answer": 400])
    case .marks: expect(replies, equals: ["told": 1, "malformed": 3, "selector": 1, "argument": 2])
    }
    try await expect(stage.remote.sendAndWait(.note, 7), equals: 7)
    #if os(Linux)
      expect(try ProcessUse(stage.peer.identifier).largest < 512 << 20)
    #endif
    stage.peer.kill()
  }

  /// FORWARDCAST_REMOTE_CALLS=100000 makes the full run.
  @Test("under drops, duplicates, delays, kills and restarts each call ends, none runs twice, and order is kept")
  func everything() async throws {
    let count = bound(300, full: 2_000, named: "FORWARDCAST_REMOTE_CALLS")
    let (journal, restarts) = (JournalFile(), 6)
    let options = RemoteOptions(deadline: .milliseconds(100))
    let random = RandomFaults(seed: 13, drops: 8, doubles: 200, waits: 12, upToMilliseconds: 160)
    func start() async throws -> Stage {
      let stage = try await Stage(journal: journal)
      stage.peer.system.faults.command { _, _ in random.fate() }
      return stage
    }
    var stage = try await start()
    var met = 0
    var (answered, didNotRun, unknown, restarted): ([Int], [Int], [Int], Int) = ([], [], [], 0)
    var saw: [String: Int] = [:]
    for number in 1...count {
      if number % (count / restarts) == count / restarts / 2 {
        // Kills the process during the following calls.
        let peer = stage.peer
        Thread.detachNewThread { peer.kill() }
      }
      do {
        let answer = try await stage.remote.with(deadline: options.deadline).sendAndWait(.note, number)
        expect(answer, equals: number)
        answered.append(number)
      } catch let error as RemoteError {
        if error.outcome == .didNotRun { didNotRun.append(number) } else { unknown.append(number) }
        saw["\(error.code), \(error.outcome.rawValue)", default: 0] += 1
        if error.code == .connectionFailed || error.code == .gone {
          met += stage.peer.system.faults.metCount
          stage = try await start()
          restarted += 1
        }
      }
    }
    met += stage.peer.system.faults.metCount
    stage.peer.kill()
    let ran = try journal.numbers
    expect(answered.count + didNotRun.count + unknown.count, equals: count)
    expect(ran, equals: ran.sorted(), "order")
    expect(Set(ran).count, equals: ran.count, "none twice")
    expect(Set(ran).isSuperset(of: answered), "what was answered ran")
    expect(Set(ran).isDisjoint(with: didNotRun), "what did not run did not")
    // A late kill may hit a process that is about to be killed again.
    expect(restarted >= restarts / 2 && met > count / 100, "the faults happened")
    print(
      "\(count) calls: \(answered.count) answers, \(unknown.count) unknown, \(didNotRun.count) did not run; "
        + "\(met) frames met a fault, \(restarted) restarts; \(ran.count) ran; \(saw)")
  }

  @Test("with a full window, drops, duplicates and delays each call ends, none runs twice, and order is kept")
  func everythingInWindow() async throws {
    let count = bound(300, full: 2_000, named: "FORWARDCAST_REMOTE_CALLS")
    let stage = try await Stage(RemoteOptions(deadline: .milliseconds(200)))
    let random = RandomFaults(seed: 17, drops: 8, doubles: 200, waits: 12, upToMilliseconds: 160)
    stage.peer.system.faults.command { _, _ in random.fate() }
    let remote = stage.remote
    var saw: [String: Int] = [:]
    var (answered, didNotRun): ([Int], [Int]) = ([], [])
    func note(_ number: Int, _ end: String?) {
      if let end { saw[end, default: 0] += 1 } else { answered.append(number) }
      if end?.hasSuffix(RemoteError.Outcome.didNotRun.rawValue) ?? false { didNotRun.append(number) }
    }
    try await withThrowingTaskGroup(of: (number: Int, end: String?).self) { group in
      for number in 1...count {
        if number > 16, let next = try await group.next() { note(next.number, next.end) }
        let (called, isOver) = (remote.called, Locked(false))
        group.addTask {
          defer { isOver.withLock { $0 = true } }
          do {
            let answer = try await remote.sendAndWait(.note, number)
            return (number, answer == number ? nil : "the answer \(answer)")
          } catch let error as RemoteError {
            return (number, "\(error.code), \(error.outcome.rawValue)")
          }
        }
        // Calls are made in numeric order; one that was refused at once has ended.
        await until(remote.called > called || isOver.withLock { $0 })
      }
      for try await next in group { note(next.number, next.end) }
    }
    stage.peer.kill()
    let ran = try stage.journal.numbers
    expect(answered.count + saw.values.reduce(0, +), equals: count)
    expect(ran == ran.sorted() && Set(ran).count == ran.count)
    expect(Set(ran).isSuperset(of: answered) && Set(ran).isDisjoint(with: didNotRun))
    expect(!saw.keys.contains { $0.hasPrefix("the answer") } && stage.peer.system.faults.metCount > count / 100)
    print("window: \(count) calls: \(answered.count) answers, \(ran.count) ran; \(saw)")
  }
}
