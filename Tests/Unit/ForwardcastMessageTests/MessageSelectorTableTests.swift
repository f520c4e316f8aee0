// MessageSelectorTableTests.swift: the name table with threads and with hostile names.

@testable import Forwardcast
import TestSupport
import Testing

@Suite("Message selectors: the name table")
struct MessageSelectorTableTests {
  @Test("threads that intern the same names concurrently get one selector for each")
  func concurrentInterning() async throws {
    let names = (0..<400).map { "concurrentInterning\($0 % 200):\($0 < 200 ? "" : "x:")" }
    let answers = try await withThrowingTaskGroup(of: [MessageSelector].self) { group in
      for thread in 0..<16 {
        group.addTask {
          // Every thread starts elsewhere, so that different threads intern names first.
          let start = thread * names.count / 16
          let turned = Array(names[start...] + names[..<start])
          let selectors = try turned.map { try MessageSelector($0) }
          let split = names.count - start
          return Array(selectors[split...] + selectors[..<split])
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    expect(answers.count, equals: 16)
    for answer in answers { expect(answer, equals: answers[0]) }
    expect(answers[0].map(\.name), equals: names)
    expect(Set(answers[0]).count, equals: names.count)
  }

  @Test("threads that evaluate the same literals concurrently get the same selectors")
  func concurrentLiterals() async {
    let answers = await withTaskGroup(of: Set<[MessageSelector]>.self) { group in
      for _ in 0..<16 {
        group.addTask {
          var seen: Set<[MessageSelector]> = []
          for _ in 0..<500 {
            seen.insert(["one", "oneOfTwo:", "twoOfTwo:", "longEnoughForThreeWords:more:", "cafe\u{301}"])
          }
          return seen
        }
      }
      return await group.reduce(into: Set()) { $0.formUnion($1) }
    }
    expect(answers.count, equals: 1)
    expect(answers.first?.map(\.name).prefix(3), equals: ["one", "oneOfTwo:", "twoOfTwo:"])
  }

  @Test("looking up unknown or malformed names, and counting colons, interns nothing")
  func lookupInternsNothing() async {
    // In a separate process, since other tests intern names concurrently.
    await #expect(processExitsWith: .success) {
      let present = try MessageSelector("present:" as String)
      let before = SelectorNames.count
      for index in 0..<bound(2_000, full: 20_000) {
        let name = "lookedUp\(index):"
        try #require(MessageSelector(known: name) == nil)
        try #require(MessageSelector(known: name + "text after") == nil)
        try #require(try MessageSelector.numberOfArguments(inName: name) == 1)
      }
      try #require(throws: MessageSelectorError.self) { try MessageSelector("not a name" as String) }
      try #require(throws: MessageSelectorError.self) { try MessageSelector(swiftName: "+(_:_:)") }
      try #require(SelectorNames.count == before)
      try #require(MessageSelector(known: "present:") == present)
      _ = try MessageSelector("newName:" as String)
      try #require(SelectorNames.count == before + 1)
      _ = try MessageSelector("newName:" as String)
      try #require(SelectorNames.count == before + 1)
    }
  }

  @Test("of random hostile names exactly the grammatical ones are accepted", arguments: [0x5EED_0001 as UInt64])
  func hostileNames(seed: UInt64) async throws {
    print("hostile names: seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    var previous = "onAddMsg:msgData:"
    let rounds = bound(8_000, full: 200_000)
    for round in 0..<rounds {
      if round % 1000 == 0 { await Task.yield() }
      let name = HostileNames.next(after: previous, using: &random)
      if name.utf8.count < 200 { previous = name }
      let scalars = Array(name.unicodeScalars)
      let expected = ReferenceGrammar.arity(of: scalars)
      do {
        let arity = try MessageSelector.numberOfArguments(inName: name)
        if arity != expected { Issue.record("seed \(seed), round \(round): accepted \(scalars), arity \(arity)") }
        accepted += 1
        if round % 16 == 0 {
          let selector = try MessageSelector(name)
          expect(selector.name == name && selector.numberOfArguments == arity)
          expect(selector.parts.count, equals: max(arity, 1))
        }
      } catch {
        if expected != nil { Issue.record("seed \(seed), round \(round): refused \(scalars): \(error)") }
        if !ReferenceGrammar.blames(scalars, error) {
          Issue.record("seed \(seed), round \(round): wrong evidence for \(scalars): \(error)")
        }
      }
      // It may throw, but not crash.
      _ = try? MessageSelector(swiftName: name)
    }
    // Both results must occur often.
    expect(accepted > rounds / 10 && accepted < rounds / 10 * 9)
  }
}

/// Names of characters that are likely to confuse a parser, or mutations of the previous name.
private enum HostileNames {
  private static let pieces: [String] = [
    "a", "Z", "_", "9", ":", ":", ":", "::", " ", "\0", "\u{7F}", "(", ")", "`", "$", "-", "é", "e\u{301}", "\u{301}",
    "\u{300}\u{591}", "\u{37E}", "\u{1FEF}", "\u{200D}", "\u{200B}", "\u{FE0F}", "\u{600}", "界", "한", "👩‍👧", "🇩🇪",
    "\u{FFFD}", "\u{FFFE}", "\u{E000}", "\u{10FFFD}", "\u{EFFFD}", "\u{EFFFE}", "\u{1680}", "\u{180E}", "\u{3000}",
    "\u{D7FF}", "×", "÷", "·", "µ", "word", "init", "with", "subscript", "To",
  ]

  static func next(after previous: String, using random: inout SeededGenerator) -> String {
    switch random.below(10) {
    case 0 where random.below(16) == 0:
      return String(repeating: pieces.randomElement(using: &random) ?? "a", count: random.below(1100))
    case 0...4:
      return (0..<random.below(9)).map { _ in pieces.randomElement(using: &random) ?? "a" }.joined()
    case 5...7:
      let plain = ["a", "b", "_", "Msg", "é", ":", ":", "界", "7"]
      return (0..<random.below(9)).map { _ in plain.randomElement(using: &random) ?? "a" }.joined()
    case 8:
      return String(
        String.UnicodeScalarView(
          (0..<random.below(6)).compactMap { _ in Unicode.Scalar(UInt32(random.below(0x11_0000))) }))
    default:
      var scalars = Array(previous.unicodeScalars)
      let place = random.below(scalars.count + 1)
      if place < scalars.count, random.below(2) == 0 { scalars.remove(at: place) }
      scalars.insert(
        contentsOf: (pieces.randomElement(using: &random) ?? "a").unicodeScalars, at: min(place, scalars.count))
      return String(String.UnicodeScalarView(scalars))
    }
  }
}

/// An independent implementation of the grammar, as a table of ranges and a split at colons.
private enum ReferenceGrammar {
  private static let heads: [ClosedRange<UInt32>] =
    [
      0x41...0x5A, 0x61...0x7A, 0x5F...0x5F, 0xA8...0xA8, 0xAA...0xAA, 0xAD...0xAD, 0xAF...0xAF, 0xB2...0xB5,
      0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0xFF, 0x100...0x2FF, 0x370...0x37D, 0x37F...0x167F,
      0x1681...0x180D, 0x180F...0x1DBF, 0x1E00...0x1FEE, 0x1FF0...0x1FFF, 0x200B...0x200D, 0x202A...0x202E,
      0x203F...0x2040, 0x2054...0x2054, 0x2060...0x206F, 0x2070...0x20CF, 0x2100...0x218F, 0x2460...0x24FF,
      0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F, 0x3031...0x303F,
      0x3040...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F, 0xFE30...0xFE44, 0xFE47...0xFFFD,
    ] + (1...14).map { ($0 << 16)...(($0 << 16) + 0xFFFD) }
  private static let others: [ClosedRange<UInt32>] = [
    0x30...0x39, 0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F,
  ]

  private static func isIdentifier(_ word: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let head = word.first, heads.contains(where: { $0.contains(head.value) }) else { return false }
    return word.dropFirst().allSatisfy { scalar in (heads + others).contains { $0.contains(scalar.value) } }
  }

  private static func isHopeful(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
    scalars.split(separator: ":").allSatisfy(isIdentifier)
  }

  static func arity(of scalars: [Unicode.Scalar]) -> Int? {
    guard !scalars.isEmpty, bytes(scalars[...]) <= 1024, isHopeful(scalars[...]) else { return nil }
    let colons = scalars.count { $0 == ":" }
    return colons == 0 || scalars.last == ":" ? colons : nil
  }

  /// True if `error` names the first byte after which no valid name is possible.
  static func blames(_ scalars: [Unicode.Scalar], _ error: MessageSelectorError) -> Bool {
    switch error.code {
    case .empty: return scalars.isEmpty
    case .tooLong: return error.byteOffset == 1024 && bytes(scalars[...]) > 1024
    case .textAfterLastColon:
      let last = scalars.lastIndex(of: ":") ?? scalars.endIndex
      return isHopeful(scalars[...]) && bytes(scalars[...last]) == error.byteOffset
    default:
      var offset = 0
      let end = scalars.firstIndex { scalar in
        defer { offset += UTF8.width(scalar) }
        return offset == error.byteOffset
      }
      guard let end else { return false }
      return isHopeful(scalars[..<end]) && !isHopeful(scalars[...end])
    }
  }

  private static func bytes(_ scalars: ArraySlice<Unicode.Scalar>) -> Int {
    scalars.reduce(0) { $0 + UTF8.width($1) }
  }
}
