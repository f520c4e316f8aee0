// ReplayTests.swift: replays recordings in Swift, with times and with redacted values.

import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Foundation
import TestSupport
import Testing

/// Adds numbers, and notifies another receiver.
@Receiver
private final class Till {
  private(set) var total = 0
  var display: (any MessageReceiver)?

  @Message func add(_ amount: Int) throws -> Int {
    if amount < 0 { throw Spilled(description: "\(amount) is negative") }
    total += amount
    if let display { _ = try display.dynamic.show("\(total)") }
    return total
  }
  @Message func clear() { total = 0 }
}

@Receiver
private final class Display {
  private(set) var lines: [String] = []
  @Message func show(_ line: String) { lines.append(line) }
}

/// An actor with an isolated method.
@Receiver
private actor Vault {
  private(set) var total = 0
  @Message func add(_ amount: Int) -> Int {
    total += amount
    return total
  }
}

@Receiver
private final class Account {
  @Message func logIn(_ name: String, password: String) throws -> String {
    if name.isEmpty { throw Spilled(description: "no name for \(password)") }
    return "token of \(password)"
  }
}

@Suite("Replay, times and redaction")
struct ReplayTests {
  /// Records calls to a till and its display.
  private func record(into recorder: CallRecorder = CallRecorder()) throws -> Recording {
    let till = Till()
    till.display = RecordingProxy(of: Display(), as: "display", into: recorder)
    let recorded = RecordingProxy(of: till, as: "till", into: recorder)
    for amount in [3, 4] { _ = try recorded.dynamic.add(amount) }
    _ = try? recorded.dynamic.add(-1)
    _ = try recorded.dynamic.clear()
    return recorder.recording
  }

  @Test("replay sends the outermost calls again and returns what they answer")
  func replay() throws {
    let recording = try record()
    let (till, display) = (Till(), Display())
    till.display = display
    let again = try recording.replay(into: ["till": till])
    expect(again.isEqual(to: Recording(recording.outermostCalls)) == true, "\(again)")
    expect(display.lines == ["3", "7"] && till.total == 0)
    // Another state gives other answers.
    _ = try till.dynamic.add(1)
    expect(try recording.replay(into: till).isEqual(to: Recording(recording.outermostCalls)) == false)
    expect(again.calls.map(\.outcome.isFailure), equals: [false, false, true, false])
  }

  @Test("a recording that was encoded and decoded can be replayed")
  func coded() throws {
    let data = try JSONEncoder().encode(record())
    let read = try JSONDecoder().decode(Recording.self, from: data)
    try expect(read.replay(into: Till()).calls.map { $0.answer?.value as? Int }, equals: [3, 7, nil, nil])
  }

  @Test("a replay into a multicast without a target for the call fails, and is not equal to the recording")
  func unanswered() async throws {
    let recorded = RecordingProxy(of: Till(), as: "till")
    _ = try recorded.dynamic.clear()
    let recording = recorded.recorder.recording
    let tills = MulticastProxy<any MessageReceiver & Sendable>()
    for again in try [recording.replay(into: tills), await recording.replayAndWait(into: tills)] {
      expect(again.isEqual(to: recording) == false)
      expect("\(again)".contains("[till clear] fails: nobody responds"), "\(again)")
    }
    // A hook may answer for the targets.
    try tills.around("clear") { _ in [ArgumentBox("done")] }
    expect("\(try recording.replay(into: tills))".contains("[till clear] answers \"done\""))
    let vaults = MulticastProxy<any MessageReceiver>()
    vaults.add(Till(), ownership: .strong)
    expect(try recording.replay(into: vaults).isEqual(to: recording) == true)
  }

  @Test("a value that only one of two recordings has redacted may be equal")
  func redactedEquality() throws {
    func record(_ name: String, _ password: String, redacted: Bool) -> Recording {
      let recorder = CallRecorder()
      if redacted { recorder.redact("logIn:password:", arguments: [1], answer: true) }
      _ = try? RecordingProxy(of: Account(), as: "account", into: recorder).dynamic.logIn(name, password: password)
      return recorder.recording
    }
    for name in ["ann", ""] {
      let redacted = record(name, "secret", redacted: true)
      expect(redacted.isEqual(to: record(name, "other", redacted: false)) == nil)
      expect(redacted.isEqual(to: record(name, "other", redacted: true)) == true)
      expect(redacted.isEqual(to: record("bo", "secret", redacted: false)) == false)
    }
  }

  @Test("an awaited replay reaches methods of any isolation")
  func waiting() async throws {
    let vault = Vault()
    var recording = Recording()
    do {
      let recorded = RecordingProxy(of: Vault(), as: "vault")
      for amount in [1, 2] {
        _ = try await recorded.forwardAndWait(Invocation("add:", arguments: [ArgumentBox(amount)]))
      }
      recording = recorded.recorder.recording
    }
    let again = try await recording.replayAndWait(into: ["vault": vault])
    expect(again.isEqual(to: recording) == true)
    await expect(vault.total, equals: 3)
    expect(try await recording.replayAndWait(into: Vault()).isEqual(to: recording) == true)
    expect(try await recording.replayAndWait(into: vault).isEqual(to: recording) == false)
  }

