// TypeDeclaration.swift: a type declaration and its members.

/// The declaration that an attribute is attached to, or that encloses it.
struct TypeDeclaration {
  let source: SourceText
  /// `protocol`, `class`, `actor` or another keyword.
  let keyword: String
  let keywordPosition: Int
  let attributes: [Attribute]
  let modifiers: [Modifier]
  var name = ""
  var namePosition: Int
  /// The generic parameter clause, or the primary associated types.
  var generics: Range<Int>?
  var inherited: [Range<Int>] = []
  var whereClause: Range<Int>?
  let documentation: [String]
  /// The enclosing declarations, innermost first, which limit its visibility.
  var around: [TypeDeclaration] = []
  var items: [Item<Member>] = [] {
    didSet { namedTypes = members.compactMap(\.namedType) }
  }
  private(set) var namedTypes: [NamedType] = []
  /// Whether the declaration or a member is marked with the global actor that the argument
  /// `isolatedTo:` names.
  var isMarked = false

  var members: [Member] { items.compactMap(\.element) }
  /// Whether this is an `@objc` declaration, which may have optional requirements.
  var isObjectiveC: Bool { attributes.contains { $0.name == "objc" } }
  var plainName: String { name.withoutBackticks }
  var keywordOffsets: Range<Int> { source.offsets(keywordPosition..<keywordPosition + 1) }

  func attribute(_ short: String) -> Attribute? { attributes.first { $0.isOurs(short) } }

  var primaryTypes: [String] { (generics ?? 0..<0).filter { source[$0].isWord }.map { source.text($0) } }

  var associatedTypes: [NamedType] { namedTypes.filter(\.isAssociated) }
  func hasType(_ name: String) -> Bool { namedTypes.contains { $0.name == name } }
  /// Whether a `typealias` of the protocol declares this name for a function type.
  func isFunction(_ name: String) -> Bool { namedTypes.contains { $0.name == name && $0.isFunction } }

  /// The stated isolation. If none is stated, isolation to `actor`, unless a member has `actor` as
  /// an attribute.
  func isolation(or actor: String?) -> Isolation? {
    Isolation(modifiers, attributes) ?? (isMarked ? nil : actor.map(Isolation.init(actor:)))
  }

  /// The advice for a class whose superclass may have a table.
  var adviceToInherit: String {
    let name = inherited.first.map { source.line($0) } ?? ""
    return "Is '\(name)' a receiver? Write '@Receiver(inheriting: \(name).self)'."
  }

  /// True if the declaration has its own type `Messages`, so that no keys are generated.
  var declaresMessages: Bool {
    members.contains {
      if case .other = $0.kind { source.text($0.namePositions.upperBound) == "Messages" } else { false }
    }
  }

  static let accessLevels: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]

  private var accessModifier: Modifier? {
    modifiers.first { Self.accessLevels.contains($0.word) && $0.detail == nil }
  }
  var access: String? { accessModifier?.word }

  /// The stated access, or the access that an extension directly around the declaration implies.
  private var impliedAccess: String? {
    access ?? around.first.flatMap { $0.keyword == "extension" ? $0.access : nil }
  }

  /// The attribute for public members. Clients compile these members, so no symbols are needed.
  var inClient: String { memberAccess == "public " ? "@export(implementation) " : "" }

  /// The access modifier that makes members as visible as the declaration, with a trailing space;
  /// empty if internal.
  var memberAccess: String { ["", "package ", "public "][visibility] }

  /// 2 for public, 1 for package, 0 otherwise. An extended type counts as public.
  private var visibility: Int {
    let access = impliedAccess
    let own = keyword == "extension" || access == "public" || access == "open" ? 2 : access == "package" ? 1 : 0
    // The innermost declaration's visibility includes that of the others.
    return around.first.map { min(own, $0.visibility) } ?? own
  }

  /// The `@available` attributes among these.
  func availability(_ attributes: [Attribute]) -> [String] {
    attributes.filter { $0.shortName == "available" }.map { source.line($0.positions) }
  }

  /// The problem that a macro cannot evaluate `#if` around attributes.
  var conditionalProblem: Problem? {
    attribute(Attribute.conditional).map {
      let message = "the attributes in '#if' cannot be evaluated; write '#if' around the whole declaration"
      return Problem(message: message, offsets: source.offsets($0.positions))
    }
  }

  /// The problem that generated extensions, which are at file scope, cannot name a nested private
  /// type.
  var hiddenProblem: Problem? {
    let message = "the generated extension cannot name a private type that is nested in another; write 'fileprivate'"
    if access == "private", !around.isEmpty, let modifier = accessModifier {
      let offsets = source.offsets(modifier.positions)
      let fix = Problem.Fix(title: "write 'fileprivate'", offsets: offsets, text: "fileprivate")
      return Problem(message: message, offsets: offsets, fixes: [fix])
    }
    // Functions have no name here. The compiler refuses extensions of their types.
    let hidden = around.first { $0.access == "private" && !$0.name.isEmpty && !$0.around.isEmpty }
    guard let hidden else { return nil }
    let place = "instead of 'private' before '\(hidden.keyword) \(hidden.name)'"
    return Problem(message: "\(message) \(place)", offsets: keywordOffsets)
  }
}

struct Problem {
  enum Severity: String { case error, warning }

  struct Fix {
    let title: String
    let offsets: Range<Int>
    let text: String
  }

  var severity = Severity.error
  let message: String
  /// The bytes to mark. All offsets count from the start of the declaration or of the attribute.
  let offsets: Range<Int>
  var fixes: [Fix] = []
  /// True if the member is generated anyway, so that its uses add no errors.
  var isHarmless = false
}
