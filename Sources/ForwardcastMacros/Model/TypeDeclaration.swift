// TypeDeclaration.swift: a protocol, class or actor and its members.
// Part of the macro program: Model. See DESIGN.md, "The attributes".

/// What an attribute is attached to, as far as its text tells.
struct TypeDeclaration {
  /// The word that declares it: `protocol`, `class`, `actor`, or what else there is.
  let keyword: String
  let keywordPosition: Int
  let attributes: [Attribute]
  let modifiers: [Modifier]
  /// The name as written, backticks included.
  let name: String
  let namePosition: Int
  /// The tokens of a generic parameter clause or primary associated types.
  let generics: Range<Int>?
  /// The tokens of each type after the colon.
  let inherited: [Range<Int>]
  /// The tokens of a `where` clause.
  let whereClause: Range<Int>?
  let documentation: [String]
  var items: [MemberItem]

  var members: [Member] { items.compactMap(\.member) }
  var plainName: String { name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name }

  func attribute(_ short: String) -> Attribute? { attributes.first { $0.isOurs(short) } }

  static let accessLevels: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]

  /// The access level that is written, if any.
  var access: String? { modifiers.first { Self.accessLevels.contains($0.word) && $0.detail == nil }?.word }
}

/// Something that cannot be carried, and the tokens that are to blame.
struct Problem {
  enum Severity: String { case error, warning }

  struct Fix {
    let title: String
    /// The bytes to replace, as offsets into the declaration.
    let offsets: Range<Int>
    let text: String
  }

  var severity = Severity.error
  let message: String
  /// The bytes to blame, as offsets into the declaration.
  let offsets: Range<Int>
  var fixes: [Fix] = []
}
