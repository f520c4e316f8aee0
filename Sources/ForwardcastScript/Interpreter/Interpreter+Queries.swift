// Interpreter+Queries.swift: queries, `responds` and recordings.

import Forwardcast
import ForwardcastRecording

private typealias ScriptRecording = RecordingProxy<any MessageReceiver>

extension Interpreter {
  func answer(_ query: Query, about value: ScriptValue) throws -> ScriptValue {
    switch query {
    case .count:
      let count = try multicast(value, query).holder.count
      try run.charge(Work.look * count)
      return .integer(count)
    case .targets:
      let proxy = try multicast(value, query).holder
      try run.charge(Work.pass * proxy.count)
      return try bounded(.list(proxy.liveTargets.map { try self.value(ArgumentBox($0)) }))
    case .calls: return try calls(of: value)
    case .signature: return .signature(try MethodSignature(encoding(value)))
    case .types, .offsets, .sizes, .aligns, .frame, .returns:
      let signature = try value.wanted("\"\(query.rawValue)\" needs a signature, not", \.signature)
      try run.charge(Work.pass * signature.numberOfArguments)
      return try bounded(answer(query, about: signature))
    case .size: return number(try TypeEncoding(encoding(value)).layout?.size)
    case .align: return number(try TypeEncoding(encoding(value)).layout?.alignment)
    case .selector: return .selector(try ScriptSelector(selectorName(value)))
    case .arity: return .integer(try MessageSelector.numberOfArguments(inName: selectorName(value)))
    }
  }

  private func encoding(_ value: ScriptValue) throws -> String {
    let text = try text(of: value)
    if text.utf8.count <= TypeEncodingError.Limits.length { try run.charge(Work.text(text)) }
    try run.charge(2 * Work.look * min(text.utf8.count, TypeEncodingError.Limits.length))
    return text
  }

  private func multicast(_ value: ScriptValue, _ query: Query) throws -> any ScriptedMulticast {
    try value.wanted("\"\(query.rawValue)\" needs a multicast proxy, not", showsValue: true, \.multicast)
  }

  private func answer(_ query: Query, about signature: MethodSignature) -> ScriptValue {
    switch query {
    case .types: .list(([signature.returnType] + signature.argumentTypes).map { .string($0.description) })
    case .offsets: .list(signature.argumentOffsets.map(number))
    case .sizes: .list(signature.argumentLayouts.map { number($0?.size) })
    case .aligns: .list(signature.argumentLayouts.map { number($0?.alignment) })
    case .frame: number(signature.frameLength)
    default: number(signature.returnLength)
    }
  }

  private func number(_ value: Int?) -> ScriptValue { value.map { .integer($0) } ?? .null }

  /// `e responds "sel:"`, for values of any kind.
  /// - Throws: the error of a lazy proxy's expression.
  func responds(_ value: ScriptValue, to selector: String, at offset: Int) throws -> Bool {
    guard case .object(let reference) = value else { return ValueMessages.responds(value, to: selector) }
    let receiver = reference.receiver
    let arity = try MessageSelector.numberOfArguments(inName: selector)
    try run.charge(2 * Work.pass + Work.name(selector))
    return try querying(at: offset) {
      if let lazy = receiver as? LazyProxy { _ = try lazy.target() }
      return receiver.responds(to: try world.selectorToSend(selector, argumentCount: arity, to: receiver))
    }
  }

  /// `explain p "sel:"`: a line for each registration, including nested proxies. Sends nothing.
  func explain(_ name: String, of value: ScriptValue, at offset: Int) throws -> ScriptValue {
    let proxy = try value.wanted("\"explain\" needs a multicast proxy, not", showsValue: true, \.multicast)
    try run.charge(Work.make + Work.name(name))
    let arity = try MessageSelector.numberOfArguments(inName: name)
    let selector = try world.selectorToSend(name, argumentCount: arity, to: proxy)
    let explanation = try querying(at: offset) { proxy.explain(selector) }
    var text = ""
    try explain(explanation, name, indent: "", hooks: [], into: &text)
    return try bounded(.string(text))
  }

  private func explain(
    _ explanation: MessageExplanation, _ name: String, indent: String, hooks: [String], into text: inout String
  ) throws {
    let hooks = hooks + explanation.hooks
    for entry in explanation.entries {
      let target = entry.registration.target
      var line = indent + ((target as? any MessageReceiver).map { world.reference($0).description } ?? entry.target)
      if let reason = entry.reason {
        line += ": no, \(reason)"
      } else {
        let row = (target as? ScriptObject).map { "row \(name) of \($0.receiverName)" } ?? entry.row ?? ""
        line += ": yes, \(row), " + (entry.context == "direct" ? "directly" : "on \(entry.context)")
        if !hooks.isEmpty { line += ", behind " + hooks.joined(separator: ", ") }
      }
      try run.charge(Work.pass + Work.byte * line.utf8.count)
      if !text.isEmpty { text += "\n" }
      text += line
      try ScriptError.limit(text.utf8.count <= ScriptValue.sizeLimit, "a value of over 16 MiB")
      if let nested = entry.nested { try explain(nested, name, indent: indent + "  ", hooks: hooks, into: &text) }
    }
  }

  func makeRecording(_ name: String, of target: Expression) throws -> ScriptReference {
    let receiver = try object(target).receiver
    let proxy = ScriptRecording(of: receiver, as: name, into: CallRecorder(keepingLast: world.limits.recordedCalls))
    let reference = world.label(proxy, "<recording \(name)>")
    try world.link(proxy, to: receiver, strongly: true)
    // A recording stores the names of all messages, also of messages without an answer.
    world.state.withLock { $0.hasForeignReceivers = true }
    return reference
  }

  func calls(of value: ScriptValue) throws -> ScriptValue {
    let proxy = try value.wanted("\"calls\" needs a recording proxy, not", showsValue: true) { value in
      value.reference?.receiver as? ScriptRecording
    }
    let recorder = proxy.recorder
    try ScriptError.limit(recorder.forgottenCalls == 0, "more than \(world.limits.recordedCalls) recorded calls")
    return try bounded(.list(recorder.calls.map { .string(try text(of: $0.message)) }))
  }

  private func text(of message: Invocation) throws -> String {
    try run.charge(Work.make)
    let arguments = try message.arguments.map { box in
      let value = try self.value(box)
      try run.charge(Work.byte * value.measure())
      return value.debugDescription
    }
    return Sending.text(message.selector.name, arguments)
  }
}
