// StatedTypesTests.swift: types that a sender states, and answers that are not there.

import Forwardcast
import Testing

private protocol Shape {}
private struct Dot: Shape {}

private final class Oracle: MessageReceiver {
  static let selectorTable = SelectorTable(for: Oracle.self) {
    Responds(to: "same:") { (_: Oracle, number: Int) in number }
    Responds(to: "maybe:") { (_: Oracle, number: Int?) in number.map { $0 + 1 } }
    Responds(to: "perhaps:") { (_: Oracle, number: Int8?) in number }
    Responds(to: "word:") { (_: Oracle, word: String?) in word }
    Responds(to: "silent", signature: .sample("@@:")) { (_: Oracle, call: inout Invocation) in call.result = nil }
    Responds(to: "shape") { (_: Oracle) in Dot() }
    Responds(to: "ping") { (_: Oracle) in }
  }
}

@Suite("Stated types")
struct StatedTypesTests {
  private func answer(_ selector: MessageSelector, _ types: String, _ boxes: ArgumentBox...) throws -> ArgumentBox? {
    var call = Invocation(selector, signature: try MethodSignature(types), arguments: boxes)
    do { try Oracle().perform(&call) } catch {
      #expect(call.result == nil)
      throw error
    }
    return call.result
  }

  @Test("no answer is no value of an existential type, only of an optional one")
  func noAnswer() throws {
    let any = #expect(throws: MessageError.self) { try Oracle().send(Message<() -> Any>("silent")) }
    #expect(any?.code == .nobodyResponds)
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> any Shape>("silent")) }
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> AnyObject>("silent")) }
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> any Sendable>("silent")) }
    let (none, nothing) = (
      try Oracle().send(Message<() -> Any?>("silent")), try Oracle().send(Message<() -> (any Shape)?>("silent"))
    )
    #expect(none == nil)
    #expect(nothing == nil)
    #expect(try Oracle().send(Message<() -> any Shape>("shape")) is Dot)
  }
}
