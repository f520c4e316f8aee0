// EngineTests.swift: the guarantees between processes, with the toolchain's engine and with pipes.

import Distributed
import Forwardcast
import Foundation
import PipeActorSystem
import TestSupport
import Testing

@testable import ForwardcastDistributed

enum TestedEngine: CaseIterable {
  case local, pipes, duplicatingPipes
}

@Suite("Engines", .whenQuiet, .timeLimit(.minutes(10)))
struct EngineTests {
  private static let messages = 200

  @Test("values arrive unchanged", arguments: TestedEngine.allCases)
  func values(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      for number in [0, -1, .max, .min + 1] {
        try await expect(stage.remote.sendAndWait(.add, number - 1), equals: number)
      }
      for text in ["", "plain", "quotes \" and \\, a line\nand a null \0", "日本語 🙂"] {
        try await expect(stage.remote.sendAndWait(.echoText, text), equals: text)
      }
      let bytes = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try await expect(stage.remote.sendAndWait(.echoBytes, bytes), equals: bytes)
      for tint in [Tint(red: 1), Tint(red: -1 << 40, name: "x\0y", shades: [0.5, -1e300, .infinity])] {
        try await expect(stage.remote.sendAndWait(.echoTint, tint), equals: tint)
      }
    }
  }

  @Test("errors arrive with their texts", arguments: TestedEngine.allCases)
  func errors(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      let error = try await remoteError { try await stage.remote.sendAndWait(.burn) }
      expect("\(error)", equals: "foreign error: 'burn' of stage: Burnt: the cook slept; the message ran")
    }
  }

  @Test(
    "messages of one sender run once, in calling order, and two senders do not interfere",
    arguments: TestedEngine.allCases)
  func order(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      let other = try await stage.connect()
      let count = EngineTests.messages
      async let first: Void = stage.sendTogether(stage.remote, Array(0..<count))
      async let second: Void = stage.sendTogether(other, Array(count..<2 * count))
      _ = try await (first, second)
      let ran = stage.worker.words.compactMap { Int($0.dropFirst(4)) }
      expect(ran.filter { $0 < count }, equals: Array(0..<count))
      expect(ran.filter { $0 >= count }, equals: Array(count..<2 * count))
    }
  }

  @Test(
    "an unanswered call ends at its deadline and a canceled one at once, and the next call still works",
    arguments: TestedEngine.allCases)
  func ends(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      let hasty = stage.remote.with(deadline: .milliseconds(20))
      let late = try await remoteError { try await hasty.sendAndWait(.hold, 1) }
      expect(late.code, equals: .timedOut)
      stage.worker.gate.open()
      try await expect(stage.remote.sendAndWait(.add, 2), equals: 3)
    }
    try await withStage(engine) { stage in
      let held = try await stage.hold()
      held.cancel()
      await #expect(throws: CancellationError.self) { try await held.value }
      stage.worker.gate.open()
      try await expect(stage.remote.sendAndWait(.add, 2), equals: 3)
    }
  }

  @Test("a message that is abandoned before it starts does not run", arguments: TestedEngine.allCases)
  func givenUp(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      let held = try await stage.hold()
      let hasty = stage.remote.with(deadline: .milliseconds(20))
      try await expect(remoteError { try await hasty.sendAndWait(.add, 2) }.code, equals: .timedOut)
      await until(!stage.remote.isTelling)
      stage.worker.gate.open()
      try await expect(held.value, equals: 1)
      try await expect(stage.remote.sendAndWait(.add, 3), equals: 4)
      expect(stage.worker.words, equals: ["begin 1", "end 1", "add 3"])
    }
  }

  @Test(
    "a message that is not accepted or is too large is refused, and the next one works",
    arguments: TestedEngine.allCases)
  func refused(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      await #expect(throws: MessageError.self) { try await stage.remote.sendAndWait(Message<() -> Void>("missing")) }
      let large = String(repeating: "x", count: stage.limits.bytes)
      try await expect(remoteError { try await stage.remote.sendAndWait(.echoText, large) }.code, equals: .refused)
      try await expect(stage.remote.sendAndWait(.add, 2), equals: 3)
    }
  }

  @Test("a call to a closed endpoint fails at once", arguments: TestedEngine.allCases)
  func closed(engine: TestedEngine) async throws {
    try await withStage(engine) { stage in
      await stage.close("it leaves")
      let error = try await remoteError { try await stage.remote.sendAndWait(.add, 1) }
      expect("\(error)", equals: "receiver gone: 'add:' of stage: it leaves; the message did not run")
      expect(stage.remote.isGone)
    }
  }
}

