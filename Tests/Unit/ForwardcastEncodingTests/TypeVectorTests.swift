// TypeVectorTests.swift: compares layouts of types and frames with clang's.

import ForwardcastEncoding
import TestSupport
import Testing

@Suite("Layouts are the C compiler's")
struct TypeVectorTests {
  /// In the order of the vectors' columns, which is that of the generator.
  static let targets: [TypeLayout.Target] = [.x86_64Linux, .aarch64Linux, .arm64Apple, .x86_64Apple, .arm64_32Apple]

  /// One encoding and what clang measured for it on one target.
  struct Answer {
    let target: TypeLayout.Target
    let encoding: String
    let measure: String
  }

  /// The answers of a table. Each line has one encoding and a measure for each target.
  static func answers(_ table: String) -> [Answer] {
    table.split(separator: "\n").flatMap { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      var filled: [String] = []
      for (column, cell) in cells.enumerated() { filled.append(cell == "=" ? filled[column - 1] : cell) }
      return targets.indices.compactMap { index in
        filled[index] == "-"
          ? nil : Answer(target: targets[index], encoding: filled[index], measure: filled[index + targets.count])
      }
    }
  }

  static func words(_ layout: TypeLayout?) -> String {
    layout.map { "\($0.size)/\($0.alignment)" } ?? "none"
  }

  @Test("the size and alignment of a type equal sizeof and _Alignof on each target")
  func types() throws {
    let answers = Self.answers(TypeVectors.types)
    expect(answers.count >= 1_000)
    for answer in answers {
      let type = try TypeEncoding(answer.encoding)
      let layout = type.layout(on: answer.target)
      expect(Self.words(layout), equals: answer.measure, "\(answer.encoding) on \(answer.target.rawValue)")
      expect(type.description, equals: answer.encoding)
    }
  }

  @Test("quoted member and class names in instance variable types do not change the layout")
  func variables() throws {
    let answers = Self.answers(TypeVectors.variables)
    expect(answers.count >= 100)
    for answer in answers {
      let type = try TypeEncoding(answer.encoding)
      expect(
        Self.words(type.layout(on: answer.target)), equals: answer.measure,
        "\(answer.encoding) on \(answer.target.rawValue)")
      expect(type.description, equals: answer.encoding)
    }
  }

  @Test("an ambiguous encoding has the layout of the more common type")
  func ambiguities() throws {
    let answers = Self.answers(TypeVectors.ambiguous)
    expect(!answers.isEmpty)
    for answer in answers {
      let layout = try TypeEncoding(answer.encoding).layout(on: answer.target)
      expect(layout != nil)
      expect(Self.words(layout) != answer.measure, "\(answer.encoding) is not ambiguous")
    }
  }

  @Test("argument sizes, offsets and frame lengths equal those in the compiler's method tables")
  func methods() throws {
    let answers = Self.answers(MethodVectors.methods)
    expect(answers.count >= 800)
    for answer in answers {
      let signature = try MethodSignature(answer.encoding)
      let frame = signature.frame(on: answer.target)
      expect(frame.offsets, equals: signature.statedOffsets, "\(answer.encoding) on \(answer.target.rawValue)")
      expect(frame.length, equals: signature.statedFrameLength, "\(answer.encoding) on \(answer.target.rawValue)")
      expect(signature.description, equals: answer.encoding)
      var measures = answer.measure.split(separator: " ").map(String.init)[...]
      let returned = signature.returnType.kind == .void ? 0 : signature.returnType.layout(on: answer.target)?.size
      expect(returned.map { "\($0)" }, equals: measures.popFirst(), "\(answer.encoding) on \(answer.target.rawValue)")
      let arguments = signature.argumentLayouts(on: answer.target).dropFirst(2).map(Self.words)
      expect(arguments, equals: Array(measures), "\(answer.encoding) on \(answer.target.rawValue)")
    }
  }

  @Test("a signature without digits has the frame that the compiler's digits state for this machine")
  func digitsAreFoundAgain() throws {
    for answer in Self.answers(MethodVectors.methods) where answer.target == .current {
      let signature = try MethodSignature(answer.encoding)
      let bare = try MethodSignature(
        ([signature.returnType] + signature.argumentTypes).map(\.description).joined())
      expect(bare, equals: signature)
      expect(bare.argumentOffsets, equals: signature.statedOffsets)
      expect(bare.frameLength, equals: signature.statedFrameLength)
      expect(bare.statedFrameLength == nil)
    }
  }
}
