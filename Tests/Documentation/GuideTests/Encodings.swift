// Encodings.swift: the code of the page of ForwardcastEncoding.

// snippet: encodings-use
import Forwardcast
// end
// snippet: coding-text
import Forwardcast
import ForwardcastCoding
// end
import TestSupport
import Testing

// snippet: coding-text
@Receiver final class Echo {
  @Message func echo(_ text: String, times: Int) -> String {
    String(repeating: text, count: times)
  }
}
// end

@Suite("Type encodings")
struct Encodings {
  @Test("an encoding is parsed and measured, and a malformed one is refused")
  func reading() throws {
    // snippet: encodings-use
    let point = try TypeEncoding("{Point=\"x\"d\"y\"d}")
    print(point.layout?.size ?? 0)  // 16; nil for unsized types: b3, {Color}
    print(point.layout(on: .aarch64Linux)?.alignment ?? 0)  // 8

    let signature = try MethodSignature("v24@0:8q16")
    print(signature.argumentTypes)  // [@, :, q]

    do { _ = try TypeEncoding("{}") } catch {
      print(error)  // record without name and members at byte 1 of "{}"
    }
    // end
    #expect(point.layout?.size == 16 && point.layout(on: .aarch64Linux)?.alignment == 8)
    expect("\(signature.argumentTypes)", equals: "[@, :, q]")
    #expect(try TypeEncoding("b3").layout == nil && TypeEncoding("{Color}").layout == nil)
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding("{}") }
    expect(error.map { "\($0)" }, equals: "record without name and members at byte 1 of \"{}\"")
  }

  @Test("a message is built from strings")
  func text() throws {
    // snippet: coding-text
    let receiver = Echo()
    let call = try Invocation(
      text: ["ho", "3"], for: "echo:times:", of: receiver)
    print(call)  // echo: "ho" times: 3
    // end
    expect("\(call)", equals: "echo: \"ho\" times: 3")
  }
}
