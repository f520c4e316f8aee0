// SwiftSignatureTests.swift: encodings and signatures made from Swift types.

import Forwardcast
import TestSupport
import Testing

@Suite("Encodings of Swift types")
struct SwiftSignatureTests {
  struct Color: Equatable { var red, green, blue: Double }
  struct Uneven { var number: Int, flag: Bool }
  struct Box<Value> { var value: Value }
  enum Direction { case left, right }
  final class Screen {}
  actor Store {}
  protocol Drawing {}
  protocol Listening: AnyObject {}
  protocol Holding<Item> { associatedtype Item }

  static let encodings: [(any Any.Type, String)] = [
    (Int.self, "q"), (UInt.self, "Q"), (Int8.self, "c"), (UInt8.self, "C"), (Int16.self, "s"), (UInt16.self, "S"),
    (Int32.self, "i"), (UInt32.self, "I"), (Int64.self, "q"), (UInt64.self, "Q"), (Int128.self, "t"),
    (UInt128.self, "T"), (Bool.self, "B"), (Float.self, "f"), (Double.self, "d"), (Void.self, "v"),
    (String.self, "@\"String\""), (Screen.self, "@"), (Store.self, "@"), (Any.self, "@"), (AnyObject.self, "@"),
    ((any Drawing).self, "@"), ((any Listening).self, "@"), ((any Holding<Int>).self, "@"), ((any Error).self, "@"),
    (Screen.Type.self, "#"), ((any Drawing.Type).self, "#"), (Int.Type.self, "#"), (MessageSelector.self, ":"),
    ((() -> Void).self, "@?"), ((@Sendable (Int) async throws -> Int).self, "@?"), (UnsafePointer<Int>.self, "r^q"),
    (UnsafeMutablePointer<Double>.self, "^d"), (UnsafePointer<CChar>.self, "r*"),
    (UnsafeMutablePointer<UInt8>.self, "*"), (UnsafeRawPointer.self, "r^v"), (UnsafeMutableRawPointer.self, "^v"),
    (OpaquePointer.self, "^v"), (UnsafePointer<UnsafePointer<Int>>.self, "r^r^q"),
    (UnsafePointer<Color>.self, "r^{Color}"), (Color.self, "{Color}"), (Direction.self, "{Direction}"),
    ([Int].self, "{Array<Int>}"), ([String: Int].self, "{Dictionary<String, Int>}"),
    (Box<[Int?]>.self, "{Box<Array<Optional<Int>>>}"), (Box<(Int) -> String>.self, "{Box<(Int) -> String>}"),
    ((Int, String).self, "{?}"), (Character.self, "{Character}"), (Range<Int>.self, "{Range<Int>}"),
  ]

  static let optionals: [(any Any.Type, String)] = [
    (Screen?.self, "@"), (String?.self, "@\"String\""), (Any?.self, "@"), ((any Listening)?.self, "@"),
    ((() -> Void)?.self, "@?"), (Screen.Type?.self, "#"), (UnsafePointer<Int>?.self, "r^q"),
    (MessageSelector?.self, ":"), (Int?.self, "{Optional<Int>}"), (Color?.self, "{Optional<Color>}"),
    (Screen??.self, "{Optional<Optional<Screen>>}"),
  ]

  @Test("each Swift type has an encoding that can be parsed again")
  func types() throws {
    for (type, text) in Self.encodings + Self.optionals {
      let encoding = TypeEncoding(of: type)
      expect(encoding.description, equals: text, "\(type)")
      try expect(TypeEncoding(text), equals: encoding, "\(type)")
    }
  }

  @Test("a type that is encoded by name has the layout of the Swift type")
  func layouts() throws {
    func checkLayout<Value>(of _: Value.Type) {
      let wanted = TypeLayout(size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
      expect(TypeEncoding(of: Value.self).layout, equals: wanted, "\(Value.self)")
    }
    checkLayout(of: Color.self)
    checkLayout(of: Uneven.self)
    checkLayout(of: Direction.self)
    checkLayout(of: (Int8, Int64).self)
    checkLayout(of: [Int].self)
    checkLayout(of: Int?.self)
    checkLayout(of: Int.self)
    checkLayout(of: Bool.self)
    checkLayout(of: UnsafePointer<Color>.self)
    checkLayout(of: Screen.self)
    expect(try TypeEncoding("{Color}").layout == nil)
    expect(TypeEncoding(of: Color.self).layout(on: .current) != nil)
  }

  @Test("a signature made from Swift types equals the one made from text")
  func signatures() throws {
    let row = MethodSignature(returning: Bool.self, taking: String.self, Int.self)
    expect(row.description, equals: "B@:@\"String\"q")
    try expect(row, equals: MethodSignature("B32@0:8@\"String\"16q24"))
    expect(row.argumentOffsets, equals: [0, 8, 16, 24])
    expect(row.frameLength, equals: 32)
    expect(row.statedFrameLength == nil)
    expect(MethodSignature(returning: Void.self).description, equals: "v@:")
    let colored = MethodSignature(returning: Void.self, taking: Color.self, Int32.self)
    expect(colored.description, equals: "v@:{Color}i")
    expect(colored.argumentOffsets, equals: [0, 8, 16, 40])
    expect(try colored.matches(MethodSignature("v@:{Color=ddd}i"), .lenient))
    expect(try !colored.matches(MethodSignature("v@:{Colour=ddd}i"), .lenient))
  }

  @Test("signatures are equal if their types are equal and in the same order")
  func madeTwice() {
    let first = MethodSignature(returning: Int.self, taking: Color.self, [UInt8].self)
    expect(MethodSignature(returning: Int.self, taking: Color.self, [UInt8].self), equals: first)
    expect(first.description, equals: "q@:{Color}{Array<UInt8>}")
    expect(MethodSignature(returning: Int.self, taking: [UInt8].self, Color.self) != first)
  }
}
