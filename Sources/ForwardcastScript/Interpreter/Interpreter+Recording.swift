// Interpreter+Recording.swift: proxies that keep what they are sent.
// Layer: Script, Interpreter. See the article "How recording and undo work".

import Forwardcast
import ForwardcastRecording

/// A recording proxy as a script makes it.
private typealias ScriptRecording = RecordingProxy<any MessageReceiver>

extension Interpreter {
  /// `proxy p = recording e`.
  func makeRecording(_ name: String, _ target: Expression) throws -> ScriptReference {
    let receiver = try object(target).receiver
    let proxy = ScriptRecording(of: receiver, as: name, into: CallRecorder(keepingLast: world.limits.recordedCalls))
    let reference = world.label(proxy, "<recording \(name)>", before: receiver)
    try world.link(proxy, to: receiver, strongly: true)
    world.noteRecording()
    return reference
  }

  /// `calls p`: the calls as texts, `cook: "fish"`.
  func calls(of value: ScriptValue) throws -> ScriptValue {
    let proxy = try value.wanted("calls needs a recording proxy, not", showsValue: true) { value in
      value.reference?.receiver as? ScriptRecording
    }
    if proxy.recorder.forgottenCalls > 0 {
      throw ScriptFault(.limitExceeded, "more than \(world.limits.recordedCalls) recorded calls")
    }
    return try bounded(.list(proxy.recorder.calls.map { .string(try text(of: $0.message)) }))
  }

  private func text(of message: Invocation) throws -> String {
    try run.charge(Work.make)
    let arguments = try message.arguments.map { box in
      let value = try self.value(box)
      try run.charge(Work.byte * value.measure())
      return value.debugDescription
    }
    guard !arguments.isEmpty else { return message.selector.name }
    return zip(message.selector.parts, arguments).map { "\($0): \($1)" }.joined(separator: " ")
  }
}
