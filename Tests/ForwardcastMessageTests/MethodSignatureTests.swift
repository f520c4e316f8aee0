// MethodSignatureTests.swift: signatures read from text, and how they compare.
// Layer: Message. See the article "Type encodings".

import Forwardcast
import Foundation
import Testing

@Suite("Method signatures")
struct MethodSignatureTests {
  @Test("digits after a type do not change the type", arguments: ["v@:q", "v24@0:8q16", "v@0:q16", "v99@1:2q3"])
  func offsetsAreOptional(encoding: String) throws {
    let signature = try MethodSignature(encoding)
    #expect(signature.argumentTypes == [.object, .selector, .longLong])
    #expect(signature.returnType == .void)
    #expect(signature.numberOfArguments == 3)
    #expect(signature.description == encoding)
    #expect(try signature == MethodSignature("v@:q"))
    #expect(try signature.hashValue == MethodSignature("v@:q").hashValue)
  }

  @Test("a malformed signature is refused with its rule at its byte", arguments: Refusal.ofSignatures)
  func refusals(refusal: Refusal) throws {
    let error = try #require(throws: TypeEncodingError.self) { try MethodSignature(refusal.text) }
    #expect(error.code == refusal.code)
    #expect(error.byteOffset == refusal.offset)
    #expect(error.encoding == refusal.text)
  }

  @Test("offsets and frame length are given back as written, each where it is written")
  func statedDigits() throws {
    let odd = try MethodSignature("v99@1:2q3")
    #expect(odd.argumentOffsets == [1, 2, 3])
    #expect(odd.frameLength == 99)
    #expect(odd.frame(on: .current).offsets == [0, 8, 16])
    #expect(odd.frame(on: .current).length == 24)
    let partly = try MethodSignature("v@:8c77s")
    #expect(partly.argumentOffsets == [0, 8, 77, 20])
    #expect(partly.statedOffsets == [nil, 8, 77, nil])
    #expect(partly.frameLength == 24)
    #expect(partly.statedFrameLength == nil)
  }

  @Test("behind an argument of unknown size nothing has an offset, unless it is written")
  func unknownSizes() throws {
    let signature = try MethodSignature("v@:q{A}i")
    #expect(signature.argumentOffsets == [0, 8, 16, 24, nil])
    #expect(signature.frameLength == nil)
    #expect(signature.argumentLayouts.map { $0?.size } == [8, 8, 8, nil, 4])
    #expect(try MethodSignature("v40@0:8q16{A}24i36").argumentOffsets == [0, 8, 16, 24, 36])
  }

  @Test("an array argument has a pointer's size, as C passes it")
  func arrays() throws {
    let signature = try MethodSignature("v@:[100d]c")
    #expect(signature.argumentLayouts[2] == TypeLayout(size: 8, alignment: 8))
    #expect(signature.argumentOffsets == [0, 8, 16, 24])
  }

  @Test("the return type says the length of the result, and whether the sender waits")
  func results() throws {
    #expect(try MethodSignature("v@:").returnLength == 0)
    #expect(try MethodSignature("c@:").returnLength == 1)
    #expect(try MethodSignature("{Rect={Point=dd}{Size=dd}}@:").returnLength == 32)
    #expect(try MethodSignature("{Rect}@:").returnLength == nil)
    #expect(try MethodSignature("Vv@:").isOneway)
    #expect(try !MethodSignature("v@:V@").isOneway)
  }

  @Test("qualifiers stay with their arguments")
  func qualifiers() throws {
    let signature = try MethodSignature("Vv40@0:8n@16o^i24r*32")
    #expect(signature.argumentTypes.map(\.qualifiers) == [[], [], [.in], [.out], [.const]])
    #expect(signature.returnType.qualifiers == [.oneway])
  }

  @Test("a class can be the receiver, and a receiver can be named")
  func receivers() throws {
    #expect(try MethodSignature("@#:").argumentTypes[0] == .classObject)
    #expect(try MethodSignature("v@\"Screen\":").argumentTypes[0] == TypeEncoding.object(named: "Screen"))
  }

  @Test("three strengths of comparison")
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
        #expect((one == other) == strict, "\(left) \(right)")
        #expect(one.matches(other) == strict, "\(left) \(right)")
        #expect(one.matches(other, .ignoringReturnType) == ignoring, "\(left) \(right)")
        #expect(one.matches(other, .lenient) == lenient, "\(left) \(right)")
      }
      // What a strength lets through, those after it do as well.
      #expect(!strict || ignoring)
      #expect(!ignoring || lenient)
    }
  }

  @Test("offsets may have a sign, which is printed back", arguments: ["@12@+0:+4:+8", "v24@0:8q-16", "v@+0:q-0"])
  func signedOffsets(text: String) throws {
    let signature = try MethodSignature(text)
    #expect(signature.description == text)
    #expect(try MethodSignature(signature.description) == signature)
    #expect(try JSONDecoder().decode(MethodSignature.self, from: JSONEncoder().encode(signature)).description == text)
  }

  @Test("an offset with a sign is that number")
  func offsetsWithSigns() throws {
    let registers = try MethodSignature("@12@+0:+4:+8")
    #expect(registers.argumentTypes == [.object, .selector, .selector])
    #expect(registers.argumentOffsets == [0, 4, 8])
    #expect(registers.frameLength == 12)
    #expect(registers == (try MethodSignature("@@::")))
    #expect(try MethodSignature("v24@0:8q-16").statedOffsets == [0, 8, -16])
    #expect(try MethodSignature("v@:q+16d").argumentOffsets == [0, 8, 16, 24])
  }

  @Test("a signature is coded as its text, digits included, and a malformed text is corrupt data")
  func coding() throws {
    let text = "v99@1:2@\"NSString\"3"
    let data = try JSONEncoder().encode([MethodSignature(text)])
    #expect(try JSONDecoder().decode([String].self, from: data) == [text])
    #expect(try JSONDecoder().decode([MethodSignature].self, from: data)[0].description == text)
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([MethodSignature].self, from: Data("[\"v@:&\"]".utf8))
    }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("not corrupt data")
      return
    }
    #expect(context.debugDescription == "unknown type at byte 3 of \"v@:&\"")
  }

  @Test("frames of the largest types there may be are measured without overflow")
  func largestFrames() throws {
    let largest = "{=[140737488355328c]}"
    let signature = try MethodSignature("v@:" + String(repeating: largest, count: 3_000))
    #expect(signature.frameLength == 16 + 3_000 << 47)
    // One byte on the first target, sixteen on the second.
    let growing = try MethodSignature("v@:" + String(repeating: "{=[140737488355328{=b0T0c}]}", count: 2_000))
    for target in TypeVectorTests.targets {
      #expect(growing.frame(on: target).offsets.count == 2_002)
    }
    #expect(growing.frame(on: .x86_64Linux).length == 16 + 2_000 << 47)
    #expect(growing.frame(on: .aarch64Linux).length == 16 + 2_000 << 51)
  }

  @Test("a signature of thousands of arguments is read and measured")
  func manyArguments() throws {
    let signature = try MethodSignature("v@:" + String(repeating: "c", count: 65_000))
    #expect(signature.numberOfArguments == 65_002)
    #expect(signature.frameLength == 16 + 4 * 65_000)
  }
}
