// MessageSelectorTests.swift: the grammar and identity of names.

import Forwardcast
import ForwardcastCoding
import Foundation
import TestSupport
import Testing

@Suite("Message selectors")
struct MessageSelectorTests {
  // MARK: Grammar

  @Test(
    "a name has as many arguments as colons, and its parts print back",
    arguments: [
      ("ping", ["ping"], 0), ("a:b:", ["a", "b"], 2), (":", [""], 1), ("a::", ["a", ""], 2), ("::", ["", ""], 2),
      (":b:", ["", "b"], 2), ("onAddMsg:msgData:", ["onAddMsg", "msgData"], 2), ("_", ["_"], 0), ("_1:", ["_1"], 1),
      ("меню:", ["меню"], 1), ("移動:至:", ["移動", "至"], 2), ("été", ["été"], 0), ("🎈:", ["🎈"], 1),
      ("a\u{200D}:\u{200D}b:", ["a\u{200D}", "\u{200D}b"], 2), ("\u{600}:a:", ["\u{600}", "a"], 2),
    ])
  func accepted(name: String, parts: [String], arity: Int) throws {
    let selector = try MessageSelector(name)
    expect(selector.numberOfArguments, equals: arity)
    try expect(MessageSelector.numberOfArguments(inName: name), equals: arity)
    expect(selector.parts, equals: parts)
    expect(selector.name, equals: name)
    expect("\(selector)", equals: name)
    expect(arity == 0 || selector.parts.map { $0 + ":" }.joined() == name)
  }

  @Test("parsing a literal throws where a literal in source would trap")
  func parsedLiterals() throws {
    let error = #expect(throws: MessageSelectorError.self) { try MessageSelector(parsing: "a b") }
    expect(error?.byteOffset, equals: 1)
    try expect(MessageSelector(parsing: "a:b:"), equals: "a:b:")
  }

  @Test(
    "a malformed name is refused at its first bad byte",
    arguments: [
      ("", 0, .empty), ("a b", 1, .unexpectedCharacter), ("a:b", 2, .textAfterLastColon),
      ("a::b", 3, .textAfterLastColon), (":b", 1, .textAfterLastColon), ("1a", 0, .unexpectedCharacter),
      ("a:1:", 2, .unexpectedCharacter), ("a:b c:", 3, .unexpectedCharacter), (" a", 0, .unexpectedCharacter),
      ("a\0", 1, .unexpectedCharacter), ("é!", 2, .unexpectedCharacter), ("a-b:", 1, .unexpectedCharacter),
      ("`a`", 0, .unexpectedCharacter), ("$0", 0, .unexpectedCharacter), ("a(_:)", 1, .unexpectedCharacter),
      ("\u{301}a", 0, .unexpectedCharacter), ("a:\u{301}:", 2, .unexpectedCharacter),
      ("a\u{37E}", 1, .unexpectedCharacter), ("\u{1FEF}a", 0, .unexpectedCharacter),
      ("a\u{F0000}", 1, .unexpectedCharacter), ("a\n", 1, .unexpectedCharacter),
    ] as [(String, Int, MessageSelectorError.Code)])
  func refused(name: String, byteOffset: Int, code: MessageSelectorError.Code) throws {
    let error = try #require(throws: MessageSelectorError.self) { try MessageSelector(name) }
    expect(error.code, equals: code)
    expect(error.byteOffset, equals: byteOffset)
    expect(error.name, equals: name)
    #expect(throws: error) { try MessageSelector.numberOfArguments(inName: name) }
    expect(MessageSelector(known: name) == nil)
  }

  @Test("a name may have 1,024 bytes and not 1,025, however few characters they are")
  func length() throws {
    for filler in ["x", "é", "界", "🎈"] {
      let size = filler.utf8.count
      let longest = String(repeating: filler, count: (1024 - 1) / size) + ":"
      let padded = String(repeating: "p", count: 1024 - longest.utf8.count) + longest
      try expect(MessageSelector(padded).numberOfArguments, equals: 1)
      let error = try #require(throws: MessageSelectorError.self) { try MessageSelector("p" + padded) }
      expect(error.code, equals: .tooLong)
      expect(error.byteOffset, equals: 1024)
      expect(MessageSelector(known: "p" + padded) == nil)
    }
  }