  @Test("a missing receiver or a redacted argument is reported before anything is sent, unless it is replaced")
  func refusals() throws {
    let recorder = CallRecorder()
    let (till, account) = (Till(), RecordingProxy(of: Account(), as: "account", into: recorder))
    recorder.redact(Message<(String, String) -> String>("logIn:password:"), arguments: [1])
    let recordedTill = RecordingProxy(of: Till(), as: "till", into: recorder)
    _ = try recordedTill.dynamic.add(1)
    _ = try account.dynamic.logIn("ann", password: "secret")
    let missing = #expect(throws: ReplayError.self) { try recorder.recording.replay(into: ["till": till]) }
    expect(missing?.reason == .unknownReceiver && missing?.index == 1 && missing?.receiver == "account")
    let redacted = #expect(throws: ReplayError.self) {
      try recorder.recording.replay(into: ["till": till, "account": Account()])
    }
    expect(redacted?.reason == .redacted && redacted?.selector == "logIn:password:")
    expect(till.total, equals: 0)
    var calls = recorder.recording.outermostCalls
    calls[1].message.arguments[1] = ArgumentBox("sesame")
    calls[1].message.result = ArgumentBox("not part of a message")
    expect(calls[1].message.result == nil)
    let again = try Recording(calls).replay(into: ["till": till, "account": Account()])
    expect(again.calls.map { $0.answer?.description }, equals: ["1", "\"token of sesame\""])
  }

  @Test("times are recorded only on request, are encoded, and are not compared")
  func times() throws {
    let (timed, untimed) = (try record(into: CallRecorder(takesTimes: true)), try record())
    expect(untimed.calls.allSatisfy { $0.time == nil && $0.duration == nil })
    expect(timed.isEqual(to: untimed) == true)
    let times = try timed.calls.map { call in
      let (begin, length) = (try #require(call.time), try #require(call.duration))
      expect(begin >= .zero && length >= .zero)
      return (begin: begin, end: begin + length)
    }
    expect(times.map(\.begin), equals: times.map(\.begin).sorted())
    // The display was called during the till's call.
    expect(timed.calls[1].receiver == "display" && times[1].end <= times[0].end && times[0].end <= times[2].begin)
    let read = try JSONDecoder().decode(Recording.self, from: JSONEncoder().encode(timed))
    expect(
      read.calls.map(\.time) == timed.calls.map(\.time) && read.calls.map(\.duration) == timed.calls.map(\.duration))
  }

  @Test("redacted values appear in no call, description, file or script", arguments: [nil, [1]] as [Set<Int>?])
  func redaction(arguments: Set<Int>?) throws {
    let account = RecordingProxy(of: Account(), as: "account")
    account.recorder.redact("logIn:password:", arguments: arguments, answer: true)
    try expect(account.dynamic.logIn("ann", password: "secret"), equals: "token of secret")
    let error = #expect(throws: Spilled.self) { let _: String? = try account.dynamic.logIn("", password: "secret") }
    expect(error?.description, equals: "no name for secret")
    let recording = account.recorder.recording
    expect(!"\(recording)".contains("secret") && recording.calls[1].error?.type == "Spilled")
    expect("\(recording)".contains("ann"), equals: arguments != nil)
    expect(recording.calls[0].answer?.value is RedactedValue)
    let data = try JSONEncoder().encode(recording)
    expect(!String(decoding: data, as: UTF8.self).contains("secret"))
    #expect(throws: ScriptWritingError.self) { try recording.script() }
  }

  @Test("an index that the message does not have cannot be redacted")
  func redactionOfNothing() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CallRecorder().redact("logIn:password:", arguments: [1, 2])
    }
    expect(result != nil)
    #if DEBUG  // an optimized build traps without a text
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      expect(text.contains("'logIn:password:' has 2 arguments, so there is none with the index 2 to redact"), "\(text)")
    #endif
    await #expect(processExitsWith: .failure) { CallRecorder().redact("ping", arguments: [-1]) }
  }

  @Test("a receiver known only by its protocols can be recorded, and is Sendable if they are")
  func existentials() async throws {
    let vault = Vault()
    let shared = RecordingProxy(of: vault as any MessageReceiver & Sendable, as: "vault")
    try await expect(shared.sendAndWait(Message<(Int) -> Int>("add:"), 2), equals: 2)
    let some: any MessageReceiver = Till()
    let recorded: RecordingProxy<any MessageReceiver> = RecordingProxy(of: some)
    _ = try recorded.dynamic.add(1)
    expect(recorded.recorder.calls.map(\.receiver), equals: ["Till"])
    expect(RecordingProxy(of: Till()).target.total, equals: 0)
  }
}

extension RecordedCall.Outcome {
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }
}
