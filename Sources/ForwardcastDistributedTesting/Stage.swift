// Stage.swift: an endpoint with a test object, and a receiver for it.

import Distributed
import Forwardcast
import ForwardcastDistributed

extension Message<(Int) -> Int> {
  static var probeNumber: Self { .init("number:") }
  static var probeHolds: Self { .init("hold:") }
  static var probeFails: Self { .init("fail:") }
  static var probeMissing: Self { .init("missing:") }
}
extension Message<(String) -> String> { static var probeText: Self { .init("text:") } }
extension Message<([UInt8]) -> [UInt8]> { static var probeBytes: Self { .init("bytes:") } }
extension Message<(ProbeSample) -> ProbeSample> { static var probeSample: Self { .init("sample:") } }

/// A value of several fields.
struct ProbeSample: Codable, Hashable, Sendable {
  var name = ""
  var sizes: [Double] = []
  var next: [String: [Int?]] = [:]
}

struct ProbeError: Error, CustomStringConvertible {
  let description: String
}

/// Records calls, and suspends some until it is released.
final class Probe: MessageReceiver, Sendable {
  private struct State: Sendable {
    var ran: [Int] = []
    var isReleased = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  static let types = InvocationTypes(["ProbeSample": ProbeSample.self])

  private let state = Guarded(State())

  var ran: [Int] { state.withLock { $0.ran } }

  private func note(_ number: Int) -> Int {
    state.withLock { $0.ran.append(number) }
    return number
  }

  private func hold() async {
    await withCheckedContinuation { continuation in
      let isReleased = state.withLock { state in
        if !state.isReleased { state.held.append(continuation) }
        return state.isReleased
      }
      if isReleased { continuation.resume() }
    }
  }

  func release() {
    let held = state.withLock { state in
      state.isReleased = true
      return exchange(&state.held, with: [])
    }
    for continuation in held { continuation.resume() }
  }

  static let selectorTable = SelectorTable(for: Probe.self) {
    Responds(to: .probeNumber) { probe, number in probe.note(number) }
    Responds(to: .probeText) { _, text in text }
    Responds(to: .probeBytes) { _, bytes in bytes }
    Responds(to: .probeSample) { _, sample in sample }
    Responds(to: .probeFails) { (_: Probe, number: Int) throws -> Int in
      throw ProbeError(description: "\(number) is wrong")
    }
    Responds(
      to: .probeHolds,
      async: { probe, number in
        _ = probe.note(number)
        await probe.hold()
        return number
      })
  }
}

/// An endpoint in one system, and a receiver for it in the other.
struct Stage<ActorSystem>: Sendable
where ActorSystem: DistributedActorSystem<any Codable> {
  static var limits: MessageLimits { MessageLimits(bytes: 1 << 18) }

  let probe = Probe()
  let endpoint: MessageEndpoint<ActorSystem>
  let remote: RemoteReceiver
  private let calling: ActorSystem

  init(_ serving: ActorSystem, _ calling: ActorSystem, _ options: RemoteOptions) async throws {
    self.calling = calling
    endpoint = MessageEndpoint(
      probe, for: Probe.selectorTable, types: Probe.types, limits: Self.limits, actorSystem: serving)
    remote = try await Stage.connect(endpoint.id, calling, options)
  }

  func connect(_ options: RemoteOptions) async throws -> RemoteReceiver {
    try await Stage.connect(endpoint.id, calling, options)
  }

  private static func connect(_ id: ActorSystem.ActorID, _ calling: ActorSystem, _ options: RemoteOptions)
    async throws -> RemoteReceiver
  {
    let found = try MessageEndpoint<ActorSystem>.resolve(id: id, using: calling)
    var each = options
    // So that unknown selectors reach the endpoint.
    each.questions = .askedEachTime
    return try await RemoteReceiver(connectingTo: found, name: "probe", options: each)
  }

  /// Calls in the order of the numbers without waiting for answers in between, and checks these.
  func sendTogether(_ remote: RemoteReceiver, _ numbers: [Int]) async throws {
    let called = remote.called
    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for (index, number) in numbers.enumerated() {
        group.addTask { (number, try await remote.sendAndWait(.probeNumber, number)) }
        try await wait(for: "call \(index) to be made") { remote.called > called + index }
      }
      for try await (number, answer) in group where number != answer {
        throw ProbeError(description: "\(number) was answered with \(answer)")
      }
    }
  }

  /// Waits until a condition holds, at most for the deadline of a call.
  func wait(for what: String, until holds: () -> Bool) async throws {
    let deadline = Deadline(after: remote.deadline)
    while !holds() {
      guard !deadline.hasPassed else { throw ProbeError(description: "waited in vain for \(what)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Makes the call that is held, and waits until it has begun.
  func hold(_ remote: RemoteReceiver) async throws -> Task<Int, any Error> {
    let held = Task { try await remote.sendAndWait(.probeHolds, 1) }
    try await wait(for: "the first call to begin") { probe.ran.contains(1) }
    return held
  }

  /// Checks how the text of a call's error begins and ends.
  func check(_ beginning: String, _ end: String = "", _ body: () async throws -> some Sendable) async throws {
    var found = "no error"
    do { _ = try await body() } catch { found = "\(error)" }
    guard !found.hasPrefix(beginning) || !found.hasSuffix(end) else { return }
    throw ProbeError(description: "wanted \(beginning), found \(found.prefix(300))")
  }
}
