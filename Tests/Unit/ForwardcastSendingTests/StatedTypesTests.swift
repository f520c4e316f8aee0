// StatedTypesTests.swift: types that a sender states, and missing answers.

import CoreTestSupport
import Forwardcast
import TestSupport
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
      expect(call.result == nil)
      throw error
    }
    return call.result
  }

  @Test("an answer is converted to the stated return type")
  func returnType() throws {
    expect(try answer("same:", "c@:q", .init(70))?.value is Int8)
    expect(try answer("same:", "d@:q", .init(70))?.value as? Double == 70)
    expect(try answer("same:", "@@:q", .init(70))?.value as? Int == 70)
  }

  @Test("an answer that does not fit the stated return type is refused")
  func returnTypeRefused() {
    for (types, wanted) in [("c@:q", "(c)"), ("@\"String\"@:q", "(@\"String\")"), ("#@:q", "(#)")] {
      let error = #expect(throws: MessageError.self) { try answer("same:", types, .init(700)) }
      expect(error?.code, equals: .typeMismatch)
      expect(error?.argumentIndex == nil)
      expect(error?.evidence.hasPrefix("result: ") == true)
      expect(error?.evidence.contains(wanted) == true, "\(error?.evidence ?? "")")
    }
    let void = #expect(throws: MessageError.self) { try answer("ping", "q@:") }
    expect(void?.code, equals: .typeMismatch)
  }

  @Test("a stated void return type drops the answer")
  func voidReturn() throws {
    expect(try answer("same:", "v@:q", .init(700))?.value is Void)
    expect(try answer("ping", "v@:")?.value is Void)
  }

  @Test("a receiver's own signature accepts what its row accepts, including optionals")
  func ownSignature() throws {
    func own(_ selector: MessageSelector, _ box: ArgumentBox) throws -> Any? {
      let types = try #require(Oracle().methodSignature(for: selector))
      return try answer(selector, types.description, box)?.value
    }
    expect(try own("maybe:", .init(Int?.some(4))) as? Int == 5)
    expect(try own("maybe:", .init(4)) as? Int == 5)
    expect(try own("maybe:", .init(Int8(4))) as? Int == 5)
    expect(try own("maybe:", .init(Int?.none)) as? Int == nil)
    expect(try own("perhaps:", .init(100)) as? Int8 == 100)
    expect(try own("word:", .init(String?.some("a"))) as? String == "a")
    #expect(throws: MessageError.self) { try own("maybe:", .init("four")) }
    #expect(throws: MessageError.self) { try own("perhaps:", .init(1000)) }
    #expect(throws: MessageError.self) { try own("word:", .init(4)) }
  }

  @Test("a stated signature that does not match the selector's colons is refused")
  func otherColons() throws {
    let error = #expect(throws: MessageError.self) { try answer("same:", "v@:") }
    expect(error?.code, equals: .wrongArgumentCount)
    expect(error?.evidence, equals: "the stated signature v@: takes 0, but the selector takes 1")
  }

  @Test("a missing answer is an error for an existential type and nil for an optional one")
  func noAnswer() throws {
    let any = #expect(throws: MessageError.self) { try Oracle().send(Message<() -> Any>("silent")) }
    expect(
      any?.evidence,
      equals: "wanted an answer of type Any, found none; return an answer from the method, or send with a key "
        + "whose result type is optional")
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> any Shape>("silent")) }
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> AnyObject>("silent")) }
    #expect(throws: MessageError.self) { try Oracle().send(Message<() -> any Sendable>("silent")) }
    let (none, nothing) = (
      try Oracle().send(Message<() -> Any?>("silent")), try Oracle().send(Message<() -> (any Shape)?>("silent"))
    )
    expect(none == nil)
    expect(nothing == nil)
    expect(try Oracle().send(Message<() -> any Shape>("shape")) is Dot)
  }
}
