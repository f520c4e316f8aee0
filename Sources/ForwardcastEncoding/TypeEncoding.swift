// TypeEncoding.swift: one Objective-C type, as a tree.

/// One type in Objective-C's type encoding, as a tree. Its description is the encoding.
///
///     let rect = try TypeEncoding("{Rect={Point=dd}{Size=dd}}")
///     rect.layout?.size        // 32
///     rect.layout?.alignment   // 8
///     rect.meaning             // "struct Rect"
///     rect.description         // "{Rect={Point=dd}{Size=dd}}"
///
/// Encodings are equal if their texts are, including names and qualifiers. For a looser comparison
/// see ``matchesLeniently(_:)``.
public struct TypeEncoding: Hashable, Sendable {
  /// The type without qualifiers.
  public let kind: Kind

  /// The qualifiers before the type, as written.
  public let qualifiers: [Qualifier]

  /// Size and alignment on this machine.
  ///
  /// `nil` if the encoding does not determine the layout: for `v`, `?`, a bare bit-field, a record
  /// without its members such as `{Name}` (unless made from a Swift type), and a type that contains
  /// one of these, except behind a pointer. `{Name=}` is an empty struct and has size 0.
  public let layout: TypeLayout?

  /// The form of a type. More cases may be added, so a `switch` elsewhere needs a `default`.
  public enum Kind: Hashable, Sendable {
    /// `v`: no result. Behind a pointer, it means memory of any type.
    case void
    /// A number, character or truth value.
    case scalar(Scalar)
    /// `*`: a pointer to characters that end with a zero byte.
    case cString
    /// `@`: an object. `@"Name"` and `@"Name<Protocol>"` have the quoted text as the name.
    case object(name: String?)
    /// `@?`: a block. `@?<v@?q>` has a signature: the result, the block itself, the arguments.
    case block(signature: [TypeEncoding]?)
    /// `#`: a class.
    case classObject
    /// `:`: a selector.
    case selector
    /// `?`: a type that cannot be encoded; `^?` is a pointer to a function.
    case unknown
    /// `^`: a pointer.
    indirect case pointer(to: TypeEncoding)
    /// `[12i]`: an array of `count` elements.
    indirect case array(count: Int, element: TypeEncoding)
    /// `{Name=…}`: a struct.
    case structure(Record)
    /// `(Name=…)`: a union.
    case union(Record)
    /// `jd`: a complex number.
    case complex(Scalar)
    /// A bit-field: `b3`, or `b0I3` for runtimes other than Apple's.
    case bitField(BitField)
  }

  /// The name and members of a struct or union.
  public struct Record: Hashable, Sendable {
    /// The tag; `"?"` for a record without a tag, `""` for the old spelling `{=…}`.
    public let name: String
    /// The members; `nil` if the encoding has only the name.
    public let members: [Member]?
  }

  /// One member of a struct or union.
  public struct Member: Hashable, Sendable {
    /// The quoted name, possibly empty; `nil` for unnamed bit-fields and encodings without names.
    public let name: String?
    /// The member's type.
    public let type: TypeEncoding
  }

  /// A bit-field.
  public struct BitField: Hashable, Sendable {
    /// The number of bits. A bit-field of width 0 makes the next field begin a new unit.
    public let width: Int
    /// The first bit, counted from the start of the record, if encoded.
    public let position: Int?
    /// The declared integer type, if encoded.
    public let container: Scalar?
  }

  /// Reads a text that consists of exactly one type.
  /// - Throws: ``TypeEncodingError`` with the broken rule and the offset of the byte that broke it.
  /// - Complexity: O(*n*) in the length of `text`, at most ``TypeEncodingError/Limits/length``.
  public init(_ text: String) throws(TypeEncodingError) {
    var parser = try TypeEncodingParser(text)
    self = try parser.readType(in: TypeEncodingParser.Place(allowsBitField: true))
    guard parser.isAtEnd else { throw parser.error(.trailingText) }
  }

  package init(_ kind: Kind, qualifiers: [Qualifier] = []) {
    (self.kind, self.qualifiers) = (kind, qualifiers)
    layout = TypeLayout.find(kind, qualifiers, on: .current)
  }

  /// A record whose members only the Swift compiler knows. Unnamed if `name` is not valid.
  package init(record name: String, measured layout: TypeLayout) {
    kind = .structure(Record(name: TypeEncodingParser.isRecordName(name) ? name : "?", members: nil))
    qualifiers = []
    self.layout = layout
  }

  /// The layout on `target`. A record made from a Swift type has a layout only on this machine. The
  /// encoding itself may differ between targets, because C's `char` is not signed on all targets.
  /// - Complexity: O(*n*) in the length of the encoding.
  public func layout(on target: TypeLayout.Target) -> TypeLayout? {
    if target == .current { return layout }
    return TypeLayout.find(kind, qualifiers, on: target)
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.qualifiers == right.qualifiers
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(qualifiers)
  }

  /// True if a value of one type can be used as a value of the other type, as far as the encodings
  /// say.
  ///
  /// Ignores class and protocol names, block signatures, member names, and all qualifiers but `A`.
  /// A record without its members matches a record of the same name.
  public func matchesLeniently(_ other: Self) -> Bool {
    guard qualifiers.contains(.atomic) == other.qualifiers.contains(.atomic) else { return false }
    switch (kind, other.kind) {
    case (.object, .object), (.block, .block): return true
    case (.pointer(let left), .pointer(let right)): return left.matchesLeniently(right)
    case (.array(let count, let left), .array(let otherCount, let right)):
      return count == otherCount && left.matchesLeniently(right)
    case (.structure(let left), .structure(let right)), (.union(let left), .union(let right)):
      guard left.name == right.name else { return false }
      guard let members = left.members, let others = right.members else { return true }
      return members.count == others.count && zip(members, others).allSatisfy { $0.type.matchesLeniently($1.type) }
    default: return kind == other.kind
    }
  }
}
