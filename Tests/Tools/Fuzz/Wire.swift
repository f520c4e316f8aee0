// Wire.swift: random and mutated wire texts. Built and run by Tests/Tools/Fuzz/wire.

import Distributed
import Dispatch
@testable import Forwardcast
import Synchronization

@testable import ForwardcastDistributed

private struct Note: Codable, Sendable {
  var text: String
  var size: Double
  var next: [Note]?
}

private let types = KnownTypes(["Note": Note.self])
private let limits = MessageLimits(bytes: 4096, items: 512, depth: 16)

/// Accepts any arguments and returns them.
private final class Echo: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Echo.self) {
    Responds(to: "echo:") { (_: Echo, note: Note) in note }
    Responds(to: "pick:") { (_: Echo, selector: MessageSelector) in selector }
    Responds(to: "onAddMsg:msgData:") { (_: Echo, chat: String, data: [UInt8]) in data.count }
    Responds(to: "ping") { (_: Echo) in }
  }
}

private let selectors: [MessageSelector] = ["echo:", "pick:", "onAddMsg:msgData:", "ping"]

private let isKnown = !newLine().isEmpty && !selectors.isEmpty

private let endpoint = MessageEndpoint(
  Echo(), for: Echo.selectorTable, types: types, limits: limits, actorSystem: LocalTestingDistributedActorSystem())

/// Opens a line of the endpoint. Mutated texts name it by a placeholder.
private func newLine() -> String {
  guard
    case .opened(let line, _, _)? = try? WireReply.read(
      WireFields.read(answer(to: WireRequestText.open.text()), limits), types: types)
  else {
    preconditionFailure("no line")
  }
  return line
}

private func answer(to text: String) -> String {
  let answer = Answer()
  Task { answer.settle((try? await endpoint.receive(text)) ?? "") }
  return answer.text
}

/// A text that one thread waits for.
private final class Answer: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let kept = Mutex("")

  func settle(_ text: String) {
    kept.withLock { $0 = text }
    done.signal()
  }

  var text: String {
    done.wait()
    return kept.withLock { $0 }
  }
}

/// The last byte selects the reader of the rest: an endpoint, or a sender that awaits a reply.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let text = "forwardcast:2 " + String(decoding: UnsafeBufferPointer(start: bytes, count: count - 1), as: UTF8.self)
  // The receiver's own names are interned before anything arrives.
  precondition(isKnown)
  let before = SelectorNames.count
  if bytes[count - 1] & 1 == 0 {
    let line = newLine()
    request(text.replacing("4:ab.1", with: "\(line.utf8.count):\(line)"))
  } else {
    reply(text)
  }
  precondition(SelectorNames.count == before, "reading interned a name")
  return 0
}

private func request(_ text: String) {
  guard let request = try? WireRequest.read(WireFields.read(text, limits)) else {
    return precondition(answer(to: text).contains("1:k7:refused"), "an endpoint took what is no request")
  }
  guard case .call(let call) = request else {
    if case .open = request { return }
    return precondition(answer(to: text).hasPrefix("forwardcast:2 {1:k"), "an endpoint gave no reply")
  }
  let arguments = call.arguments.map { node in
    let end = node == call.arguments.last ? call.tree.nodes[node].next : call.tree.nodes[node].next
    return (node, Int(end))
  }
  precondition(
    arguments.allSatisfy { $0.0 < $0.1 && $0.1 <= call.tree.nodes.count }, "a node that ends before it begins")
  for selector in selectors {
    guard let invocation = try? call.open(as: selector, types: types, allowed: [selector]) else { continue }
    precondition(invocation.arguments.count == selector.numberOfArguments, "other arguments than colons")
    guard let written = try? WireRequestText.call(invocation) else {
      preconditionFailure("what was read cannot be written")
    }
    let again = written.text(
      nil, .init(line: call.line.map { "\($0)" } ?? "x", number: 9, awaited: 7, patience: call.patience))
    guard case .call(let copy)? = try? WireRequest.read(WireFields.read(again, MessageLimits())),
      let reread = try? copy.open(as: selector, types: types, allowed: [selector])
    else { preconditionFailure("what was written cannot be read") }
    // Values that compare as text, since the order of a dictionary may change.
    precondition(
      reread.arguments.map { "\($0.type)" } == invocation.arguments.map { "\($0.type)" }, "reads back otherwise")
  }
  // On a new line with this message as its first: a message that waits for lost ones gets no reply.
  if call.awaited == call.number || call.number == 1 {
    precondition(answer(to: text).hasPrefix("forwardcast:2 {1:k"), "an endpoint gave no reply")
  }
}

private func reply(_ text: String) {
  guard let fields = try? WireFields.read(text, limits), let reply = try? WireReply.read(fields, types: types),
    let again = try? reply.text()
  else { return }
  guard let copy = try? WireFields.read(again, MessageLimits()), (try? WireReply.read(copy, types: types)) != nil else {
    preconditionFailure("a reply that was written cannot be read")
  }
  let number = copy.integer("n")
  precondition(number == nil || number == fields.integer("n"), "reads back as another")
}
