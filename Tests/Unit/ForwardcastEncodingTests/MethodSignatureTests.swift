// MethodSignatureTests.swift: parses and compares signatures.

import ForwardcastEncoding
import TestSupport
import Testing

@Suite("Method signatures")
struct MethodSignatureTests {
  @Test("digits after a type do not change the type", arguments: ["v@:q", "v24@0:8q16", "v@0:q16", "v99@1:2q3"])
  func offsetsAreOptional(encoding: String) throws {
    let signature = try MethodSignature(encoding)
    expect(signature.argumentTypes, equals: [.object, .selector, .longLong])
    expect(signature.returnType, equals: .void)
    expect(signature.numberOfArguments, equals: 3)
    expect(signature.description, equals: encoding)
    try expect(signature, equals: MethodSignature("v@:q"))
    try expect(signature.hashValue, equals: MethodSignature("v@:q").hashValue)
  }

  @Test("a malformed signature is refused with the broken rule and its byte", arguments: Refusal.ofSignatures)
  func refusals(refusal: Refusal) throws {
    let error = try #require(throws: TypeEncodingError.self) { try MethodSignature(refusal.text) }
    expect(error.code, equals: refusal.code)
    expect(error.byteOffset, equals: refusal.offset)
    expect(error.encoding, equals: refusal.text)
  }

  @Test("stated offsets and the frame length are returned as written")
  func statedDigits() throws {
    let odd = try MethodSignature("v99@1:2q3")
    expect(odd.argumentOffsets, equals: [1, 2, 3])
    expect(odd.frameLength, equals: 99)
    expect(odd.frame(on: .current).offsets, equals: [0, 8, 16])
    expect(odd.frame(on: .current).length, equals: 24)
    let partly = try MethodSignature("v@:8c77s")
    expect(partly.argumentOffsets, equals: [0, 8, 77, 20])
    expect(partly.statedOffsets, equals: [nil, 8, 77, nil])
    expect(partly.frameLength, equals: 24)
    expect(partly.statedFrameLength == nil)
  }

  @Test("arguments after one of unknown size have no offset unless it is stated")
  func unknownSizes() throws {
    let signature = try MethodSignature("v@:q{A}i")
    expect(signature.argumentOffsets, equals: [0, 8, 16, 24, nil])
    expect(signature.frameLength == nil)
    expect(signature.argumentLayouts.map { $0?.size }, equals: [8, 8, 8, nil, 4])
    try expect(MethodSignature("v40@0:8q16{A}24i36").argumentOffsets, equals: [0, 8, 16, 24, 36])
  }

  @Test("an array argument has the size of a pointer, as C passes it")
  func arrays() throws {
    let signature = try MethodSignature("v@:[100d]c")
    expect(signature.argumentLayouts[2], equals: TypeLayout(size: 8, alignment: 8))
    expect(signature.argumentOffsets, equals: [0, 8, 16, 24])
  }

  @Test("the return type determines the length of the result and whether the sender waits")
  func results() throws {
    try expect(MethodSignature("v@:").returnLength, equals: 0)
    try expect(MethodSignature("c@:").returnLength, equals: 1)
    try expect(MethodSignature("{Rect={Point=dd}{Size=dd}}@:").returnLength, equals: 32)
    expect(try MethodSignature("{Rect}@:").returnLength == nil)
    expect(try MethodSignature("Vv@:").isOneway)
    expect(try !MethodSignature("v@:V@").isOneway)
  }

  @Test("qualifiers stay with their arguments")
  func qualifiers() throws {
    let signature = try MethodSignature("Vv40@0:8n@16o^i24r*32")
    expect(signature.argumentTypes.map(\.qualifiers), equals: [[], [], [.in], [.out], [.const]])
    expect(signature.returnType.qualifiers, equals: [.oneway])
  }

