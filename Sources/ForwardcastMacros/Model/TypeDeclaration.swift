// TypeDeclaration.swift: a protocol, class or actor and its members.

/// What an attribute is attached to, as far as its text tells.
struct TypeDeclaration {
  /// The text that all positions are of.
  let source: SourceText
  /// The word that declares it: `protocol`, `class`, `actor`, or what else there is.
  let keyword: String
  let keywordPosition: Int
  private(set) var attributes: [Attribute]
  let modifiers: [Modifier]
  /// The name as written, backticks included.
  var name = ""
  var namePosition: Int
  /// The tokens of a generic parameter clause or primary associated types.
  var generics: Range<Int>?
  /// The tokens of each type after the colon.
  var inherited: [Range<Int>] = []
  /// The tokens of a `where` clause.
  var whereClause: Range<Int>?
  let documentation: [String]
  /// The declarations around it: it is no more visible than these.
  var around: [TypeDeclaration] = []
  var items: [MemberItem] = []
  /// Whether an attribute of it or of a member stands for the global actor that it is said to be.
  private(set) var isMarked = false

  var members: [Member] { items.compactMap(\.member) }
  /// Whether the declaration is one of Objective-C: its requirements may be optional.
  var isObjectiveC: Bool { attributes.contains { $0.name == "objc" } }
  var plainName: String { name.withoutBackticks }
  /// The bytes of the word that declares it.
  var keywordOffsets: Range<Int> { source.offsets(keywordPosition..<keywordPosition + 1) }

  func attribute(_ short: String) -> Attribute? { attributes.first { $0.isOurs(short) } }

  /// The names between the angle brackets of a protocol.
  var primaryTypes: [String] { (generics ?? 0..<0).filter { source[$0].isWord }.map { source.text($0) } }

  /// The types that a protocol declares itself.
  var associatedTypes: [NamedType] {
    members.compactMap { $0.kind == .other("associatedtype") ? $0.namedType : nil }
  }

  /// Takes attributes of that name for the global actor which it is said to be.
  mutating func mark(actor: String) {
    func mark(_ attributes: inout [Attribute]) {
      for index in attributes.indices where !attributes[index].hasArguments {
        guard attributes[index].name == actor || attributes[index].shortName == actor else { continue }
        attributes[index].isStatedActor = true
        isMarked = true
      }
    }
    mark(&attributes)
    for index in items.indices {
      guard case .member(var member) = items[index] else { continue }
      mark(&member.attributes)
      items[index] = .member(member)
    }
  }

  /// The isolation that the declaration states; that of `actor`, which `isolatedTo:` names, where no attribute stands for it.
  func isolation(or actor: String?) -> Isolation? {
    Isolation(modifiers, attributes) ?? (isMarked ? nil : actor.map(Isolation.init(actor:)))
  }

  static let accessLevels: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]

  /// The access level that is written, if any.
  var access: String? { modifiers.first { Self.accessLevels.contains($0.word) && $0.detail == nil }?.word }

  /// What keeps public members from being symbols of their own, with a blank: each stands where it is used.
  var inClient: String { memberAccess == "public " ? "@export(implementation) " : "" }

  /// The access of members that are as visible as the declaration, with a blank; nothing where that is the narrowest there is.
  var memberAccess: String { ["", "package ", "public "][visibility] }

  /// 2 where every module sees the declaration, 1 where those of its package do, else 0. What an extension extends is not known.
  private var visibility: Int {
    let own = keyword == "extension" || access == "public" || access == "open" ? 2 : access == "package" ? 1 : 0
    return around.map(\.visibility).reduce(own, min)
  }
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
