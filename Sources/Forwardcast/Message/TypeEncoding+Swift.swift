// TypeEncoding+Swift.swift: encodings of Swift types.

// `TypeEncoding` is part of this module's interface.
@_exported import ForwardcastEncoding

extension TypeEncoding {
  /// The encoding of a Swift type in signatures.
  ///
  /// | Swift | encoding |
  /// |---|---|
  /// | `Int`, `Int8` … `Int128` and the unsigned types | `q`, `c` `s` `i` `q` `t`, `Q` `C` `S` `I` `Q` `T` |
  /// | `Bool`, `Float`, `Double`, `Float80`, `Void` | `B`, `f`, `d`, `D`, `v` |
  /// | `String` | `@"String"` |
  /// | classes, actors, `Any` and other existentials | `@` |
  /// | metatypes; selectors; closures | `#`; `:`; `@?` |
  /// | `UnsafePointer<T>`, `UnsafeMutablePointer<T>` | `r^` or `^`, then `T`'s encoding; for bytes `r*`, `*` |
  /// | raw and opaque pointers | `r^v`, `^v` |
  /// | an optional of a type in the previous five rows | as without the optional |
  /// | any other type | `{Name}` with its size and alignment |
  ///
  /// A type whose name is not a record name, such as a tuple, is `{?}` with its size and alignment.
  public init(of type: any Any.Type) {
    if type == Void.self {
      self = .void
    } else if let scalar = Scalar.swiftTypes.first(where: { $0.type == type })?.scalar {
      self.init(.scalar(scalar))
    } else if let reference = Self.reference(type) {
      self = reference
    } else if let optional = type as? any OptionalType.Type, let wrapped = Self.reference(optional.wrappedType) {
      self = wrapped
    } else {
      self.init(record: String(describing: type), measured: Self.measure(type))
    }
  }

  private static let string = TypeEncoding(.object(name: "String"))

  /// The encoding of a type that Objective-C passes as a reference; `nil` for other types.
  private static func reference(_ type: any Any.Type) -> TypeEncoding? {
    if type == String.self { return string }
    if type == MessageSelector.self { return .selector }
    if type is AnyObject.Type { return .object }
    if let pointer = type as? any PointerType.Type { return pointer.encoding }
    if type == UnsafeRawPointer.self { return .pointer(toValuesOf: Void.self, [.const]) }
    if type == UnsafeMutableRawPointer.self || type == OpaquePointer.self { return .pointer(toValuesOf: Void.self, []) }
    // Casts cannot distinguish these kinds of metadata. Their numbers belong to Swift's stable ABI
    // on Apple systems and are the same on Linux.
    switch unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee {
    case 0x303, 0x307: return .object  // existentials
    case 0x302: return .block  // functions
    case 0x304, 0x306: return .classObject  // metatypes
    default: return nil
    }
  }

  private static func measure<Value>(_: Value.Type) -> TypeLayout {
    TypeLayout(size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
  }

  fileprivate static func pointer(toValuesOf type: any Any.Type, _ qualifiers: [Qualifier]) -> TypeEncoding {
    if type == Int8.self || type == UInt8.self { return TypeEncoding(.cString, qualifiers: qualifiers) }
    return TypeEncoding(.pointer(to: TypeEncoding(of: type)), qualifiers: qualifiers)
  }
}

extension TypeEncoding {
  /// The Swift type with its encoding, as in errors: `Int (q)`.
  package var swiftName: String {
    let name: String? =
      switch kind {
      case .scalar(let scalar): Scalar.swiftTypes.first { $0.scalar == scalar }.map { "\($0.type)" }
      case .object(let name): name ?? "AnyObject"
      case .structure(let record): record.name == "?" ? nil : record.name
      case .selector: "MessageSelector"
      case .void: "Void"
      default: nil
      }
    return "\(name ?? meaning) (\(self))"
  }
}

extension TypeEncoding.Scalar {
  /// Swift's scalar types with their encodings. If several types have the same encoding, a box is
  /// converted to the last of them.
  static let swiftTypes: [(type: any Any.Type, scalar: TypeEncoding.Scalar)] = [
    (Int.self, MemoryLayout<Int>.size == 8 ? .longLong : .int),
    (UInt.self, MemoryLayout<UInt>.size == 8 ? .unsignedLongLong : .unsignedInt),
    (Bool.self, .bool), (Double.self, .double), (Float.self, .float), (WideFloat.self, .longDouble),
    (Int64.self, .longLong), (UInt64.self, .unsignedLongLong), (Int64.self, .long), (UInt64.self, .unsignedLong),
    (Int32.self, .int), (UInt32.self, .unsignedInt), (Int16.self, .short), (UInt16.self, .unsignedShort),
    (Int8.self, .char), (UInt8.self, .unsignedChar), (Int128.self, .int128), (UInt128.self, .unsignedInt128),
  ]
}

private protocol PointerType {
  static var encoding: TypeEncoding { get }
}

extension UnsafePointer: PointerType {
  static var encoding: TypeEncoding { .pointer(toValuesOf: Pointee.self, [.const]) }
}

extension UnsafeMutablePointer: PointerType {
  static var encoding: TypeEncoding { .pointer(toValuesOf: Pointee.self, []) }
}