extension Message<(String) -> String> { fileprivate static var echoText: Self { .init("text:") } }
extension Message<([UInt8]) -> [UInt8]> { fileprivate static var echoBytes: Self { .init("bytes:") } }
extension Message<(Tint) -> Tint> { fileprivate static var echoTint: Self { .init("tint:") } }
extension Message<() -> Void> { fileprivate static var burn: Self { .init("burn") } }

/// Runs a test with an endpoint at one end of an engine and a receiver at the other.
private func withStage(_ engine: TestedEngine, _ body: (Stage) async throws -> Void) async throws {
  if engine == .local {
    let system = LocalTestingDistributedActorSystem()
    return try await withStage(system, system, body)
  }
  let faults = PipeFaults()
  if engine == .duplicatingPipes { faults.command { _, _ in .doubles } }
  let (there, back) = (Pipe(), Pipe())
  let server = PipeActorSystem(
    reading: there.fileHandleForReading.fileDescriptor, writing: back.fileHandleForWriting.fileDescriptor)
  let client = PipeActorSystem(
    reading: back.fileHandleForReading.fileDescriptor, writing: there.fileHandleForWriting.fileDescriptor,
    faults: faults)
  for system in [server, client] { system.start() }
  try await withStage(server, client, body)
  for pipe in [there, back] { try? pipe.fileHandleForWriting.close() }
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      for system in [server, client] { system.ended.wait() }
      continuation.resume()
    }
  }
}

private func withStage<ActorSystem: DistributedActorSystem<any Codable>>(
  _ serving: ActorSystem, _ calling: ActorSystem, _ body: (Stage) async throws -> Void
) async throws {
  let (worker, limits) = (Worker(), MessageLimits(bytes: 1 << 18))
  let endpoint = MessageEndpoint(
    worker, for: Worker.selectorTable, types: knownTypes, limits: limits, actorSystem: serving)
  let found = try MessageEndpoint<ActorSystem>.resolve(id: endpoint.id, using: calling)
  let connect: @Sendable () async throws -> RemoteReceiver = {
    try await RemoteReceiver(
      connectingTo: found, name: "stage", options: RemoteOptions(deadline: unhurried, types: knownTypes))
  }
  try await body(
    Stage(
      worker: worker, limits: limits, remote: connect(), connect: connect, close: { await endpoint.close($0) }))
  worker.gate.open()
}

/// An endpoint in one system, and a receiver for it in the other.
private struct Stage: Sendable {
  let worker: Worker
  let limits: MessageLimits
  let remote: RemoteReceiver
  let connect: @Sendable () async throws -> RemoteReceiver
  let close: @Sendable (String) async -> Void

  /// Calls in numeric order without waiting in between, and checks the answers.
  func sendTogether(_ remote: RemoteReceiver, _ numbers: [Int]) async throws {
    let called = remote.called
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, number) in numbers.enumerated() {
        group.addTask { try await expect(remote.sendAndWait(.add, number), equals: number + 1) }
        await until(remote.called > called + index)
      }
      try await group.waitForAll()
    }
  }

  /// Makes a call that is held, and waits until it has started.
  func hold() async throws -> Task<Int, any Error> {
    let held = Task { try await remote.sendAndWait(.hold, 1) }
    await until(!worker.words.isEmpty)
    return held
  }
}
