// TypeEncoding+Letters.swift: types and qualifiers of one letter.

extension TypeEncoding {
  /// A C number, character or Boolean type, encoded as one letter. The raw value is the letter.
  public enum Scalar: UInt8, Hashable, Sendable, CaseIterable {
    /// `c`
    case char = 0x63
    /// `C`
    case unsignedChar = 0x43
    /// `s`
    case short = 0x73
    /// `S`
    case unsignedShort = 0x53
    /// `i`
    case int = 0x69
    /// `I`
    case unsignedInt = 0x49
    /// `l`: C's `long`, eight bytes wherever pointers have eight.
    case long = 0x6C
    /// `L`
    case unsignedLong = 0x4C
    /// `q`
    case longLong = 0x71
    /// `Q`
    case unsignedLongLong = 0x51
    /// `t`
    case int128 = 0x74
    /// `T`
    case unsignedInt128 = 0x54
    /// `f`
    case float = 0x66
    /// `d`
    case double = 0x64
    /// `D`
    case longDouble = 0x44
    /// `B`
    case bool = 0x42

    /// True for an integer or `bool`.
    public var isInteger: Bool { self != .float && self != .double && self != .longDouble }

    /// The name of the type in C.
    public var meaning: String {
      let words = "\(self)".reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
      return words.hasSuffix("int128") ? words.dropLast("int128".count) + "__int128" : words
    }
  }

  /// How a value is passed, as a letter before its type. The raw value is the letter.
  public enum Qualifier: UInt8, Hashable, Sendable, CaseIterable {
    /// `r`
    case const = 0x72
    /// `n`
    case `in` = 0x6E
    /// `N`
    case `inout` = 0x4E
    /// `o`
    case out = 0x6F
    /// `O`
    case bycopy = 0x4F
    /// `R`
    case byref = 0x52
    /// `V`
    case oneway = 0x56
    /// `A`: C's `_Atomic`, the one qualifier that can change size and alignment.
    case atomic = 0x41

    /// The qualifier as a word: its keyword or, for C's `_Atomic`, `atomic`.
    public var meaning: String { "\(self)" }
  }

  /// `v`
  public static var void: TypeEncoding { TypeEncoding(.void) }
  /// `@`, an object of any class.
  public static var object: TypeEncoding { TypeEncoding(.object(name: nil)) }
  /// `@?`, a block without a signature.
  public static var block: TypeEncoding { TypeEncoding(.block(signature: nil)) }
  /// `#`
  public static var classObject: TypeEncoding { TypeEncoding(.classObject) }
  /// `:`
  public static var selector: TypeEncoding { TypeEncoding(.selector) }
  /// `*`
  public static var cString: TypeEncoding { TypeEncoding(.cString) }
  /// `?`
  public static var unknown: TypeEncoding { TypeEncoding(.unknown) }

  /// `c`
  public static var char: TypeEncoding { TypeEncoding(.scalar(.char)) }
  /// `C`
  public static var unsignedChar: TypeEncoding { TypeEncoding(.scalar(.unsignedChar)) }
  /// `s`
  public static var short: TypeEncoding { TypeEncoding(.scalar(.short)) }
  /// `S`
  public static var unsignedShort: TypeEncoding { TypeEncoding(.scalar(.unsignedShort)) }
  /// `i`
  public static var int: TypeEncoding { TypeEncoding(.scalar(.int)) }
  /// `I`
  public static var unsignedInt: TypeEncoding { TypeEncoding(.scalar(.unsignedInt)) }
  /// `l`
  public static var long: TypeEncoding { TypeEncoding(.scalar(.long)) }
  /// `L`
  public static var unsignedLong: TypeEncoding { TypeEncoding(.scalar(.unsignedLong)) }
  /// `q`
  public static var longLong: TypeEncoding { TypeEncoding(.scalar(.longLong)) }
  /// `Q`
  public static var unsignedLongLong: TypeEncoding { TypeEncoding(.scalar(.unsignedLongLong)) }
  /// `t`
  public static var int128: TypeEncoding { TypeEncoding(.scalar(.int128)) }
  /// `T`
  public static var unsignedInt128: TypeEncoding { TypeEncoding(.scalar(.unsignedInt128)) }
  /// `f`
  public static var float: TypeEncoding { TypeEncoding(.scalar(.float)) }
  /// `d`
  public static var double: TypeEncoding { TypeEncoding(.scalar(.double)) }
  /// `D`
  public static var longDouble: TypeEncoding { TypeEncoding(.scalar(.longDouble)) }
  /// `B`
  public static var bool: TypeEncoding { TypeEncoding(.scalar(.bool)) }

  /// `@"Name"`, an object of a class, protocols or both: `Name`, `<Protocol>` or `Name<Protocol>`.
  /// `@""`, which some compilers write, names no class. The result is `nil` for a name that is too
  /// long, or that has a quotation mark or control character.
  public static func object(named name: String) -> TypeEncoding? {
    let fits = name.utf8.allSatisfy { TypeEncodingParser.isQuotable($0) }
    return fits && name.utf8.count < TypeEncodingError.Limits.length / 2 ? TypeEncoding(.object(name: name)) : nil
  }
}
