// ArgumentBoxTests.swift: boxing and unboxing values.

import Forwardcast
import TestSupport
import Testing

private class Animal: @unchecked Sendable {}  // has no state
private protocol Barking: AnyObject {}
private final class Dog: Animal, Barking, @unchecked Sendable {}
private struct Wide: Equatable, Sendable { var numbers = (0..<12).map { $0 * 3 }, (a, b, c, d) = (1.0, 2.0, 3.0, 4.0) }
private final class Counter {
  var count = 0
}
private final class Sheet: ArgumentCopying {
  var text: String
  init(_ text: String) { self.text = text }
  func argumentCopy() -> Sheet { Sheet(text) }
}

@Suite("Argument boxes")
struct ArgumentBoxTests {
  @Test("a clipped text ends with an ellipsis only if it was cut")
  func clipping() {
    let text = String(repeating: "ы", count: 130)
    expect(clipped(text), equals: text)
    expect(clipped(text, to: 2), equals: "ыы…")
  }

  @Test("a value of any size unboxes unchanged")
  func exact() throws {
    try expect(ArgumentBox(Wide()).unbox(as: Wide.self), equals: Wide())
    try expect(ArgumentBox("text").unbox(as: String.self), equals: "text")
    let pair = try ArgumentBox((1, "a")).unbox(as: (Int, String).self)
    expect(pair == (1, "a"))
    let double = try ArgumentBox({ (x: Int) in x * 2 }).unbox(as: ((Int) -> Int).self)
    expect(double(4), equals: 8)
    expect(try ArgumentBox(Int.self).unbox(as: Int.Type.self) == Int.self)
    try expect(ArgumentBox(MessageSelector("a:")).unbox(as: MessageSelector.self), equals: "a:")
    try expect(ArgumentBox([1: "a"]).unbox(as: [Int: String].self), equals: [1: "a"])
    let dog = Dog()
    expect(try ArgumentBox(dog).unbox(as: Dog.self) === dog)
    #expect(throws: UnboxingError.self) { try ArgumentBox(Wide()).unbox(as: String.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Int.self).unbox(as: String.Type.self) }
  }

  @Test("an object unboxes as its class, a superclass or a protocol, and as nothing else")
  func objects() throws {
    let dog = Dog()
    let box = ArgumentBox(dog as Animal)
    expect(try box.unbox(as: Animal.self) === dog)
    expect(try box.unbox(as: Dog.self) === dog)
    expect(try box.unbox(as: (any Barking).self) === dog)
    expect(try box.unbox(as: AnyObject.self) === dog)
    expect(try box.unbox(as: (any Barking)?.self) === dog)
    expect(try box.unbox(as: Any.self) as? Dog === dog)
    #expect(throws: UnboxingError.self) { try ArgumentBox(Animal()).unbox(as: Dog.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Animal()).unbox(as: (any Barking).self) }
    #expect(throws: UnboxingError.self) { try box.unbox(as: String.self) }
  }

  @Test("an optional unboxes as its value and a value as an optional, at any depth")
  func optionals() throws {
    try expect(ArgumentBox(5).unbox(as: Int?.self), equals: 5)
    try expect(ArgumentBox(5).unbox(as: Int??.self), equals: 5)
    try expect(ArgumentBox(Int?(5)).unbox(as: Int.self), equals: 5)
    try expect(ArgumentBox(Int??(5)).unbox(as: Int.self), equals: 5)
    try expect(ArgumentBox(Int??(5)).unbox(as: Int8?.self), equals: 5)
    try expect(ArgumentBox("a").unbox(as: String?.self), equals: "a")
    #expect(throws: UnboxingError.self) { try ArgumentBox(500).unbox(as: Int8?.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Int?(5)).unbox(as: String?.self) }
  }

  @Test("nil unboxes as any optional, and never as a value")
  func nothing() throws {
    for box in [ArgumentBox(Int?.none), ArgumentBox(String??.some(nil)), .weak(Dog?.none)] {
      expect(box.isNil)
      let (number, dog, text) = (
        try box.unbox(as: Int?.self), try box.unbox(as: Dog?.self), try box.unbox(as: String??.self)
      )
      expect(number == nil && dog == nil && text.flatMap { $0 } == nil)
      let error = #expect(throws: UnboxingError.self) { try box.unbox(as: Int.self) }
      expect(error?.found, equals: "nil")
    }
    let (some, void): (ArgumentBox, ArgumentBox) = (.init(Int?(0)), .init(()))
    expect(!some.isNil && !void.isNil)
    let any = try ArgumentBox(Int?.none).unbox(as: Any.self)
    expect(any is Int?)
  }

