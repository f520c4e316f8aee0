// InvocationCodableTests.swift: encodes and decodes messages, and refuses malformed ones.

import Forwardcast
import ForwardcastCoding
import Foundation
import TestSupport
import Testing

private struct Tint: Codable, Hashable, Sendable { var name: String }
private final class Opaque {}

@Suite("Messages as data")
struct InvocationCodableTests {
  private func roundTrip(_ call: Invocation, types: KnownTypes? = nil) throws -> Invocation {
    let decoder = JSONDecoder()
    if let types { decoder.userInfo[Invocation.typesKey] = types }
    return try decoder.decode(Invocation.self, from: JSONEncoder().encode(call))
  }

  @Test("standard values decode with their types")
  func standardTypes() throws {
    var call = Invocation(
      "a:b:c:d:e:f:g:h:", signature: try MethodSignature("v@:@@@@@@@@"),
      arguments: [
        .init(UInt8(7)), .init("text"), .init([1, 2]), .init(["k": [0.5]]), .init(Int?.none), .init(Int?(4)),
        .init(MessageSelector("x:")), .init([Int?.some(1), nil]),
      ])
    call.result = .init(true)
    let copy = try roundTrip(call)
    expect(copy.selector, equals: call.selector)
    expect(copy.signature, equals: call.signature)
    expect(copy.description, equals: call.description)
    for (found, wanted) in zip(copy.arguments, call.arguments) where !wanted.isNil {
      expect(ObjectIdentifier(found.type), equals: ObjectIdentifier(wanted.type))
      expect(found.isSendable)
    }
    let none = copy.arguments[4].isNil
    expect(none)
    expect(try copy.result?.unbox(as: Bool.self) == true)
    try expect(copy.argument(3, as: [String: [Double]].self), equals: ["k": [0.5]])
  }

  @Test("Void, a missing result and an unstated signature are preserved")
  func absence() throws {
    var call = Invocation("ping")
    expect(try roundTrip(call).result == nil)
    expect(try roundTrip(call).hasStatedSignature == false)
    call.result = .init(())
    let copy = try roundTrip(call)
    expect(try copy.result?.unbox(as: Void.self) != nil)
  }

