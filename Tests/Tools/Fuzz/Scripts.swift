// Scripts.swift: checks and runs scripts.

import Forwardcast
import ForwardcastRecording
import ForwardcastScript

/// A host's receiver with answers of every kind.
private final class Host: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Host.self) {
    Responds(to: "one") { (_: Host) in 1 }
    Responds(to: "echo:") { (_: Host, value: String) in value }
    Responds(to: "add:to:") { (_: Host, one: Int, other: Int32) -> Int in one &+ Int(other) }
    Responds(to: "real:") { (_: Host, value: Double) -> Float in Float(value) }
    Responds(to: "list:") { (_: Host, values: [Int]) in values }
    Responds(to: "table:") { (_: Host, values: [String: Bool?]) in values }
    Responds(to: "pick:") { (_: Host, selector: MessageSelector) in selector }
    Responds(to: "narrow:") { (_: Host, value: UInt8) -> Int8? in Int8(exactly: value) }
    Responds(to: "strange") { (_: Host) in Host.self }
    Responds(to: "quiet") { (_: Host) in }
  }
}

func script(_ text: String) {
  if let error = ScriptSession.check(text) {
    _ = "\(error) \(error.position)"
    return
  }
  // Runs every other text with all handlers that a host may set.
  guard isOneOf(2, text) else {
    let session = ScriptSession(stepLimit: 500, handlers: ScriptHandlers(output: { _ in }))
    _ = session.run(text)
    return
  }
  var handlers = ScriptHandlers(
    output: { _ in }, diagnostics: { _ = "\($0)" }, trace: { _ in }, progress: { _ = $0.position })
  handlers.events = { _ = "\($0)" }
  let session = ScriptSession(stepLimit: 1500, handlers: handlers)
  let (host, recorder) = (Host(), CallRecorder())
  let hosts = MulticastProxy<any MessageReceiver>()
  hosts.add(host)
  session.register(host, as: "host")
  session.register(hosts, as: "hosts")
  session.register(RecordingProxy(of: host as any MessageReceiver, as: "host", into: recorder), as: "recorded")
  let outcome = session.run(text)
  _ = (outcome.value.description, outcome.succeeded, session.completions, session.value(of: "x"))
  // A recording becomes a script that parses, unless a value has no literal.
  if let written = try? recorder.recording.script() {
    require(ScriptSession.check(written) == nil, "a recording is written as what is no script")
  }
}
