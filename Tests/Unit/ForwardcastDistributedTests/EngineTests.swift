// EngineTests.swift: the suite for engines, over one that nobody here wrote, and over one that may lose and double.

import Distributed
import Forwardcast
import ForwardcastDistributed
import ForwardcastDistributedTesting
import Foundation
import PipeActorSystem
import TestSupport
import Testing

/// Both ends of a pair of pipes, in this process.
private struct PipePair {
  let server: PipeActorSystem
  let client: PipeActorSystem
  private let pipes: [Pipe]

  init(_ faults: PipeFaults = PipeFaults()) {
    let (there, back) = (Pipe(), Pipe())
    pipes = [there, back]
    server = PipeActorSystem(
      reading: there.fileHandleForReading.fileDescriptor, writing: back.fileHandleForWriting.fileDescriptor)
    client = PipeActorSystem(
      reading: back.fileHandleForReading.fileDescriptor, writing: there.fileHandleForWriting.fileDescriptor,
      faults: faults)
    server.start()
    client.start()
  }

  /// Closes the pipes; both ends have stopped reading them then.
  func close() async {
    for pipe in pipes { try? pipe.fileHandleForWriting.close() }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        server.ended.wait()
        client.ended.wait()
        continuation.resume()
      }
    }
  }
}

@Suite("Engines", .whenQuiet)
struct EngineTests {
  @Test("the toolchain's engine keeps every promise")
  func local() async throws {
    let checks = await EngineConformance(serving: LocalTestingDistributedActorSystem(), deadline: unhurried).run()
    expect(checks.filter { !$0.isKept }.isEmpty, "\(checks)")
    expect(checks.count, equals: 11)
  }

  @Test("an engine between two processes keeps every promise, also where it doubles what it carries")
  func pipes() async throws {
    for fate in [PipeFaults.Fate.passes, .doubles] {
      let faults = PipeFaults()
      faults.command { _, _ in fate }
      let pair = PipePair(faults)
      let checks = await EngineConformance(serving: pair.server, calling: pair.client, deadline: unhurried).run()
      expect(checks.filter { !$0.isKept }.isEmpty, "\(checks)")
      await pair.close()
    }
  }

  @Test("an engine that loses what it carries breaks promises, which the suite says")
  func losing() async throws {
    let faults = PipeFaults()
    faults.command { frame, direction in direction == .outgoing && frame.number % 9 == 8 ? .drops : .passes }
    let pair = PipePair(faults)
    let checks = await EngineConformance(
      serving: pair.server, calling: pair.client, deadline: .milliseconds(200), messages: 20
    ).run()
    let broken = checks.filter { !$0.isKept }
    expect(
      broken.contains { $0.description.hasPrefix("broken: messages run once") && $0.description.contains("timed out") })
    await pair.close()
  }
}