  @Test("an error names the argument that cannot be encoded")
  func unencodable() throws {
    let call = Invocation("a:b:", arguments: [.init(1), .init(Opaque())])
    let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(call) }
    guard case .invalidValue(_, let context) = error else { return }
    expect(context.debugDescription, equals: "argument 1 of 'a:b:' is not Encodable: Opaque")
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(Invocation("a:", arguments: [.init({ () in })])) }
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(Invocation("a:", arguments: [.init([1, "a"] as [Any])]))
    }
  }

  @Test("a custom type is decoded only if the decoder lists it")
  func ownTypes() throws {
    let call = Invocation("a:b:", arguments: [.init(Tint(name: "red")), .init([Tint(name: "x"): [Tint(name: "y")]])])
    let copy = try roundTrip(call, types: KnownTypes(["Tint": Tint.self]))
    try expect(copy.argument(0, as: Tint.self), equals: Tint(name: "red"))
    try expect(copy.argument(1, as: [Tint: [Tint]].self), equals: [Tint(name: "x"): [Tint(name: "y")]])
    #expect(throws: DecodingError.self) { try roundTrip(call) }
  }

  @Test(
    "hostile text is a decoding error",
    arguments: [
      #"{}"#, #"[]"#, #"7"#, #"{"selector":"a b","arguments":[]}"#, #"{"selector":"","arguments":[]}"#,
      #"{"selector":"a:"}"#, #"{"selector":"a","signature":"v@:&","arguments":[]}"#,
      #"{"selector":"a","signature":7,"arguments":[]}"#, #"{"selector":"a:","arguments":[7]}"#,
      #"{"selector":"a:","arguments":[{"type":"Int"}]}"#,
      #"{"selector":"a:","arguments":[{"type":"Int","value":"x"}]}"#,
      #"{"selector":"a:","arguments":[{"type":"UInt8","value":300}]}"#,
      #"{"selector":"a:","arguments":[{"type":"Process","value":1}]}"#,
      #"{"selector":"a:","arguments":[{"type":"[","value":1}]}"#,
      #"{"selector":"a:","arguments":[{"type":"[]","value":[]}]}"#,
      #"{"selector":"a:","arguments":[{"type":"?","value":1}]}"#,
      #"{"selector":"a:","arguments":[{"type":"[:]","value":{}}]}"#,
      #"{"selector":"a:","arguments":[{"type":"[[Int]: Int","value":{}}]}"#,
      #"{"selector":"a:","arguments":[{"type":"[Int: Nope]","value":{}}]}"#,
      #"{"selector":"a:","arguments":[{"type":"","value":1}]}"#,
    ])
  func hostile(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Invocation.self, from: Data(text.utf8)) }
  }

  @Test("an unknown selector is a decoding error and is not interned")
  func unknownSelectors() throws {
    for text in [
      #"{"selector":"nobodyHasEverHeardOf:this:","arguments":[]}"#,
      #"{"selector":"ping","arguments":[{"type":"MessageSelector","value":"nobodyHasEverHeardOf:this:"}]}"#,
      #"{"selector":"ping","arguments":[{"type":"[MessageSelector]","value":["nobodyHasEverHeardOf:this:"]}]}"#,
    ] {
      _ = MessageSelector("ping")
      let error = #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Invocation.self, from: Data(text.utf8))
      }
      guard case .dataCorrupted(let context) = error else {
        Issue.record("not corrupt data")
        continue
      }
      expect(
        context.debugDescription.hasPrefix(
          #"no selector is known as "nobodyHasEverHeardOf:this:"; create a table or a key"#))
      expect(MessageSelector(known: "nobodyHasEverHeardOf:this:") == nil)
    }
  }

  @Test("a decoder that lists selectors accepts no others, anywhere in the message")
  func listedSelectors() throws {
    let call = Invocation("listed:", arguments: [.init(MessageSelector("alsoListed"))])
    let data = try JSONEncoder().encode(call)
    let decoder = JSONDecoder()
    decoder.userInfo[MessageSelector.selectorsKey] = ["listed:", "alsoListed"] as Set<MessageSelector>
    try expect(decoder.decode(Invocation.self, from: data).selector, equals: "listed:")
    for listed: any Sendable in [
      ["listed:"] as Set<MessageSelector>, ["alsoListed"] as Set<MessageSelector>, [] as Set<MessageSelector>,
      "listed:",
    ] {
      decoder.userInfo[MessageSelector.selectorsKey] = listed
      #expect(throws: DecodingError.self) { try decoder.decode(Invocation.self, from: data) }
    }
  }

  @Test("decoding creates a limited number of types, but always those of one level and those that the decoder lists")
  func boundedTypes() async throws {
    await #expect(processExitsWith: .success) {
      func read(_ name: String, _ value: String, _ types: KnownTypes? = nil) throws -> Invocation {
        let decoder = JSONDecoder()
        if let types { decoder.userInfo[Invocation.typesKey] = types }
        let text = #"{"selector":"ping","arguments":[{"type":"\#(name)","value":\#(value)}]}"#
        return try decoder.decode(Invocation.self, from: Data(text.utf8))
      }
      _ = MessageSelector("ping")
      let scalars = ["Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "String"]
      let simple = scalars.flatMap { key in scalars.map { "[\(key): \($0)]" } }
      var (made, refused) = (0, 0)
      for outer in scalars.prefix(10) {
        for inner in simple {
          do {
            // A dictionary whose keys are neither strings nor `Int` is encoded as an array.
            _ = try read("[\(outer): \(inner)]", outer == "Int" ? "{}" : "[]")
            made += 1
          } catch let error as DecodingError {
            guard case .dataCorrupted(let context) = error, context.debugDescription.hasPrefix("decoded types exceed")
            else {
              throw error
            }
            refused += 1
          }
        }
      }
      // Ten times 121 of them. The 121 inside do not count.
      precondition(made == KnownTypes.readTypeLimit, "made \(made)")
      precondition(refused == 1210 - made, "refused \(refused)")
      // A type that was created before is decoded again, and so is a type that the decoder lists.
      _ = try read("[Int: [Int: Int]]", "{}")
      let whole = KnownTypes(["[UInt64: [String: String]]": [UInt64: [String: String]].self])
      let call = try read("[UInt64: [String: String]]", "[]", whole)
      precondition(call.arguments.count == 1)
      precondition((try? read("[[[Double]]]", "[]")) == nil, "one too many was made")
      // Compositions of one level are finite and remain, whatever names a peer has used before.
      let tint = KnownTypes(["Tint": Tint.self])
      for (name, value) in [
        ("[Double]", "[]"), ("[Tint]", "[]"), ("Bool?", "null"), ("Tint?", "null"), ("[UInt128: Bool]", "[]"),
        ("[String: Tint]", "{}"),
      ] {
        do { _ = try read(name, value, tint) } catch { preconditionFailure("\(name): \(error)") }
      }
      precondition((try? read("[Tint: Int]", "[]", tint)) == nil, "a listed type as a key was not counted")
    }
  }

  @Test("more arguments than any selector can have are a decoding error")
  func tooManyArguments() {
    _ = MessageSelector("ping")
    func text(_ count: Int) -> Data {
      let list = Array(repeating: #"{"type":"nil"}"#, count: count).joined(separator: ",")
      return Data(#"{"selector":"ping","arguments":[\#(list)]}"#.utf8)
    }
    #expect(throws: Never.self) { try JSONDecoder().decode(Invocation.self, from: text(1024)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Invocation.self, from: text(1025)) }
  }

  @Test("a type name nested too deeply is a decoding error and does not crash", arguments: [17, 400, 100_000])
  func deep(depth: Int) {
    for name in [
      String(repeating: "[", count: depth) + "Int" + String(repeating: "]", count: depth),
      "Int" + String(repeating: "?", count: depth),
      String(repeating: "[Int: ", count: depth) + "Int" + String(repeating: "]", count: depth),
    ] {
      let text = #"{"selector":"a:","arguments":[{"type":"\#(name)","value":[]}]}"#
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(Invocation.self, from: Data(text.utf8)) }
    }
  }

  @Test("a signature is encoded as its text, including digits, and malformed text is corrupt data")
  func signatureCoding() throws {
    let texts = ["v99@1:2@\"NSString\"3", "@12@+0:+4:+8"]
    let data = try JSONEncoder().encode(texts.map { try MethodSignature($0) })
    try expect(JSONDecoder().decode([String].self, from: data), equals: texts)
    try expect(JSONDecoder().decode([MethodSignature].self, from: data).map(\.description), equals: texts)
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([MethodSignature].self, from: Data("[\"v@:&\"]".utf8))
    }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("not corrupt data")
      return
    }
    expect(context.debugDescription, equals: "unknown type at byte 3 of \"v@:&\"")
  }
}
