// EngineConformance.swift: checks whether an engine delivers messages as guaranteed.

public import Distributed
import Forwardcast
public import ForwardcastDistributed

/// Checks that an engine keeps the guarantees of `ForwardcastDistributed`: order, at most once, an end of every call, and limits.
///
///     let checks = await EngineConformance(serving: server, calling: client).run()
///     #expect(checks.filter { !$0.isKept }.isEmpty, "\(checks)")
///
/// Both systems are in this process: two joined nodes, or one system for both ends. The longest wait is the deadline of a call.
public struct EngineConformance<ActorSystem>: Sendable
where ActorSystem: DistributedActorSystem<any Codable> {
  /// The result for one guarantee.
  public struct Check: Sendable, CustomStringConvertible {
    /// The guarantee as a sentence.
    public let promise: String
    /// The violation; `nil` if the guarantee was kept.
    public let failure: String?

    /// Whether the guarantee was kept.
    public var isKept: Bool { failure == nil }

    /// The guarantee, and the violation if there is one.
    public var description: String { failure.map { "broken: \(promise): \($0)" } ?? "kept: \(promise)" }
  }

  private let serving: ActorSystem
  private let calling: ActorSystem
  private let options: RemoteOptions
  private let messages: Int

  /// The checks for one engine. `serving` creates endpoints, which `calling` resolves by identity: the same system by default.
  /// `deadline` is the limit of a call, `messages` their number in checks of order; for `engineTimeout` see
  /// `RemoteOptions.engineTimeout`.
  public init(
    serving: ActorSystem, calling: ActorSystem? = nil, deadline: Duration = .seconds(60), messages: Int = 200,
    engineTimeout: RemoteOptions.EngineTimeout? = nil
  ) {
    (self.serving, self.calling, self.messages) = (serving, calling ?? serving, messages)
    options = RemoteOptions(deadline: deadline, types: Probe.types, engineTimeout: engineTimeout)
  }

  /// Runs the checks one after another.
  public func run() async -> [Check] {
    [
      await check("values cross as what they are") { stage in
        for number in [0, -1, .max, .min] {
          try expect(number, try await stage.remote.sendAndWait(.probeNumber, number))
        }
        for text in ["", "plain", "quotes \" and \\, a line\nand a null \0", "日本語 🙂"] {
          try expect(text, try await stage.remote.sendAndWait(.probeText, text))
        }
        let bytes = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try expect(bytes, try await stage.remote.sendAndWait(.probeBytes, bytes))
        for sample in [ProbeSample(), ProbeSample(name: "x", sizes: [0.5, -1e300, .infinity], next: ["a": [nil, 7]])] {
          try expect(sample, try await stage.remote.sendAndWait(.probeSample, sample))
        }
      },
      await check("errors cross with what they say") { stage in
        try await stage.check("foreign error", "ProbeError: 7 is wrong, it ran") {
          try await stage.remote.sendAndWait(.probeFails, 7)
        }
      },
      await check("messages run once, in the order in which they were sent") { stage in
        for number in 0..<messages { try expect(number, try await stage.remote.sendAndWait(.probeNumber, number)) }
        try expect(Array(0..<messages), stage.probe.ran)
      },
      await check("messages under way together run once, in the order in which they were called") { stage in
        try await stage.sendTogether(stage.remote, Array(0..<messages))
        try expect(Array(0..<messages), stage.probe.ran)
      },
      await check("two senders have an order each") { stage in
        let other = try await stage.connect(options)
        async let first: Void = stage.sendTogether(stage.remote, Array(0..<messages))
        async let second: Void = stage.sendTogether(other, Array(messages..<2 * messages))
        _ = try await (first, second)
        try expect(Array(0..<messages), stage.probe.ran.filter { $0 < messages })
        try expect(Array(messages..<2 * messages), stage.probe.ran.filter { $0 >= messages })
      },
      await check("a call that is not answered ends at its deadline, and the next goes on") { stage in
        let hasty = stage.remote.with(deadline: .milliseconds(20))
        try await stage.check("timed out") { try await hasty.sendAndWait(.probeHolds, 1) }
        stage.probe.release()
        try expect(2, try await stage.remote.sendAndWait(.probeNumber, 2))
      },
      await check("cancelling ends the wait, and the next call goes on") { stage in
        let held = try await stage.hold(stage.remote)
        held.cancel()
        try await stage.check("CancellationError()") { try await held.value }
        stage.probe.release()
        try expect(2, try await stage.remote.sendAndWait(.probeNumber, 2))
      },
      await check("what is given up before it begins does not run") { stage in
        let held = try await stage.hold(stage.remote)
        let hasty = stage.remote.with(deadline: .milliseconds(20))
        try await stage.check("timed out") { try await hasty.sendAndWait(.probeNumber, 2) }
        try await stage.wait(for: "the endpoint to be told") { !stage.remote.isTelling }
        stage.probe.release()
        try expect(1, try await held.value)
        try expect(3, try await stage.remote.sendAndWait(.probeNumber, 3))
        try expect([1, 3], stage.probe.ran)
      },
      await check("what is not let through, or too large, is refused, and the next call goes on") { stage in
        try await stage.check("unrecognized selector") { try await stage.remote.sendAndWait(.probeMissing, 1) }
        let large = String(repeating: "x", count: Stage<ActorSystem>.limits.bytes)
        try await stage.check("refused") { try await stage.remote.sendAndWait(.probeText, large) }
        try expect(2, try await stage.remote.sendAndWait(.probeNumber, 2))
      },
      await check("no more calls wait than may") { stage in
        var narrow = options
        (narrow.window, narrow.waitingCalls) = (1, 1)
        let remote = try await stage.connect(narrow)
        let held = try await stage.hold(remote)
        let next = Task { try await remote.sendAndWait(.probeNumber, 2) }
        try await stage.wait(for: "the second call to stand in line") { remote.standing == 2 }
        try await stage.check("busy") { try await remote.sendAndWait(.probeNumber, 3) }
        stage.probe.release()
        try expect([1, 2], [try await held.value, try await next.value])
      },
      await check("an endpoint that is closed says so at once") { stage in
        await stage.endpoint.close("it leaves")
        try await stage.check("gone", "it did not run") { try await stage.remote.sendAndWait(.probeNumber, 1) }
        try expect(true, stage.remote.isGone)
      },
    ]
  }

  private func check(
    _ promise: String, _ body: @Sendable (Stage<ActorSystem>) async throws -> Void
  ) async -> Check {
    do {
      let stage = try await Stage(serving, calling, options)
      defer { stage.probe.release() }
      try await body(stage)
      return Check(promise: promise, failure: nil)
    } catch {
      return Check(promise: promise, failure: "\(error)")
    }
  }
}

private func expect<Value: Equatable>(_ wanted: Value, _ found: Value) throws {
  guard wanted != found else { return }
  throw ProbeError(description: "wanted \("\(wanted)".prefix(300)), found \("\(found)".prefix(300))")
}
