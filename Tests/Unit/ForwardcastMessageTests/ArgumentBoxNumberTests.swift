// ArgumentBoxNumberTests.swift: conversions between all number types at their limits.

import Forwardcast
import TestSupport
import Testing

/// An integer wider than those of the standard library, with the members that conversions use.
private struct Wide: FixedWidthInteger, UnsignedInteger {
  typealias Words = [UInt]
  static let bitWidth = 256
  var high, low: UInt128

  init(high: UInt128, low: UInt128) { (self.high, self.low) = (high, low) }
  init(integerLiteral value: UInt64) { self.init(high: 0, low: UInt128(value)) }
  init(_truncatingBits bits: UInt) { self.init(high: 0, low: UInt128(bits)) }

  var description: String { "wide" }
  var words: [UInt] { [low, high].flatMap { [UInt(truncatingIfNeeded: $0), UInt(truncatingIfNeeded: $0 >> 64)] } }
  var trailingZeroBitCount: Int { low == 0 ? 128 + high.trailingZeroBitCount : low.trailingZeroBitCount }
  var leadingZeroBitCount: Int { high == 0 ? 128 + low.leadingZeroBitCount : high.leadingZeroBitCount }
  var nonzeroBitCount: Int { high.nonzeroBitCount + low.nonzeroBitCount }
  var byteSwapped: Wide { Wide(high: low.byteSwapped, low: high.byteSwapped) }

  static func < (one: Wide, other: Wide) -> Bool { (one.high, one.low) < (other.high, other.low) }
  static func &= (one: inout Wide, other: Wide) { one = Wide(high: one.high & other.high, low: one.low & other.low) }
  static func |= (one: inout Wide, other: Wide) { one = Wide(high: one.high | other.high, low: one.low | other.low) }
  static func ^= (one: inout Wide, other: Wide) { one = Wide(high: one.high ^ other.high, low: one.low ^ other.low) }
  static func &<<= (one: inout Wide, other: Wide) {
    let count = Int(other.low % 256)
    one = Wide(high: one.high << count | one.low << (count - 128) | one.low >> (128 - count), low: one.low << count)
  }
  static func &>>= (one: inout Wide, other: Wide) {
    let count = Int(other.low % 256)
    one = Wide(high: one.high >> count, low: one.low >> count | one.high << (128 - count) | one.high >> (count - 128))
  }
  static func + (one: Wide, other: Wide) -> Wide {
    let (low, carries) = one.low.addingReportingOverflow(other.low)
    return Wide(high: one.high + other.high + (carries ? 1 : 0), low: low)
  }
  static func - (one: Wide, other: Wide) -> Wide {
    let (low, borrows) = one.low.subtractingReportingOverflow(other.low)
    return Wide(high: one.high - other.high - (borrows ? 1 : 0), low: low)
  }
  static func * (one: Wide, other: Wide) -> Wide { unused() }
  static func / (one: Wide, other: Wide) -> Wide { unused() }
  static func % (one: Wide, other: Wide) -> Wide { unused() }
  static func *= (one: inout Wide, other: Wide) { unused() }
  static func /= (one: inout Wide, other: Wide) { unused() }
  static func %= (one: inout Wide, other: Wide) { unused() }
  func addingReportingOverflow(_: Wide) -> (partialValue: Wide, overflow: Bool) { unused() }
  func subtractingReportingOverflow(_: Wide) -> (partialValue: Wide, overflow: Bool) { unused() }
  func multipliedReportingOverflow(by: Wide) -> (partialValue: Wide, overflow: Bool) { unused() }
  func dividedReportingOverflow(by: Wide) -> (partialValue: Wide, overflow: Bool) { unused() }
  func remainderReportingOverflow(dividingBy: Wide) -> (partialValue: Wide, overflow: Bool) { unused() }
  func multipliedFullWidth(by: Wide) -> (high: Wide, low: Wide) { unused() }
  func dividingFullWidth(_: (high: Wide, low: Wide)) -> (quotient: Wide, remainder: Wide) { unused() }
}

private func unused() -> Never { fatalError("no conversion calculates with it") }

