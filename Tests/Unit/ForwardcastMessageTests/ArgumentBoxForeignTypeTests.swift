// ArgumentBoxForeignTypeTests.swift: values that unbox as a related type.

import Forwardcast
import Foundation
import TestSupport
import Testing

private typealias Plain = (Int) -> Int
private typealias Crossing = @Sendable (Int) -> Int

@Suite("Boxes of related types")
struct ArgumentBoxForeignTypeTests {
  @Test("a Substring unboxes as a String and a String as a Substring")
  func substrings() throws {
    let part = "hello world".prefix(5)
    try expect(ArgumentBox(part).unbox(as: String.self), equals: "hello")
    try expect(ArgumentBox(part).unbox(as: String?.self), equals: "hello")
    try expect(ArgumentBox("hello").unbox(as: Substring.self), equals: "hello")
    try expect(ArgumentBox([part]).unbox(as: [String].self), equals: ["hello"])
    expect(try ArgumentBox(part).converted(to: TypeEncoding("@\"String\"")).value as? String == "hello")
    expect(try ArgumentBox(part).converted(to: TypeEncoding("*")).value as? String == "hello")
    #expect(throws: UnboxingError.self) { try ArgumentBox(part).unbox(as: Int.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(part).unbox(as: Character.self) }
    expect(try ArgumentBox(part).converted(to: TypeEncoding("@\"String\"")).isSendable)
  }

  @Test("a CGFloat unboxes like any other number")
  func cgFloat() throws {
    let half = CGFloat(0.5)
    try expect(ArgumentBox(half).unbox(as: Double.self), equals: 0.5)
    try expect(ArgumentBox(half).unbox(as: Float.self), equals: 0.5)
    try expect(ArgumentBox(CGFloat(3)).unbox(as: Int.self), equals: 3)
    try expect(ArgumentBox(3).unbox(as: CGFloat.self), equals: 3)
    try expect(ArgumentBox(0.5).unbox(as: CGFloat.self), equals: 0.5)
    try expect(ArgumentBox(Float(0.5)).unbox(as: CGFloat?.self), equals: 0.5)
    try expect(ArgumentBox([1, 2]).unbox(as: [CGFloat].self), equals: [1, 2])
    expect(try ArgumentBox(half).converted(to: TypeEncoding("d")).value as? Double == 0.5)
    expect(try ArgumentBox(3).converted(to: TypeEncoding("{CGFloat=d}")).value as? Double == 3)
    expect(try ArgumentBox(3).converted(to: TypeEncoding("{Optional<CGFloat>}")).unbox(as: CGFloat?.self) == 3)
    // Objective-C encodes CGFloat as double.
    final class Slider: MessageReceiver {
      static let signature = try? MethodSignature("d@:d")
      static let selectorTable = SelectorTable(for: Slider.self) {
        Responds(to: "half:", signature: signature) { (_: Slider, value: CGFloat) in value / 2 }
      }
    }
    try expect(Slider().send(Message<(Double) -> Double>("half:"), 3), equals: 1.5)
    try expect(Slider().send(Message<(CGFloat) -> CGFloat>("half:"), 3), equals: 1.5)
    #expect(throws: UnboxingError.self) { try ArgumentBox("3").converted(to: TypeEncoding("{CGFloat=d}")) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(half).unbox(as: Int.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(half).unbox(as: String.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox("0.5").unbox(as: CGFloat.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Int.max).unbox(as: CGFloat.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(true).unbox(as: CGFloat.self) }
  }

  @Test("a @Sendable closure unboxes as one that is not, but not the other way round")
  func closures() throws {
    let offset = 40
    let crossing: Crossing = { $0 + offset }
    try expect(ArgumentBox(crossing).unbox(as: Plain.self)(2), equals: 42)
    try expect(ArgumentBox(crossing).unbox(as: Plain?.self)?(2), equals: 42)
    try expect(ArgumentBox(crossing).unbox(as: Crossing.self)(2), equals: 42)
    let plain: Plain = { $0 + offset }
    #expect(throws: UnboxingError.self) { try ArgumentBox(plain).unbox(as: Crossing.self) }
    let throwing: @Sendable (Int) throws -> Int = { $0 }
    #expect(throws: UnboxingError.self) { try ArgumentBox(throwing).unbox(as: Plain.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(crossing).unbox(as: ((Int) -> String).self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(crossing).unbox(as: ((Int, Int) -> Int).self) }
    let writing: @Sendable (inout Int) -> Int = { $0 }
    #expect(throws: UnboxingError.self) { try ArgumentBox(writing).unbox(as: Plain.self) }
    let waiting: @Sendable (Int) async -> Int = { $0 }
    #expect(throws: UnboxingError.self) { try ArgumentBox(waiting).unbox(as: Plain.self) }
    let isolated: @MainActor @Sendable (Int) -> Int = { $0 }
    #expect(throws: UnboxingError.self) { try ArgumentBox(isolated).unbox(as: Plain.self) }
  }

  @Test("an unboxed closure retains the captures of the boxed one and releases them")
  func closureLifetime() throws {
    let counter = LeakCounter()
    func box() -> ArgumentBox {
      let witness = Witness(counter)
      let body: @Sendable () -> Int = { withExtendedLifetime(witness) { 1 } }
      return ArgumentBox(body)
    }
    do {
      let body = try box().unbox(as: (() -> Int).self)
      expect(counter.alive, equals: 1)
      expect(body(), equals: 1)
    }
    expect(counter.alive, equals: 0)
  }

  @Test("characters and substrings are quoted like strings")
  func quoted() {
    expect(ArgumentBox("hello".prefix(2)).description, equals: #""he""#)
    expect(ArgumentBox(Character("\n")).description, equals: #""\n""#)
    expect(ArgumentBox(Character?.some("a")).description, equals: #""a""#)
  }

  @Test("a description marks arguments beyond the colons")
  func beyondColons() {
    expect(Invocation("n:", arguments: [.init(1), .init("a")]).description, equals: #"n: 1 (beyond its colons: "a")"#)
    expect(Invocation("ping", arguments: [.init(1), .init(2)]).description, equals: "ping (beyond its colons: 1, 2)")
  }
}
