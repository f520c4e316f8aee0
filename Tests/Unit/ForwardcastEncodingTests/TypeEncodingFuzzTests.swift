// TypeEncodingFuzzTests.swift: parses random and mutated texts.

import ForwardcastEncoding
import TestSupport
import Testing

@Suite("Type encodings from anywhere")
struct TypeEncodingFuzzTests {
  /// Parses `text` both ways. Accepted text must print back, and an error must point into the text.
  /// - Returns: the number of accepted results.
  private func read(_ text: String, _ comment: Comment) -> Int {
    var accepted = 0
    do {
      let type = try TypeEncoding(text)
      accepted += 1
      expect(type.description, equals: text, comment)
      expect(type.matchesLeniently(type), comment)
      for target in TypeVectorTests.targets where (type.layout(on: target) == nil) != (type.layout == nil) {
        Issue.record(comment)
      }
      if let layout = type.layout {
        expect(layout.size >= 0 && layout.alignment.nonzeroBitCount == 1 && layout.alignment <= 16, comment)
      }
    } catch {
      expect(error.byteOffset >= 0 && error.byteOffset <= text.utf8.count, comment)
      expect(!"\(error)".isEmpty, comment)
    }
    do {
      let signature = try MethodSignature(text)
      accepted += 1
      expect(signature.description, equals: text, comment)
      expect(signature.argumentOffsets.count, equals: signature.numberOfArguments, comment)
      for target in TypeVectorTests.targets {
        expect(signature.frame(on: target).offsets.count, equals: signature.numberOfArguments, comment)
      }
    } catch {
      expect(error.byteOffset >= 0 && error.byteOffset <= text.utf8.count, comment)
    }
    return accepted
  }

  @Test("random text of encoding letters never crashes, and accepted text prints back unchanged")
  func random() async {
    let seed: UInt64 = 0x5EED_0001
    var numbers = SeededGenerator(seed: seed)
    let letters = Array("cCsSiIlLqQtTfdDBv*@#:?^bjrnNoORVA[]{}()=<>\"0123456789aZ_, &\u{0}é")
    var accepted = 0
    let rounds = bound(5_000, full: 100_000)
    for round in 0..<rounds {
      if round % 1000 == 0 { await Task.yield() }
      let text = String(
        (0..<Int.random(in: 0...24, using: &numbers)).map { _ in letters.randomElement(using: &numbers) ?? "i" })
      accepted += read(text, "seed \(seed), round \(round): \(text)")
    }
    expect(accepted > rounds / 100)
  }

  @Test("mutated encodings of real types never crash, and accepted text prints back unchanged")
  func mutated() async {
    let seed: UInt64 = 0x5EED_0002
    var numbers = SeededGenerator(seed: seed)
    let real = [TypeVectors.types, TypeVectors.variables, MethodVectors.methods].flatMap { TypeVectorTests.answers($0) }
      .map { Array($0.encoding.utf8) }.filter { $0.count <= 200 }
    let bytes = Array("{}()[]\"@?<>=^bjA0123456789iQdr:#".utf8)
    var accepted = 0
    let rounds = bound(5_000, full: 100_000)
    for round in 0..<rounds {
      if round % 1000 == 0 { await Task.yield() }
      var text = real.randomElement(using: &numbers) ?? []
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        let place = Int.random(in: 0...text.count, using: &numbers)
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0: text.insert(bytes.randomElement(using: &numbers) ?? 0, at: place)
        case 1 where place < text.count: text.remove(at: place)
        case 2 where place < text.count: text[place] = bytes.randomElement(using: &numbers) ?? 0
        case 3: text.insert(contentsOf: text[place...].prefix(8), at: place)
        default: text.append(contentsOf: (real.randomElement(using: &numbers) ?? []).prefix(12))
        }
      }
      let string = String(decoding: text, as: UTF8.self)
      accepted += read(string, "seed \(seed), round \(round): \(string)")
    }
    expect(accepted > rounds / 10)
  }
}
