// Cost.swift: compares messages between processes with a hand-written distributed method.

import Distributed
import Forwardcast
import ForwardcastDistributed
import Foundation
import PipeActorSystem

// Both wake six threads and make eight system calls for locks per call. A message adds only processor
// work, so its share is larger on systems that wake threads quickly. The list shows thousands of
// instructions at both ends, outside the system, for an `Int` there and back (callgrind):
//
//     124  the hand-written method: JSON, frames, finding and calling the method, six thread switches
//      41  the engine, for a generic actor, which every message needs: its witness tables (13), its
//          generic arguments (8), a longer text (6), the rest of the unspecialized call (14)
//      22  encoding and decoding request and answer
//      12  the message: selector to method at both ends, boxes, type checks
//      15  the line at the sender, with the task at the engine, and the line at the endpoint
//      10  frames of twelve more async functions
//     224  a message

/// Measures both alternately in batches, and prints the medians and the ratio.
func measureCost(calls: Int) async throws {
  let peer = try PeerProcess(URL(filePath: CommandLine.arguments[0]), journal: "/dev/null")
  let hand = try HandWritten.resolve(id: PipeActorID("hand"), using: peer.system)
  let remote = try await RemoteReceiver(
    connectingTo: try peer.endpoint("adder"), options: RemoteOptions(types: peerTypes))
  let talk = Talk(
    number: 7, room: "lobby", author: "alice", text: "hello, everybody in the room", tags: ["new", "short"])

  try await compare("number", calls, peer) {
    _ = try await hand.add($0)
  } with: {
    _ = try await remote.sendAndWait(.note, $0)
  }
  try await compare("line of talk", calls, peer) { _ in
    _ = try await hand.say(talk)
  } with: { _ in
    _ = try await remote.sendAndWait(.say, talk)
  }

  // The engine's cost of a generic actor's method with a text, which every endpoint pays.
  let carrier = try TextCarrier<PipeActorSystem>.resolve(id: PipeActorID("carrier"), using: peer.system)
  try await compare("a text by a generic actor", calls, peer) {
    _ = try await hand.add($0)
  } with: { _ in
    _ = try await carrier.carry(sampleText)
  }

  try await measureWindow(peer, calls: min(calls, 2_000))

  // The cost without an engine: an endpoint in this process, so nothing is transferred.
  let local = try await RemoteReceiver(
    connectingTo: MessageEndpoint(
      Adder(), for: Adder.selectorTable, types: peerTypes, actorSystem: LocalTestingDistributedActorSystem()),
    options: RemoteOptions(types: peerTypes))
  let number = try await time(calls) { _ = try await local.sendAndWait(.note, $0) }
  let line = try await time(calls) { _ in _ = try await local.sendAndWait(.say, talk) }
  print("without an engine: number \(text(number)) µs, line of talk \(text(line)) µs")
  peer.kill()
}

private let sampleText =
  "forwardcast:2 {1:k4:call1:s5:note:1:a[3:Inti7;]1:l32:0f9c41f07be2a86d350b1e55c06a9d271:ni1;}"

/// Measures messages per second with a delay of 1 ms: one at a time, and with a full window.
private func measureWindow(_ peer: PeerProcess, calls: Int) async throws {
  peer.system.faults.command { _, direction in direction == .outgoing ? .waits(1) : .passes }
  defer { peer.system.faults.command { _, _ in .passes } }
  var rates: [Double] = []
  for window in [1, 16] {
    let remote = try await RemoteReceiver(
      connectingTo: try peer.endpoint("adder"), options: RemoteOptions(types: peerTypes, window: window))
    let each = calls / 16
    let micros = try await time(1) { _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask { for number in 0..<each { _ = try await remote.sendAndWait(.note, number) } }
        }
        try await group.waitForAll()
      }
    }
    rates.append(Double(each * 16) / micros * 1e6)
  }
  print(
    "1 ms of delay: \(Int(rates[0])) messages a second one at a time, \(Int(rates[1])) with a window of 16, "
      + "ratio \(text(rates[1] / rates[0]))")
}

private func compare(
  _ what: String, _ calls: Int, _ peer: PeerProcess, _ byHand: (Int) async throws -> Void,
  with byMessage: (Int) async throws -> Void
) async throws {
  let batch = 100
  var (first, second): ([Spent], [Spent]) = ([], [])
  for round in 0..<max(calls / batch, 4) {
    let (one, two) = (try await spent(batch, peer, byHand), try await spent(batch, peer, byMessage))
    if round == 0 { continue }
    first.append(one)
    second.append(two)
  }
  for (unit, of) in [("µs", \Spent.time), ("µs of the processors", \Spent.work)] {
    let ratio = median(zip(first, second).map { $1[keyPath: of] / $0[keyPath: of] })
    let (hand, message) = (median(first.map { $0[keyPath: of] }), median(second.map { $0[keyPath: of] }))
    print("\(what): distributed method \(text(hand)), message \(text(message)) \(unit), ratio \(text(ratio))")
  }
}

/// The cost of a call in microseconds: elapsed time, and processor time of both processes.
private typealias Spent = (time: Double, work: Double)

private func spent(_ count: Int, _ peer: PeerProcess, _ body: (Int) async throws -> Void) async throws -> Spent {
  let before = workTime(peer)
  let time = try await time(count, body)
  return (time, (workTime(peer) - before) / Double(count))
}

/// The processor time of both processes in microseconds; of the other one on Linux only.
private func workTime(_ peer: PeerProcess) -> Double {
  var clocks = [CLOCK_PROCESS_CPUTIME_ID]
  #if os(Linux)
    var other = clockid_t()
    if clock_getcpuclockid(peer.identifier, &other) == 0 { clocks.append(other) }
  #endif
  return clocks.reduce(0) { sum, clock in
    var time = timespec()
    clock_gettime(clock, &time)
    return sum + Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

private func text(_ value: Double) -> String { String(format: "%.2f", value) }

private func time(_ count: Int, _ body: (Int) async throws -> Void) async throws -> Double {
  let start = ContinuousClock.now
  for number in 0..<count { try await body(number) }
  let duration = ContinuousClock.now - start
  return Double(duration.components.attoseconds) / 1e12 / Double(count)
    + Double(duration.components.seconds) * 1e6 / Double(count)
}

/// Makes only calls of one kind, for a profiler; "local" messages use no engine.
func makeCalls(_ kind: String, _ count: Int) async throws {
  let peer = try PeerProcess(URL(filePath: CommandLine.arguments[0]), journal: "/dev/null")
  let hand = try HandWritten.resolve(id: PipeActorID("hand"), using: peer.system)
  var remote = try await RemoteReceiver(connectingTo: try peer.endpoint("adder"))
  if kind == "local" {
    remote = try await RemoteReceiver(
      connectingTo: MessageEndpoint(
        Adder(), for: Adder.selectorTable, actorSystem: LocalTestingDistributedActorSystem()))
  }
  let carrier = try TextCarrier<PipeActorSystem>.resolve(id: PipeActorID("carrier"), using: peer.system)
  for number in 0..<count {
    switch kind {
    case "hand": _ = try await hand.add(number)
    case "text": _ = try await carrier.carry(sampleText)
    default: _ = try await remote.sendAndWait(.note, number)
    }
  }
  peer.kill()
}
