// TypeLayout.swift: size and alignment in bytes, found in one pass.
// Layer: Message. See DESIGN.md, "Type encodings".

/// How much room a value takes and where it may begin, in bytes, as the platform's C compiler has it.
///
///     try TypeEncoding("{?=cq}").layout   // TypeLayout(size: 16, alignment: 8)
///
/// A member's place follows from its type and the members before it, so one pass over the encoding is enough.
/// Encodings do not say that a struct is packed or over-aligned: such a struct is laid out as if it were not.
public struct TypeLayout: Hashable, Sendable {
  /// Bytes of one value; of a C type always a multiple of the alignment.
  public let size: Int
  /// Addresses of values are multiples of this power of two.
  public let alignment: Int

  /// A layout measured elsewhere.
  public init(size: Int, alignment: Int) {
    self.size = size
    self.alignment = alignment
  }

  /// What C compilers for different systems disagree about.
  public struct Target: Hashable, Sendable {
    /// For error messages and tests.
    public let name: String
    let pointerSize: Int
    let longDoubleSize: Int
    /// Whether bit-fields without a name raise the alignment of their record.
    let unnamedBitFieldsAlign: Bool

    /// Linux on 64-bit Intel processors.
    public static let x86_64Linux = Target("x86_64-linux", longDouble: 16)
    /// Linux on 64-bit ARM processors.
    public static let aarch64Linux = Target("aarch64-linux", longDouble: 16, unnamedBitFieldsAlign: true)
    /// macOS and its kin on Apple's processors.
    public static let arm64Apple = Target("arm64-apple", longDouble: 8)
    /// macOS and simulators on Intel processors.
    public static let x86_64Apple = Target("x86_64-apple", longDouble: 16)

    /// The machine this program was compiled for; where it is none of the four, the nearest with its pointer size.
    public static let current: Target = {
      #if canImport(Darwin) && arch(x86_64)
        return .x86_64Apple
      #elseif canImport(Darwin)
        let bytes = MemoryLayout<UnsafeRawPointer>.size
        return bytes == 8 ? .arm64Apple : Target("arm64_32-apple", longDouble: 8, pointer: bytes)
      #elseif arch(x86_64)
        return .x86_64Linux
      #else
        return .aarch64Linux
      #endif
    }()

    private init(_ name: String, longDouble: Int, pointer: Int = 8, unnamedBitFieldsAlign: Bool = false) {
      self.name = name
      longDoubleSize = longDouble
      pointerSize = pointer
      self.unnamedBitFieldsAlign = unnamedBitFieldsAlign
    }
  }
}

extension TypeLayout {
  /// The layout of one node, from the layouts of its parts.
  static func find(
    _ kind: TypeEncoding.Kind, _ qualifiers: [TypeEncoding.Qualifier], on target: Target,
    part: (TypeEncoding) -> TypeLayout?
  ) -> TypeLayout? {
    let plain: TypeLayout? =
      switch kind {
      case .void, .unknown, .bitField: nil
      case .scalar(let scalar): TypeLayout(scalar, on: target)
      case .cString, .object, .block, .classObject, .selector, .pointer: pointer(on: target)
      case .array(let count, let element): part(element)?.repeated(count)
      case .structure(let record): RecordLayout.find(record, isUnion: false, on: target, part: part)
      case .union(let record): RecordLayout.find(record, isUnion: true, on: target, part: part)
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

  /// `nil` when the product is no `Int`; the parser has refused such a type before.
  private func repeated(_ count: Int) -> TypeLayout? {
    let (product, overflow) = size.multipliedReportingOverflow(by: count)
    return overflow ? nil : TypeLayout(size: product, alignment: alignment)
  }

  /// C's `_Atomic`: what fits sixteen bytes grows to a power of two and is aligned to it, so that one instruction
  /// can move it; what has no bytes gets one.
  private var atomic: TypeLayout {
    if size == 0 { return TypeLayout(size: 1, alignment: alignment) }
    if size > 16 { return self }
    var power = 1
    while power < size { power *= 2 }
    return TypeLayout(size: power, alignment: power)
  }
}

/// A struct or union on its way: how many bits are taken, and the strictest alignment so far.
private struct RecordLayout {
  let isUnion: Bool
  let target: TypeLayout.Target
  var bits = 0
  var alignment = 1

  static func find(
    _ record: TypeEncoding.Record, isUnion: Bool, on target: TypeLayout.Target, part: (TypeEncoding) -> TypeLayout?
  ) -> TypeLayout? {
    guard let members = record.members else { return nil }
    var layout = RecordLayout(isUnion: isUnion, target: target)
    for member in members {
      if case .bitField(let field) = member.type.kind {
        layout.add(field, isNamed: member.name.map { !$0.isEmpty } ?? (field.width > 0))
      } else if let size = part(member.type) {
        layout.add(size)
      } else {
        return nil
      }
    }
    return TypeLayout(
      size: roundUp(roundUp(layout.bits, to: 8) / 8, to: layout.alignment), alignment: layout.alignment)
  }

  mutating func add(_ member: TypeLayout) {
    alignment = max(alignment, member.alignment)
    let start = isUnion ? 0 : roundUp(bits, to: member.alignment * 8)
    bits = max(bits, start + member.size * 8)
  }

  /// A field goes on where the one before it ended, unless it would cross the border of its declared type's units.
  ///
  /// The encoding of Apple's compilers does not say that type. Taken for it is `unsigned int`, or the smallest wider
  /// integer that holds the field: the usual declaration, though not the only one with that encoding.
  mutating func add(_ field: TypeEncoding.BitField, isNamed: Bool) {
    let guess: TypeEncoding.Scalar =
      field.width <= 32 ? .unsignedInt : field.width <= 64 ? .unsignedLongLong : .unsignedInt128
    let unit = TypeLayout(field.container ?? guess, on: target)
    var start = isUnion ? 0 : bits
    if field.width == 0 || start % (unit.alignment * 8) + field.width > unit.size * 8 {
      start = roundUp(start, to: unit.alignment * 8)
    }
    if let position = field.position, !isUnion { start = max(bits, position) }
    let end = start + field.width
    // A union counts whole bytes; a struct's next field may share the last byte.
    bits = max(bits, isUnion ? roundUp(end, to: 8) : end)
    if isNamed || target.unnamedBitFieldsAlign { alignment = max(alignment, unit.alignment) }
  }
}

private func roundUp(_ value: Int, to step: Int) -> Int {
  (value + step - 1) / step * step
}