  @Test("an array unboxes element by element, or not at all")
  func arrays() throws {
    try expect(ArgumentBox([1, 2]).unbox(as: [UInt8].self), equals: [1, 2])
    try expect(ArgumentBox([1, 2] as [Any]).unbox(as: [Int].self), equals: [1, 2])
    try expect(ArgumentBox([[1], []]).unbox(as: [[Double]].self), equals: [[1], []])
    try expect(ArgumentBox([Dog()]).unbox(as: [Animal].self).count, equals: 1)
    try expect(ArgumentBox([1, nil]).unbox(as: [Int8?].self), equals: [1, nil])
    try expect(ArgumentBox([Any]()).unbox(as: [String].self), equals: [])
    #expect(throws: UnboxingError.self) { try ArgumentBox([1, 300]).unbox(as: [UInt8].self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox([1, "a"] as [Any]).unbox(as: [Int].self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox([1, nil]).unbox(as: [Int].self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(1).unbox(as: [Int].self) }
  }

  @Test("a box is copied like a value, and a reference in it is shared")
  func copies() throws {
    var numbers = ArgumentBox([1])
    let copy = numbers
    numbers = ArgumentBox([2])
    try expect(copy.unbox(as: [Int].self), equals: [1])
    let counter = Counter()
    let box = ArgumentBox(counter)
    let second = box
    try second.unbox(as: Counter.self).count = 3
    try expect(box.unbox(as: Counter.self).count, equals: 3)
  }

  @Test("a strong box retains its object; a weak and an unowned one do not")
  func references() throws {
    let counter = LeakCounter()
    func box(_ make: (Witness) -> ArgumentBox) -> ArgumentBox { make(Witness(counter)) }
    do {
      let strong = box { ArgumentBox($0) }
      expect(counter.alive, equals: 1)
      expect(!strong.isNil)
    }
    expect(counter.alive, equals: 0)
    let weak = box { ArgumentBox.weak($0) }
    let unowned = box { ArgumentBox.unowned($0) }
    expect(counter.alive, equals: 0)
    expect(weak.isNil)
    expect(unowned.isNil)
    let gone = try weak.unbox(as: Witness?.self)
    expect(gone == nil)
    #expect(throws: UnboxingError.self) { try weak.unbox(as: Witness.self) }
    let error = #expect(throws: UnboxingError.self) { try unowned.unbox(as: Witness?.self) }
    expect(error?.evidence, equals: "(the object was deallocated)")
    expect(error?.found, equals: "Witness")
    #expect(throws: UnboxingError.self) { try unowned.unbox(as: Any.self) }
  }

  @Test("a weak or unowned box of a living object unboxes as all the object's types")
  func livingReferences() throws {
    let dog = Dog()
    for box in [ArgumentBox.weak(dog), .unowned(dog)] {
      expect(try box.unbox(as: Dog.self) === dog)
      expect(try box.unbox(as: Animal?.self) === dog)
      expect(try box.unbox(as: (any Barking).self) === dog)
      expect(!box.isNil)
      let error = #expect(throws: UnboxingError.self) { try box.unbox(as: String.self) }
      expect(error?.found, equals: "Dog")
      expect(ObjectIdentifier(box.type), equals: ObjectIdentifier(Dog.self))
    }
  }

  @Test("a box is Sendable only if its value is known to be Sendable")
  func crossing() throws {
    expect(ArgumentBox(1).isSendable)
    expect(ArgumentBox("a").isSendable)
    let none = ArgumentBox(Int?.none)
    expect(none.isSendable)
    expect(ArgumentBox(Dog()).isSendable)
    expect(!ArgumentBox(Counter()).isSendable)
    expect(!ArgumentBox([Counter()]).isSendable)
    expect(ArgumentBox(uncheckedSendable: Counter()).isSendable)
    expect(!ArgumentBox.weak(Counter()).isSendable)
    func generic<T>(_ value: T) -> ArgumentBox { ArgumentBox(value) }
    expect(!generic(1).isSendable)
    expect(try ArgumentBox(1).converted(to: TypeEncoding("d")).isSendable)
  }

  @Test("an object that provides private copies is copied for each delivery")
  func privateCopies() throws {
    let sheet = Sheet("a")
    let copy = try ArgumentBox(sheet).copiedForDelivery().unbox(as: Sheet.self)
    expect(copy !== sheet)
    expect(copy.text, equals: "a")
    let optional = try ArgumentBox(Sheet?(sheet)).copiedForDelivery().unbox(as: Sheet.self)
    expect(optional !== sheet)
    let counter = Counter()
    expect(try ArgumentBox(counter).copiedForDelivery().unbox(as: Counter.self) === counter)
    expect(try ArgumentBox.weak(sheet).copiedForDelivery().unbox(as: Sheet.self) === sheet)
  }

