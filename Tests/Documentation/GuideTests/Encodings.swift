// Encodings.swift: the code of the page "Type encodings".

// snippet: encodings-use
import Forwardcast
// end
import ForwardcastCoding
import TestSupport
import Testing

private final class Echoing: MessageReceiver {
  static let selectorTable = SelectorTable(for: Echoing.self) {
    Responds(to: "echo:times:") { (_: Echoing, text: String, times: Int) in String(repeating: text, count: times) }
  }
}

@Suite("Type encodings")
struct Encodings {
  @Test("an encoding is read, measured and refused")
  func reading() throws {
    // snippet: encodings-use
    let point = try TypeEncoding("{Point=\"x\"d\"y\"d}")
    print(point.layout?.size ?? 0)  // 16; nil where there is no size: b3, {Color}
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

  @Test("a message is made of texts")
  func text() throws {
    let plugIns = MulticastProxy<any MessageReceiver>()
    plugIns.add(Echoing(), ownership: .strong)
    // snippet: coding-text
    let call = try Invocation(text: ["ho", "3"], for: "echo:times:", of: plugIns)
    print(call)  // echo: "ho" times: 3
    // end
    expect("\(call)", equals: "echo: \"ho\" times: 3")
  }
}