  @Test("an error has one line with the rule, the text and the byte")
  func description() throws {
    func text(_ name: String) throws -> String {
      "\(try #require(throws: MessageSelectorError.self) { try MessageSelector(name) })"
    }
    try expect(text("a b"), equals: #"invalid selector "a b": unexpected " " at byte 1"#)
    try expect(text("a:b"), equals: #"invalid selector "a:b": text after the last colon at byte 2"#)
    try expect(text(""), equals: #"invalid selector "": no text"#)
    try expect(text("a\nb"), equals: #"invalid selector "a\nb": unexpected "\n" at byte 1"#)
    let long = try text(String(repeating: "ab", count: 100_000))
    expect(long, equals: "invalid selector \"\(String(repeating: "ab", count: 32))…\": more than 1024 bytes")
  }

  // MARK: Identity

  @Test("equal names are one selector, and different names are two")
  func interning() throws {
    let built = try MessageSelector("identityCheck:" as String)
    expect(built, equals: "identityCheck:")
    expect(built, equals: MessageSelector(known: "identityCheck:"))
    expect(built.hashValue, equals: ("identityCheck:" as MessageSelector).hashValue)
    expect(built != "identityCheck")
    expect(built != "identitycheck:")
    expect(Set<MessageSelector>([built, "identityCheck:", "identityCheck"]).count, equals: 2)
  }

  @Test("canonically equivalent spellings are one selector, however it is created")
  func canonicalEquivalence() throws {
    let composed: MessageSelector = "caf\u{E9}:"
    for _ in 0..<3 {
      let decomposed: MessageSelector = "cafe\u{301}:"
      expect(decomposed, equals: composed)
    }
    try expect(MessageSelector("cafe\u{301}:" as String), equals: composed)
    expect(MessageSelector(known: "cafe\u{301}:"), equals: composed)
    try expect(MessageSelector(swiftName: "cafe\u{301}(_:)"), equals: composed)
  }

  @Test("a literal is the same selector at each evaluation, and equals the selector of its text")
  func literals() throws {
    func again() -> [MessageSelector] {
      [
        "x", "é", ":", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop",
        "abcdefghijklmnopq:",
      ]
    }
    let first = again()
    for _ in 0..<3 { expect(again(), equals: first) }
    try expect(first.map { try MessageSelector($0.name) }, equals: first)
    expect(first.map(\.name).joined(separator: ",").hasPrefix("x,é,:,ab,abc,abcd,abcdefg,abcdefgh,"))
  }

  @Test("a literal without an address is a selector too", arguments: ["q", "界", "é", ":"])
  func scalarLiterals(name: String) throws {
    // The compiler may pass "q" this way: the scalar is stored instead of the address.
    let scalar = try #require(name.unicodeScalars.first)
    let literal = unsafeBitCast((UInt(scalar.value), 0, UInt8(1)), to: StaticString.self)
    try #require(!literal.hasPointerRepresentation && literal.unicodeScalar == scalar)
    for _ in 0..<3 {
      expect(MessageSelector(stringLiteral: literal), equals: try MessageSelector(name))
    }
  }

  @Test("another text at the address of a literal is another selector")
  func reusedAddress() throws {
    // Simulates a library that is loaded at the address of an earlier one.
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    defer { memory.deallocate() }
    let names = [
      "reused:", "reuseD:", "Reused:", "r:", "R:", "reu", "reusedAddress:", "reusedaddress:", "reusedAddressOfIt:",
    ]
    for name in names + names {
      memory.update(from: Array(name.utf8), count: name.utf8.count)
      let literal = unsafeBitCast(
        (UInt(bitPattern: memory), name.utf8.count, UInt8(2)), to: StaticString.self)
      try #require(literal.hasPointerRepresentation && "\(literal)" == name)
      expect(MessageSelector(stringLiteral: literal).name, equals: name)
      expect(MessageSelector(stringLiteral: literal), equals: try MessageSelector(name))
    }
  }

  @Test("a malformed literal ends the process with the error's text")
  func malformedLiteral() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let selector: MessageSelector = "not a selector"
      print(selector)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    expect(text.contains(#"invalid selector "not a selector": unexpected " " at byte 3"#))
  }

  // MARK: Codable

  @Test("a selector is encoded as its name, and decoding checks the grammar")
  func codable() throws {
    let selectors: [MessageSelector] = ["ping", "a:b:", "меню:"]
    let data = try JSONEncoder().encode(selectors)
    expect(String(decoding: data, as: UTF8.self), equals: #"["ping","a:b:","меню:"]"#)
    try expect(JSONDecoder().decode([MessageSelector].self, from: data), equals: selectors)
    let error = try #require(throws: DecodingError.self) {
      try JSONDecoder().decode([MessageSelector].self, from: Data(#"["ping","a b"]"#.utf8))
    }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(error)")
      return
    }
    expect(context.debugDescription.hasPrefix(#"invalid selector "a b""#))
    expect(context.codingPath.first?.intValue, equals: 1)
  }
}