  @Test("the receiver may be a class or a named object")
  func receivers() throws {
    try expect(MethodSignature("@#:").argumentTypes[0], equals: .classObject)
    try expect(MethodSignature("v@\"Screen\":").argumentTypes[0], equals: TypeEncoding.object(named: "Screen"))
  }

  @Test("signatures can be compared strictly, without return types, or leniently")
  func strengths() throws {
    // strict, ignoring the return type, lenient
    let rows: [(String, String, Bool, Bool, Bool)] = [
      ("v@:q", "v24@0:8q16", true, true, true), ("v@:q", "B@:q", false, true, true),
      ("v@:@", "B@:@\"A\"", false, false, true), ("v@:@", "B@:q", false, false, false),
      ("v@:@", "v@:@\"A\"", false, false, true),
      ("v@:@\"B\"", "v@:@\"A\"", false, false, true), ("v@:{A=i}", "v@:{A=\"x\"i}", false, false, true),
      ("v@:i", "v@:q", false, false, false),
      ("v@:", "v@:q", false, false, false), ("v@:qq", "v@:q", false, false, false),
      ("@@:", "@\"A\"@:", false, true, true),
      ("Vv@:", "v@:", false, true, true), ("v#:", "v@:", false, false, false), ("v@:ri", "v@:i", false, false, true),
    ]
    for (left, right, strict, ignoring, lenient) in rows {
      let (first, second) = (try MethodSignature(left), try MethodSignature(right))
      for (one, other) in [(first, second), (second, first)] {
        expect(one == other, equals: strict, "\(left) \(right)")
        expect(one.matches(other), equals: strict, "\(left) \(right)")
        expect(one.matches(other, .ignoringReturnType), equals: ignoring, "\(left) \(right)")
        expect(one.matches(other, .lenient), equals: lenient, "\(left) \(right)")
      }
      // Each comparison accepts what the stricter ones accept.
      expect(!strict || ignoring)
      expect(!ignoring || lenient)
    }
  }

  @Test("signed offsets are printed back as written", arguments: ["@12@+0:+4:+8", "v24@0:8q-16", "v@+0:q-0"])
  func signedOffsets(text: String) throws {
    let signature = try MethodSignature(text)
    expect(signature.description, equals: text)
    try expect(MethodSignature(signature.description), equals: signature)
  }

  @Test("a signed offset has its signed value")
  func offsetsWithSigns() throws {
    let registers = try MethodSignature("@12@+0:+4:+8")
    expect(registers.argumentTypes, equals: [.object, .selector, .selector])
    expect(registers.argumentOffsets, equals: [0, 4, 8])
    expect(registers.frameLength, equals: 12)
    expect(registers, equals: try MethodSignature("@@::"))
    try expect(MethodSignature("v24@0:8q-16").statedOffsets, equals: [0, 8, -16])
    try expect(MethodSignature("v@:q+16d").argumentOffsets, equals: [0, 8, 16, 24])
  }

  @Test("frames of the largest possible types are measured without overflow")
  func largestFrames() throws {
    let largest = "{=[140737488355328c]}"
    let signature = try MethodSignature("v@:" + String(repeating: largest, count: 3_000))
    expect(signature.frameLength, equals: 16 + 3_000 << 47)
    // One byte on the first target, sixteen on the second.
    let growing = try MethodSignature("v@:" + String(repeating: "{=[140737488355328{=b0T0c}]}", count: 2_000))
    for target in TypeVectorTests.targets {
      expect(growing.frame(on: target).offsets.count, equals: 2_002)
    }
    expect(growing.frame(on: .x86_64Linux).length, equals: 16 + 2_000 << 47)
    expect(growing.frame(on: .aarch64Linux).length, equals: 16 + 2_000 << 51)
  }

  @Test("a signature of thousands of arguments is parsed and measured")
  func manyArguments() throws {
    let signature = try MethodSignature("v@:" + String(repeating: "c", count: 65_000))
    expect(signature.numberOfArguments, equals: 65_002)
    expect(signature.frameLength, equals: 16 + 4 * 65_000)
  }
}
