// TypeEncodingError.swift: why a text is not a type encoding.

/// Why a text is not a type encoding, and at which byte.
///
///     do { _ = try MethodSignature("v@:&") } catch {
///       error.code          // .unknownType
///       error.byteOffset    // 3
///       "\(error)"          // unknown type at byte 3 of "v@:&"
///     }
public struct TypeEncodingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The broken rule. More rules may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The rule in words. The text of an error begins with it.
    public let description: String

    /// The text ends where a type, or the rest of a type, is expected.
    public static var unexpectedEnd: Code { Code(description: "unexpected end") }
    /// A byte that starts no known type.
    public static var unknownType: Code { Code(description: "unknown type") }
    /// No digit where a count, width, position or offset is expected.
    public static var numberExpected: Code { Code(description: "number expected") }
    /// A number with a leading 0. The description of the parsed type would lose the 0.
    public static var leadingZero: Code { Code(description: "leading zero") }
    /// A number above ``Limits/size``.
    public static var numberTooLarge: Code { Code(description: "number too large") }
    /// Text after a complete type.
    public static var trailingText: Code { Code(description: "text after the type") }
    /// A closing bracket is missing.
    public static var bracketExpected: Code { Code(description: "closing bracket expected") }
    /// A struct or union with neither name nor members.
    public static var emptyRecord: Code { Code(description: "record without name and members") }
    /// A byte that is not allowed in a name.
    public static var invalidName: Code { Code(description: "invalid character in a name") }
    /// A member without a quoted name after members with names. Bit-fields may lack a name.
    public static var memberNameExpected: Code { Code(description: "quoted member name expected") }
    /// A bit-field that is not the member of a record.
    public static var misplacedBitField: Code { Code(description: "bit-field outside a record") }
    /// A bit-field with more bits than its type.
    public static var bitFieldTooWide: Code { Code(description: "bit-field too wide") }
    /// A complex number whose parts are not numbers.
    public static var complexPartExpected: Code { Code(description: "number type expected after 'j'") }
    /// A block signature without the block itself, `@?`, after the result.
    public static var blockExpected: Code { Code(description: "'@?' expected as first block argument") }
    /// A method signature whose first argument is not `@` or `#`.
    public static var receiverExpected: Code { Code(description: "receiver '@' or '#' expected") }
    /// A method signature whose second argument is not `:`.
    public static var selectorExpected: Code { Code(description: "selector ':' expected") }
    /// More than ``Limits/length`` bytes of text.
    public static var tooLong: Code { Code(description: "text too long") }
    /// More than ``Limits/depth`` nested types.
    public static var tooDeep: Code { Code(description: "types nested too deeply") }
    /// A type of more than ``Limits/size`` bytes.
    public static var typeTooLarge: Code { Code(description: "type too large") }
  }

  /// Limits of the input, so that untrusted text costs little.
  public enum Limits {
    /// The bytes of a text: 65,536.
    public static let length = 1 << 16
    /// Nested types, counting pointers, arrays, records and block signatures: 64.
    public static let depth = 64
    /// The bytes of one type, and the largest number: 2⁴⁷, or 2¹⁸ with a 32-bit `Int`. No sum of
    /// sizes in a text of ``length`` bytes overflows.
    public static let size = Int.bitWidth > 32 ? 1 << 47 : 1 << 18
  }

  /// The kind of error.
  public var code: Code { parts.code }
  /// The whole text.
  public var encoding: String { parts.encoding }
  /// The offset into `encoding.utf8`; the length of the text if something is missing at its end.
  public var byteOffset: Int { parts.byteOffset }

  private struct Parts: Hashable, Sendable {
    let code: Code
    let encoding: String
    let byteOffset: Int
  }

  /// Stored as one reference, because each function that an error passes through copies the error.
  private indirect enum Storage: Hashable, Sendable { case parts(Parts) }

  private let storage: Storage
  private var parts: Parts {
    switch storage {
    case .parts(let parts): parts
    }
  }

  @inline(never)
  init(code: Code, encoding: String, byteOffset: Int) {
    storage = .parts(Parts(code: code, encoding: encoding, byteOffset: byteOffset))
  }

  /// The rule, the byte and the text. A long text is shortened to the part around the byte.
  public var description: String { "\(code) at byte \(byteOffset) of \(excerpt)" }

  private var excerpt: String {
    let bytes = encoding.utf8
    guard bytes.count > 100 else { return String(reflecting: encoding) }
    let from = max(0, byteOffset - 40)
    let text = String(decoding: bytes.dropFirst(from).prefix(80), as: UTF8.self)
    return "\(from > 0 ? "…" : "")\(String(reflecting: text))\(from + 80 < bytes.count ? "…" : "")"
  }
}
