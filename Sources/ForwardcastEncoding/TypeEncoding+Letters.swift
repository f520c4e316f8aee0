// TypeEncoding+Letters.swift: the types and qualifiers that are one letter.

extension TypeEncoding {
  /// A C type of fixed size that is written as one letter, which is its raw value: in the order of the cases
  /// `c C s S i I l L q Q t T f d D B`.
  public enum Scalar: UInt8, Hashable, Sendable, CaseIterable {
    case char = 0x63
    case unsignedChar = 0x43
    case short = 0x73
    case unsignedShort = 0x53
    case int = 0x69
    case unsignedInt = 0x49
    /// C's `long`, eight bytes wherever pointers have eight.
    case long = 0x6C
    case unsignedLong = 0x4C
    case longLong = 0x71
    case unsignedLongLong = 0x51
    case int128 = 0x74
    case unsignedInt128 = 0x54
    case float = 0x66
    case double = 0x64
    case longDouble = 0x44
    case bool = 0x42

    /// Whether it counts in whole numbers, truth values included.
    public var isInteger: Bool {
      switch self {
      case .float, .double, .longDouble: false
      default: true
      }
    }

    /// The name C gives it.
    public var meaning: String {
      switch self {
      case .char: "char"
      case .unsignedChar: "unsigned char"
      case .short: "short"
      case .unsignedShort: "unsigned short"
      case .int: "int"
      case .unsignedInt: "unsigned int"
      case .long: "long"
      case .unsignedLong: "unsigned long"
      case .longLong: "long long"
      case .unsignedLongLong: "unsigned long long"
      case .int128: "__int128"
      case .unsignedInt128: "unsigned __int128"
      case .float: "float"
      case .double: "double"
      case .longDouble: "long double"
      case .bool: "bool"
      }
    }
  }

  /// A letter in front of a type that says how the value travels, not what it is. Its raw value is the letter: in the order of
  /// the cases `r n N o O R V A`.
  public enum Qualifier: UInt8, Hashable, Sendable, CaseIterable {
    case const = 0x72
    case `in` = 0x6E
    case `inout` = 0x4E
    case out = 0x6F
    case bycopy = 0x4F
    case byref = 0x52
    case oneway = 0x56
    /// C's `_Atomic`, the one qualifier that can change size and alignment.
    case atomic = 0x41

    /// The word Objective-C has for it.
    public var meaning: String { "\(self)" }
  }

  /// `v`
  public static var void: TypeEncoding { TypeEncoding(.void) }
  /// `@`, an object of any class.
  public static var object: TypeEncoding { TypeEncoding(.object(name: nil)) }
  /// `@?`, a block that does not say what it takes.
  public static var block: TypeEncoding { TypeEncoding(.block(signature: nil)) }
  /// `#`
  public static var classObject: TypeEncoding { TypeEncoding(.classObject) }
  /// `:`
  public static var selector: TypeEncoding { TypeEncoding(.selector) }
  /// `*`
  public static var cString: TypeEncoding { TypeEncoding(.cString) }
  /// `?`
  public static var unknown: TypeEncoding { TypeEncoding(.unknown) }

  // Numbers and truth values, each of the letter of its ``Scalar``.
  public static var char: TypeEncoding { TypeEncoding(.scalar(.char)) }
  public static var unsignedChar: TypeEncoding { TypeEncoding(.scalar(.unsignedChar)) }
  public static var short: TypeEncoding { TypeEncoding(.scalar(.short)) }
  public static var unsignedShort: TypeEncoding { TypeEncoding(.scalar(.unsignedShort)) }
  public static var int: TypeEncoding { TypeEncoding(.scalar(.int)) }
  public static var unsignedInt: TypeEncoding { TypeEncoding(.scalar(.unsignedInt)) }
  public static var long: TypeEncoding { TypeEncoding(.scalar(.long)) }
  public static var unsignedLong: TypeEncoding { TypeEncoding(.scalar(.unsignedLong)) }
  public static var longLong: TypeEncoding { TypeEncoding(.scalar(.longLong)) }
  public static var unsignedLongLong: TypeEncoding { TypeEncoding(.scalar(.unsignedLongLong)) }
  public static var int128: TypeEncoding { TypeEncoding(.scalar(.int128)) }
  public static var unsignedInt128: TypeEncoding { TypeEncoding(.scalar(.unsignedInt128)) }
  public static var float: TypeEncoding { TypeEncoding(.scalar(.float)) }
  public static var double: TypeEncoding { TypeEncoding(.scalar(.double)) }
  public static var longDouble: TypeEncoding { TypeEncoding(.scalar(.longDouble)) }
  public static var bool: TypeEncoding { TypeEncoding(.scalar(.bool)) }

  /// `@"Name"`, an object of the class or protocols named as Objective-C does: `Name`, `<Protocol>` or both.
  ///
  /// `nil` for a name the grammar has no place for: one with a quotation mark or control character. `@""`, which some
  /// compilers write, names no class.
  public static func object(named name: String) -> TypeEncoding? {
    let fits = name.utf8.allSatisfy { TypeEncodingParser.isQuotable($0) }
    return fits && name.utf8.count < TypeEncodingError.Limits.length / 2 ? TypeEncoding(.object(name: name)) : nil
  }
}