@Suite("Numbers in boxes")
struct ArgumentBoxNumberTests {
  @Test("an integer beyond 128 bits unboxes only as its own type, and a smaller one like any other number")
  func widerThanAll() throws {
    let small = ArgumentBox(Wide(high: 0, low: 7))
    try expect(small.unbox(as: UInt8.self), equals: 7)
    try expect(small.unbox(as: Double.self), equals: 7)
    let large = ArgumentBox(Wide(high: 0, low: .max))
    try expect(large.unbox(as: UInt128.self), equals: .max)
    let beyond = ArgumentBox(Wide(high: 1, low: .max))
    try expect(beyond.unbox(as: Wide?.self)?.high, equals: 1)
    #expect(throws: UnboxingError.self) { try beyond.unbox(as: UInt128.self) }
    #expect(throws: UnboxingError.self) { try beyond.unbox(as: Int.self) }
    #expect(throws: UnboxingError.self) { try beyond.converted(to: TypeEncoding("T")) }
  }

  static let integers: [any (FixedWidthInteger & Sendable).Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
    UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
  ]
  static let floats: [any (BinaryFloatingPoint & Sendable).Type] = {
    var floats: [any (BinaryFloatingPoint & Sendable).Type] = [Float.self, Double.self]
    #if arch(x86_64)
      floats.append(Float80.self)
    #endif
    #if !(os(macOS) && arch(x86_64))
      floats.append(Float16.self)
    #endif
    return floats
  }()

  /// The values of `I` at and just outside the limits of every integer type.
  private func borders<I: FixedWidthInteger>(of type: I.Type) -> [I] {
    var values: Set<I> = [I.min, I.max, 0, 1]
    for other in Self.integers {
      func add<J: FixedWidthInteger>(_ other: J.Type) {
        for edge in [J.min, J.max] {
          guard let value = I(exactly: edge) else { continue }
          values.insert(value)
          if value < I.max { values.insert(value + 1) }
          if value > I.min { values.insert(value - 1) }
        }
      }
      add(other)
    }
    for bits in [11, 24, 53, 64] where bits < I.bitWidth - 1 {
      let power: I = 1 << bits
      values.formUnion([power - 1, power, power + 1])
    }
    return values.sorted()
  }

  private func borders<F: BinaryFloatingPoint>(of type: F.Type) -> [F] {
    var values: [F] = [
      0, -0.0, 0.5, -0.5, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
      .infinity, -.infinity, .nan, F.pi,
    ]
    for other in Self.integers {
      func add<J: FixedWidthInteger>(_ other: J.Type) {
        for edge in [J.min, J.max] { values += [F(edge), F(edge).nextUp, F(edge).nextDown] }
      }
      add(other)
    }
    for other in Self.floats {
      func add<G: BinaryFloatingPoint>(_ other: G.Type) {
        let edge = F(G.greatestFiniteMagnitude)
        values += [edge, edge.nextUp, edge.nextDown, F(G.leastNonzeroMagnitude), F(G(1).nextUp)]
      }
      add(other)
    }
    return values
  }

  private func same<T: BinaryFloatingPoint>(_ left: T?, _ right: T?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left == right && left.sign == right.sign || left.isNaN && right.isNaN
  }

  @Test("an integer unboxes as another integer type exactly if that can hold it")
  func integersToIntegers() {
    func check<I: FixedWidthInteger & Sendable, J: FixedWidthInteger>(_ from: I.Type, _ to: J.Type) {
      for value in borders(of: I.self) {
        let given = try? ArgumentBox(value).unbox(as: J.self)
        expect(given, equals: J(exactly: value), "\(I.self) \(value) as \(J.self)")
      }
    }
    for from in Self.integers { for to in Self.integers { check(from, to) } }
  }

  @Test("an integer unboxes as floating point exactly if that can hold it")
  func integersToFloats() {
    func check<I: FixedWidthInteger & Sendable, F: BinaryFloatingPoint>(_ from: I.Type, _ to: F.Type) {
      for value in borders(of: I.self) {
        let given = try? ArgumentBox(value).unbox(as: F.self)
        expect(same(given, F(exactly: value)), "\(I.self) \(value) as \(F.self)")
      }
    }
    for from in Self.integers { for to in Self.floats { check(from, to) } }
  }

  @Test("floating point unboxes as an integer exactly if it is integral and fits")
  func floatsToIntegers() {
    func check<F: BinaryFloatingPoint & Sendable, I: FixedWidthInteger>(_ from: F.Type, _ to: I.Type) {
      for value in borders(of: F.self) {
        let given = try? ArgumentBox(value).unbox(as: I.self)
        expect(given, equals: I(exactly: value), "\(F.self) \(value) as \(I.self)")
      }
    }
    for from in Self.floats { for to in Self.integers { check(from, to) } }
  }