  @Test("an unboxing error names the wanted and the found type and shows the value")
  func refusals() {
    let error = #expect(throws: UnboxingError.self) { try ArgumentBox(300).unbox(as: UInt8.self) }
    expect(error?.wanted, equals: "UInt8")
    expect(error?.found, equals: "Int")
    expect(error.map { "\($0)" }, equals: "wanted UInt8, found Int (300)")
    let long = #expect(throws: UnboxingError.self) {
      try ArgumentBox(String(repeating: "x", count: 500)).unbox(as: Int.self)
    }
    expect((long?.description.count ?? 0) < 120)
    let encoded = #expect(throws: UnboxingError.self) { try ArgumentBox("a").converted(to: TypeEncoding("q")) }
    expect(encoded?.found, equals: "String")
    expect(encoded?.wanted.contains("(q)") == true)
  }

  @Test("@ holds any value, and other encodings the Swift values with that encoding")
  func encodings() throws {
    func fits(_ box: ArgumentBox, _ encoding: String) throws -> Bool {
      let type = try TypeEncoding(encoding)
      return (try? box.converted(to: type)) != nil
    }
    let values: [ArgumentBox] = [.init(1), .init("a"), .init(Dog()), .init(Int?.none), .init([1]), .init(Wide())]
    for value in values { expect(try fits(value, "@")) }
    var memory = 7
    let pointer = withUnsafeMutablePointer(to: &memory) { $0 }
    let rows: [(ArgumentBox, fits: [String], not: [String])] = [
      (.init("a"), ["@\"String\"", "@\"NSString\"", "*", "r*"], ["@\"Dog\"", "#", ":", "q", "B", "^v", "{Wide}"]),
      (
        .init(Dog()), ["@\"Dog\"", "@\"Animal\"", "@\"NSString\""], ["@\"String\"", "#", ":", "@?", "q", "{Dog}", "v"]
      ),
      (.init(MessageSelector("a")), [":"], ["#", "*", "@\"String\"", "q"]),
      (.init(Int.self), ["#"], [":", "@?", "q"]),
      (.init({ () in }), ["@?"], ["#", ":"]),
      (.init(Wide()), ["{Wide}", "{Wide=q}", "{?=q}"], ["{Point}", "q", "@\"Wide\""]),
      (.init(pointer), ["^q", "^v"], ["^d", "*", "q", "^{Wide}"]),
      (.init(true), ["B"], ["c", "q", "d"]),
      (.init(()), ["v"], ["q", "B"]),
      (.init(Int?.none), ["@\"String\"", "#", ":", "*", "^v", "@?", "v"], ["q", "d", "B", "{Wide}"]),
    ]
    for row in rows {
      for encoding in row.fits { expect(try fits(row.0, encoding), "\(row.0) as \(encoding)") }
      for encoding in row.not { expect(try !fits(row.0, encoding), "\(row.0) as \(encoding)") }
    }
  }

  @Test("a box is described as in a call")
  func descriptions() {
    expect(ArgumentBox("a\"b").description, equals: #""a\"b""#)
    expect(ArgumentBox(Int?.none).description, equals: "nil")
    expect(ArgumentBox(Int?(3)).description, equals: "3")
    expect(ArgumentBox(String?("a")).description, equals: #""a""#)
    expect(ArgumentBox([1, 2]).description, equals: "[1, 2]")
    expect(ArgumentBox(Int.self).description, equals: "Int.self")
    expect(ArgumentBox(MessageSelector("a:b:")).description, equals: "a:b:")
  }

  @Test("an error shortens a long value, even one of few characters")
  func longEvidence() {
    let long = ["e" + String(repeating: "\u{301}", count: 10_000), String(repeating: "é", count: 61)]
    for text in long {
      let error = #expect(throws: UnboxingError.self) { try ArgumentBox(text).unbox(as: Int.self) }
      expect(error?.evidence.hasSuffix("…)") == true)
      expect(error?.evidence.utf8.count ?? 0 < 500)
    }
    let short = String(repeating: "é", count: 58)
    let error = #expect(throws: UnboxingError.self) { try ArgumentBox(short).unbox(as: Int.self) }
    expect(error?.evidence, equals: "(\"\(short)\")")
  }
}
