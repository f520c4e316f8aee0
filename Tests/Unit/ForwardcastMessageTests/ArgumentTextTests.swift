// ArgumentTextTests.swift: values parsed from text.

import Forwardcast
import ForwardcastCoding
import TestSupport
import Testing

@Suite("Values from text")
struct ArgumentTextTests {
  @Test(
    "text parses as a value of the wanted type",
    arguments: [
      ("12", "q", "12", "Int64"), ("-7", "c", "-7", "Int8"), ("+3", "S", "3", "UInt16"),
      ("1e3", "d", "1000.0", "Double"),
      ("2", "f", "2.0", "Float"), ("true", "B", "true", "Bool"), ("12", "@", "\"12\"", "String"),
      ("a \"b\"", "@\"String\"", #""a \"b\"""#, "String"), ("nil", "@\"String\"", "\"nil\"", "String"),
      ("", "*", "\"\"", "String"), ("12", "{Optional<Int>}", "12", "Int"), ("nil", "{Optional<Int>}", "nil", ""),
      ("no", "{Optional<String>}", "\"no\"", "String"), ("false", "{Optional<Bool>}", "false", "Bool"),
      ("340282366920938463463374607431768211455", "T", "340282366920938463463374607431768211455", "UInt128"),
      ("170141183460469231731687303715884105729", "T", "170141183460469231731687303715884105729", "UInt128"),
    ])
  func values(text: String, encoding: String, shown: String, type: String) throws {
    let wanted = try TypeEncoding(encoding)
    let box = try ArgumentBox(text: text, as: wanted)
    expect(box.description, equals: shown)
    if !type.isEmpty { expect("\(Swift.type(of: box.value))", equals: type) }
  }

  @Test(
    "text that is no value of the type is refused, with the type and the text",
    arguments: [
      ("twelve", "q"), ("1.5", "q"), ("300", "c"), ("-1", "Q"), ("1", "B"), ("True", "B"), ("", "d"), ("nan", "d"),
      ("340282366920938463463374607431768211456", "T"), ("0x1p3", "d"), ("0X1P3", "d"), ("0X10", "q"), (" 1", "q"),
      ("neverHeardOfByAnyone:", ":"), ("x", "#"), ("x", "{Point=dd}"), ("x", "@\"Screen\""),
      ("twelve", "{Optional<Int>}"), ("1", "^v"),
    ])
  func refused(text: String, encoding: String) throws {
    let wanted = try TypeEncoding(encoding)
    let error = #expect(throws: UnboxingError.self) { try ArgumentBox(text: text, as: wanted) }
    expect(error?.wanted.hasSuffix("(\(encoding))") == true)
    expect(MessageSelector(known: "neverHeardOfByAnyone:") == nil)
  }

  @Test("text parses as a selector that the process knows")
  func selectors() throws {
    let known = MessageSelector("isKnownFromText:")
    let box = try ArgumentBox(text: "isKnownFromText:", as: TypeEncoding(":"))
    try expect(box.unbox(as: MessageSelector.self), equals: known)
  }

  @Test("texts become the arguments of a message, by the types of the receiver's method")
  func messages() throws {
    let call = try Invocation(text: ["ho", "3"], for: "echo:times:", of: Echo())
    expect(call.description, equals: "echo: \"ho\" times: 3")
    try expect(Echo().send(Message<(String, Int) -> String>("echo:times:"), "ho", 2), equals: "hoho")
    try expect(Invocation(text: [], for: "rest", of: Echo()).arguments.count, equals: 0)
    try expect(Invocation(text: ["3"], for: "wait:", of: ForwardingProxy(to: Echo())).description, equals: "wait: 3.0")
  }

  @Test(
    "an error names missing, surplus and unreadable arguments, or a message that the receiver lacks",
    arguments: [
      (
        ["ho"], "echo:times:",
        "wrong number of arguments for 'echo:times:' of Echo: wanted 2, found 1: missing \"times:\""
      ),
      (
        [], "echo:times:",
        "wrong number of arguments for 'echo:times:' of Echo: wanted 2, found 0: missing \"echo:\", \"times:\""
      ),
      (["1", "2"], "wait:", "wrong number of arguments for 'wait:' of Echo: wanted 1, found 2: surplus \"2\""),
      (["x"], "rest", "wrong number of arguments for 'rest' of Echo: wanted 0, found 1: surplus \"x\""),
      (
        ["ho", "two"], "echo:times:",
        "type mismatch in 'echo:times:' of Echo: argument 1: wanted Int (q), found text (\"two\")"
      ),
      (
        ["256"], "small:",
        "type mismatch in 'small:' of Echo: argument 0: wanted UInt8 (C), found text (\"256\", which does not fit)"
      ),
      (["ho"], "unheard:", "unrecognized selector 'unheard:' of Echo"),
    ])
  func refusedMessages(text: [String], selector: String, description: String) throws {
    let selector = try MessageSelector(selector)
    let error = #expect(throws: MessageError.self) { try Invocation(text: text, for: selector, of: Echo()) }
    expect(error?.description, equals: description)
  }
}

private final class Echo: MessageReceiver {
  static let selectorTable = SelectorTable(for: Echo.self) {
    Responds(to: "echo:times:") { (_: Echo, text: String, times: Int) in String(repeating: text, count: times) }
    Responds(to: "wait:") { (_: Echo, seconds: Double) in }
    Responds(to: "small:") { (_: Echo, number: UInt8) in }
    Responds(to: "rest") { (_: Echo) in }
  }
}
