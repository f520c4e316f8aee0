// Cost.swift: a message to another process beside a distributed method written by hand, in one run.

import Distributed
import Forwardcast
import ForwardcastDistributed
import Foundation
import PipeActorSystem

// Both wake six threads and make eight system calls on locks for a call. What a message adds is work of the processor: where waking is
// cheap, it weighs more. In thousands of instructions of both ends, without the system's (callgrind; the parts of the sums are added up
// from its listing), an `Int` there and back:
//
//     124  the method written by hand: JSON, frames, finding and calling the method, six changes of thread
//      41  the engine, for a generic actor, which no message can do without: its witness tables (13), its generic arguments (8), a
//          longer text (6), the rest of the unspecialized call (14)
//      22  request and answer as texts, and read again
//      12  the message: selector to method at both ends, boxes, checks of types
//      15  the line at the sender, with the task at the engine; the line at the endpoint
//      10  frames of twelve more suspending functions
//     224  a message

/// Measures both in turns, batch by batch, and prints the medians and the ratio: for a number, and for a line of talk.
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

  // What the engine takes for a method of a generic actor and a text of that length, which an endpoint cannot do without.
  let carrier = try TextCarrier<PipeActorSystem>.resolve(id: PipeActorID("carrier"), using: peer.system)
  try await compare("a text by a generic actor", calls, peer) {
    _ = try await hand.add($0)
  } with: { _ in
    _ = try await carrier.carry(sampleText)
  }

  try await measureWindow(peer, calls: min(calls, 2_000))

  // The part that does not depend on an engine: an endpoint in this process, which nothing carries anywhere.
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

/// Measures messages a second over a line that delays what leaves by a millisecond: one at a time, and with a full window.
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

/// What a call takes, in microseconds: on the wall, and of the processors in both processes.
private typealias Spent = (time: Double, work: Double)

private func spent(_ count: Int, _ peer: PeerProcess, _ body: (Int) async throws -> Void) async throws -> Spent {
  let before = workTime(peer)
  let time = try await time(count, body)
  return (time, (workTime(peer) - before) / Double(count))
}

/// How many microseconds both processes have run; the other one's are known on Linux alone.
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

/// Makes calls of one kind alone, for a profiler: "hand", "message", or "local", which are messages without an engine.
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
