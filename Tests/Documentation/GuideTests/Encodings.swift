// Encodings.swift: the code of the page "Type encodings".

// snippet: encodings-use
import Forwardcast
// end
import TestSupport
import Testing

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
}
