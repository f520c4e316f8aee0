// ArgumentTextTests.swift: values that text says.

import Forwardcast
import ForwardcastCoding
import TestSupport
import Testing

@Suite("Values from text")
struct ArgumentTextTests {
  @Test(
    "text is a value of the type that is wanted",
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
    "text that says no value of the type is refused, with the type and the text",
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

  @Test("a selector that the process knows is read")
  func selectors() throws {
    let known = MessageSelector("isKnownFromText:")
    let box = try ArgumentBox(text: "isKnownFromText:", as: TypeEncoding(":"))
    try expect(box.unbox(as: MessageSelector.self), equals: known)
  }
}
