// TypeEncoding.swift: one Objective-C type, as a tree.

/// One type in Objective-C's type encoding, as a tree that prints itself back.
///
///     let rect = try TypeEncoding("{Rect={Point=dd}{Size=dd}}")
///     rect.layout?.size        // 32
///     rect.layout?.alignment   // 8
///     rect.meaning             // "struct Rect"
///     rect.description         // "{Rect={Point=dd}{Size=dd}}"
///
/// Two encodings are equal when their texts are: names, quoted member names and qualifiers count, a layout known
/// from elsewhere does not.
/// See ``matchesLeniently(_:)`` for a comparison that looks past them.
public struct TypeEncoding: Hashable, Sendable {
  /// What the type is, without its qualifiers.
  public let kind: Kind

  /// The qualifiers in front of the type, in the order they were written.
  public let qualifiers: [Qualifier]

  /// Size and alignment on this machine, found once when the encoding was read.
  ///
  /// `nil` where the encoding does not say: `v`, `?`, a bare bit-field, a record without members such as
  /// `{Name}`, and everything that contains one of those other than behind a pointer. Never 0 by default:
  /// `{Name=}` is a struct without members and has size 0.
  public let layout: TypeLayout?

  /// What a type is made of.
  ///
  /// More cases may join with new compilers, so a `switch` outside this package needs a `default`.
  public enum Kind: Hashable, Sendable {
    /// `v`: nothing is returned; behind a pointer, memory of any type.
    case void
    /// A number, character or truth value: one letter of ``Scalar``.
    case scalar(Scalar)
    /// `*`: a pointer to characters that end with a zero byte.
    case cString
    /// `@`: an object. `@"Name"` and `@"Name<Protocol>"` keep the text between the quotes.
    case object(name: String?)
    /// `@?`: a block. `@?<v@?q>` also says what it returns and takes: first the result, then the block
    /// itself, then the caller's arguments.
    case block(signature: [TypeEncoding]?)
    /// `#`: a class.
    case classObject
    /// `:`: a selector.
    case selector
    /// `?`: a type the encoding cannot say; `^?` is how a pointer to a function is written.
    case unknown
    /// `^`: a pointer.
    indirect case pointer(to: TypeEncoding)
    /// `[12i]`: `count` elements in a row.
    indirect case array(count: Int, element: TypeEncoding)
    /// `{Name=…}`: a struct.
    case structure(Record)
    /// `(Name=…)`: a union.
    case union(Record)
    /// `jd`: a complex number of two parts.
    case complex(Scalar)
    /// `b3`, or `b0I3` as compilers for other runtimes than Apple's write it.
    case bitField(BitField)
  }

  /// The name and members of a struct or union.
  public struct Record: Hashable, Sendable {
    /// The tag, `"?"` for a record without one, and `""` for the old spelling `{=…}`.
    public let name: String
    /// The members in order, or `nil` when the encoding gives the name only.
    public let members: [Member]?
  }

  /// One member of a struct or union.
  public struct Member: Hashable, Sendable {
    /// The quoted name, `""` where the member has none, or `nil` when the encoding leaves names out, as it may for single
    /// bit-fields without a name.
    public let name: String?
    public let type: TypeEncoding
  }

  /// A member of so many bits.
  public struct BitField: Hashable, Sendable {
    /// How many bits. 0 ends the unit in which the field before it lies.
    public let width: Int
    /// The first bit, counted from the start of the record, where the encoding says it.
    public let position: Int?
    /// The integer type it was declared with, where the encoding says it.
    public let container: Scalar?
  }

  /// Reads one type, from the first byte of `text` to the last.
  ///
  /// - Throws: ``TypeEncodingError`` with the broken rule and the offset of the byte that broke it.
  /// - Complexity: O(*n*) in the length of `text`, which has at most ``TypeEncodingError/Limits/length`` bytes.
  public init(_ text: String) throws(TypeEncodingError) {
    var parser = try TypeEncodingParser(text)
    self = try parser.readType(in: TypeEncodingParser.Place(allowsBitField: true))
    guard parser.isAtEnd else { throw parser.error(.trailingText) }
  }

  package init(_ kind: Kind, qualifiers: [Qualifier] = []) {
    (self.kind, self.qualifiers) = (kind, qualifiers)
    layout = TypeLayout.find(kind, qualifiers, on: .current)
  }

  /// A record whose members are known to the Swift compiler only; without a name where `name` is none that could be read.
  package init(record name: String, measured layout: TypeLayout) {
    kind = .structure(Record(name: TypeEncodingParser.isRecordName(name) ? name : "?", members: nil))
    qualifiers = []
    self.layout = layout
  }

  /// Size and alignment on `target`, by the same rules as ``layout``.
  ///
  /// The encoding itself may differ between targets, since a C `char` has a sign on some only. A record that was
  /// made from a Swift type has a layout on this machine only.
  ///
  /// - Complexity: O(*n*) in the length of the encoding.
  public func layout(on target: TypeLayout.Target) -> TypeLayout? {
    if target == .current { return layout }
    return TypeLayout.find(kind, qualifiers, on: target)
  }

  /// Whether both are the same type with the same names and qualifiers.
  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.qualifiers == right.qualifiers
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(qualifiers)
  }

  /// Whether a value of one type can stand for the other as far as the encodings can tell.
  ///
  /// Class and protocol names, block signatures, member names and every qualifier but `A` are ignored, and a record
  /// without members matches one of the same name with members.
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