  @Test("floating point rounds to the nearest value of another type and is refused out of its range")
  func floatsToFloats() {
    func check<F: BinaryFloatingPoint & Sendable, G: BinaryFloatingPoint>(_ from: F.Type, _ to: G.Type) {
      for value in borders(of: F.self) {
        let rounded = G(value)
        let expected = rounded.isInfinite && value.isFinite ? nil : rounded
        expect(same(try? ArgumentBox(value).unbox(as: G.self), expected), "\(F.self) \(value) as \(G.self)")
      }
    }
    for from in Self.floats { for to in Self.floats { check(from, to) } }
  }

  @Test("Bool does not unbox as a number, nor a number as Bool")
  func truthIsNoNumber() {
    for type in Self.integers {
      func check<I: FixedWidthInteger & Sendable>(_ type: I.Type) {
        #expect(throws: UnboxingError.self) { try ArgumentBox(true).unbox(as: I.self) }
        #expect(throws: UnboxingError.self) { try ArgumentBox(I(1)).unbox(as: Bool.self) }
      }
      check(type)
    }
    #expect(throws: UnboxingError.self) { try ArgumentBox(1.0).unbox(as: Bool.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(false).unbox(as: Double.self) }
  }

  @Test("text does not unbox as a number, nor a number as text")
  func textIsNoNumber() {
    #expect(throws: UnboxingError.self) { try ArgumentBox("7").unbox(as: Int.self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(7).unbox(as: String.self) }
  }

  @Test(
    "an integer converts to an encoded integer type exactly or not at all",
    arguments: zip("csilqCSILQtT", [8, 16, 32, 64, 64, 8, 16, 32, 64, 64, 128, 128]))
  func encodedIntegers(letter: Character, bits: Int) throws {
    let signed = letter.isLowercase
    let type = try TypeEncoding(String(letter))
    let (low, high): (Int128, UInt128) =
      signed
      ? (Int128.min >> (128 - bits), UInt128(Int128.max >> (128 - bits))) : (0, UInt128.max >> (128 - bits))
    try expect(ArgumentBox(high).converted(to: type).unbox(as: UInt128.self), equals: high)
    try expect(ArgumentBox(low).converted(to: type).unbox(as: Int128.self), equals: low)
    if bits < 128 || signed {
      #expect(throws: UnboxingError.self) { try ArgumentBox(high + 1).converted(to: type) }
    }
    if low > .min { #expect(throws: UnboxingError.self) { try ArgumentBox(low - 1).converted(to: type) } }
    #expect(throws: UnboxingError.self) { try ArgumentBox(0.5).converted(to: type) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Double.nan).converted(to: type) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(true).converted(to: type) }
    #expect(throws: UnboxingError.self) { try ArgumentBox("1").converted(to: type) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(Int?.none).converted(to: type) }
    try expect(ArgumentBox(2.0).converted(to: type).unbox(as: Int.self), equals: 2)
    try expect(ArgumentBox(Int?(2)).converted(to: type).unbox(as: Int.self), equals: 2)
  }

  @Test("numbers convert to f and d by rounding, and are refused if out of range or an inexact integer")
  func encodedFloats() throws {
    let (float, double, long) = (try TypeEncoding("f"), try TypeEncoding("d"), try TypeEncoding("D"))
    expect(try ArgumentBox(0.1).converted(to: float).value as? Float == 0.1)
    expect(try ArgumentBox(Float(0.1)).converted(to: double).value as? Double == Double(Float(0.1)))
    #expect(throws: UnboxingError.self) { try ArgumentBox(1e39).converted(to: float) }
    expect(try ArgumentBox(Double.infinity).converted(to: float).value as? Float == .infinity)
    expect(try ArgumentBox(16_777_216).converted(to: float).value as? Float == 16_777_216)
    #expect(throws: UnboxingError.self) { try ArgumentBox(16_777_217).converted(to: float) }
    expect(try ArgumentBox(1 << 53).converted(to: double).value as? Double == 0x1p53)
    #expect(throws: UnboxingError.self) { try ArgumentBox((1 << 53) + 1).converted(to: double) }
    try expect(ArgumentBox(0.25).converted(to: long).unbox(as: Double.self), equals: 0.25)
    #expect(throws: UnboxingError.self) { try ArgumentBox(true).converted(to: double) }
  }
}
