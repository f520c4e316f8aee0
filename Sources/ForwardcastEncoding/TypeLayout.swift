// TypeLayout.swift: size and alignment.

/// The size and alignment of a type in bytes, as in the platform's C compiler. Encodings do not say
/// whether a struct is packed or over-aligned, so the layout assumes neither.
///
///     try TypeEncoding("{?=cq}").layout   // TypeLayout(size: 16, alignment: 8)
public struct TypeLayout: Hashable, Sendable {
  /// The size of one value; usually a multiple of the alignment.
  public let size: Int
  /// A power of two that divides the addresses of values.
  public let alignment: Int

  /// Creates a layout with these numbers.
  public init(size: Int, alignment: Int) { (self.size, self.alignment) = (size, alignment) }

  /// A platform with its own C layout rules. More platforms may be added, so a `switch` needs a
  /// `default`.
  public enum Target: String, Hashable, Sendable, CaseIterable {
    /// Linux on 64-bit Intel processors.
    case x86_64Linux = "x86_64-linux"
    /// Linux on 64-bit ARM processors.
    case aarch64Linux = "aarch64-linux"
    /// Apple's systems on Apple's processors.
    case arm64Apple = "arm64-apple"
    /// macOS and simulators on Intel processors.
    case x86_64Apple = "x86_64-apple"
    /// watchOS with pointers of four bytes.
    case arm64_32Apple = "arm64_32-apple"

    /// The platform of this program, or the most similar platform.
    public static var current: Target {
      #if canImport(Darwin) && arch(x86_64)
        .x86_64Apple
      #elseif canImport(Darwin) && arch(arm64_32)
        .arm64_32Apple
      #elseif canImport(Darwin)
        .arm64Apple
      #elseif arch(x86_64)
        .x86_64Linux
      #else
        .aarch64Linux
      #endif
    }

    var pointerSize: Int { self == .arm64_32Apple ? 4 : 8 }

    var longDoubleSize: Int { self == .arm64Apple || self == .arm64_32Apple ? 8 : 16 }

    /// True if unnamed bit-fields raise the alignment of their record.
    var unnamedBitFieldsAlign: Bool { self == .aarch64Linux || self == .arm64_32Apple }

    /// True if a bit-field begins at the next bit, whatever its declared type.
    var bitFieldsIgnoreUnits: Bool { self == .arm64_32Apple }
  }

  static func find(_ kind: TypeEncoding.Kind, _ qualifiers: [TypeEncoding.Qualifier], on target: Target) -> TypeLayout?
  {
    let plain: TypeLayout? =
      switch kind {
      case .void, .unknown, .bitField: nil
      case .scalar(let scalar): TypeLayout(scalar, on: target)
      case .cString, .object, .block, .classObject, .selector, .pointer: pointer(on: target)
      case .array(let count, let element): element.layout(on: target)?.repeated(count)
      case .structure(let record): RecordLayout.find(record, isUnion: false, on: target)
      case .union(let record): RecordLayout.find(record, isUnion: true, on: target)
      case .complex(let scalar): TypeLayout(scalar, on: target).repeated(2)
      }
    return qualifiers.contains(.atomic) ? plain?.atomic : plain
  }

  static func pointer(on target: Target) -> TypeLayout {
    TypeLayout(size: target.pointerSize, alignment: target.pointerSize)
  }

  init(_ scalar: TypeEncoding.Scalar, on target: Target) {
    let size =
      switch scalar {
      case .char, .unsignedChar, .bool: 1
      case .short, .unsignedShort: 2
      case .int, .unsignedInt, .float: 4
      case .long, .unsignedLong: target.pointerSize
      case .longLong, .unsignedLongLong, .double: 8
      case .int128, .unsignedInt128: 16
      case .longDouble: target.longDoubleSize
      }
    self.init(size: size, alignment: size)
  }

  /// The layout of an array, or `nil` on overflow. The parser rejects a type that overflows.
  private func repeated(_ count: Int) -> TypeLayout? {
    let (product, overflow) = size.multipliedReportingOverflow(by: count)
    return overflow ? nil : TypeLayout(size: product, alignment: alignment)
  }

  /// The layout of C's `_Atomic`. The size of a value of at most 16 bytes is rounded up to a power
  /// of two. The alignment equals that size, so one instruction can access the value. An empty
  /// value gets one byte.
  private var atomic: TypeLayout {
    if size == 0 { return TypeLayout(size: 1, alignment: alignment) }
    if size > 16 { return self }
    var power = 1
    while power < size { power *= 2 }
    return TypeLayout(size: power, alignment: power)
  }
}

/// A struct or union under construction: the bits in use, and the strictest alignment so far.
private struct RecordLayout {
  let isUnion: Bool
  let target: TypeLayout.Target
  /// `Int64`, since a record's number of bits may overflow a 32-bit `Int`.
  var bits: Int64 = 0
  var alignment = 1

  static func find(_ record: TypeEncoding.Record, isUnion: Bool, on target: TypeLayout.Target) -> TypeLayout? {
    guard let members = record.members else { return nil }
    var layout = RecordLayout(isUnion: isUnion, target: target)
    let hasNames = members.contains { $0.name != nil }
    for member in members {
      if case .bitField(let field) = member.type.kind {
        layout.add(field, isNamed: member.name.map { !$0.isEmpty } ?? (!hasNames && field.width > 0))
      } else if let size = member.type.layout(on: target) {
        layout.add(size)
      } else {
        return nil
      }
    }
    let bytes = Int(roundUp(layout.bits, to: 8) / 8)
    return TypeLayout(size: Int(roundUp(Int64(bytes), to: layout.alignment)), alignment: layout.alignment)
  }

  mutating func add(_ member: TypeLayout) {
    alignment = max(alignment, member.alignment)
    let start = isUnion ? 0 : roundUp(bits, to: member.alignment * 8)
    bits = max(bits, start + Int64(member.size) * 8)
  }

  /// Adds a bit-field at its encoded position. Without a position, adds it at the next bit or, if
  /// it would cross a unit of its declared type, at the next unit. A missing type (Apple omits it)
  /// counts as `unsigned int` or, for a wider field, as the smallest integer that holds the field.
  mutating func add(_ field: TypeEncoding.BitField, isNamed: Bool) {
    let guess: TypeEncoding.Scalar =
      field.width <= 32 ? .unsignedInt : field.width <= 64 ? .unsignedLongLong : .unsignedInt128
    let unit = TypeLayout(field.container ?? guess, on: target)
    let boundary = target.bitFieldsIgnoreUnits && field.width > 0 ? 1 : unit.alignment * 8
    var start = isUnion ? 0 : bits
    if field.width == 0 || Int(start % Int64(boundary)) + field.width > unit.size * 8 {
      start = roundUp(start, to: boundary)
    }
    if let position = field.position, !isUnion { start = max(bits, Int64(position)) }
    bits = max(bits, start + Int64(field.width))
    if isNamed || target.unnamedBitFieldsAlign { alignment = max(alignment, boundary / 8) }
  }
}

private func roundUp(_ value: Int64, to step: Int) -> Int64 {
  let step = Int64(step)
  return (value + step - 1) / step * step
}
