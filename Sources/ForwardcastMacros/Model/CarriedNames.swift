// CarriedNames.swift: types as an extension elsewhere names them.

/// The names that the namespace of a written class gives to types.
///
/// What is written into extensions stands outside of the types around a protocol, so it does not see their other members: of
/// `enum Chat { struct Message {…}; protocol RoomDelegate {…} }` it sees no `Message`. The namespace does.
struct CarriedNames {
  let source: SourceText
  /// What stands before the names: the namespace with those of the types around it and a dot, or nothing inside of it;
  /// `nil` where types need no names.
  var owner: String?
  /// The generic parameters and arguments of the class, which the names have too.
  var generics = (parameters: "", arguments: "")

  /// Words that are the same everywhere.
  static let universal: Set<String> = [
    "Int", "UInt", "Double", "Float", "Bool", "String", "Character", "Void", "Any", "AnyObject", "Error", "Never",
    "any", "some", "escaping", "Sendable", "borrowing", "consuming", "throws", "async",
  ]

  /// A type in the head of a member.
  func type(_ type: TypeText) -> String {
    guard let core = core(type) else { return type.text }
    return core.prefix + name(type) + core.suffix
  }

  /// A type as a key has it.
  func keyed(_ type: TypeText) -> String {
    guard let core = core(type) else { return type.keyed }
    let prefix = core.prefix.split(separator: " ").contains("@escaping") ? "@escaping " : ""
    return (type.isSome ? "any " : prefix) + name(type) + (core.suffix.isEmpty ? "" : "?")
  }

  /// The error of a typed `throws`.
  func error(_ text: String, of member: Member) -> String {
    owner.map { "\($0)Error\(member.positions.lowerBound)\(generics.arguments)" } ?? text
  }

  /// A value or a rule that the namespace keeps for a member; it keeps none where types are generic.
  func value(_ text: String, _ kind: String, of member: Member) -> String {
    generics.arguments.isEmpty ? owner.map { "\($0)\(kind)\(member.positions.lowerBound)" } ?? text : text
  }

  /// The aliases for the types of a member.
  func aliases(of member: Member) -> [String] {
    let types = member.parameters.map(\.type) + (member.type.map { $0.isVoid ? [] : [$0] } ?? [])
    var aliases = types.compactMap { type in core(type).map { ("Type\(type.positions.lowerBound)", $0.text) } }
    if case .typed(let error) = member.effects.throwing {
      aliases.append(("Error\(member.positions.lowerBound)", error))
    }
    return aliases.map { "typealias \($0)\(generics.parameters) = \($1)" }
  }

  private func name(_ type: TypeText) -> String {
    "\(owner ?? "")Type\(type.positions.lowerBound)\(generics.arguments)"
  }

  /// What an alias can stand for of a type, and what has to stand around it.
  private func core(_ type: TypeText) -> (prefix: String, text: String, suffix: String)? {
    guard owner != nil,
      type.positions.contains(where: { source[$0].isWord && !Self.universal.contains(source.text($0)) })
    else { return nil }
    var prefix: [String] = []
    var rest: [Int] = []
    let isImplicit = source.isMark(type.positions.upperBound - 1, "!") && !type.isFunction
    var skipped = type.positions.lowerBound
    for position in type.positions where position >= skipped {
      if source.isMark(position, "@"), source.isWord(position + 1, "escaping") {
        prefix.append("@escaping")
        skipped = position + 2
      } else if rest.isEmpty, ["some", "borrowing", "consuming", "__owned", "__shared"].contains(source.text(position))
      {
        prefix.append(source.text(position))
      } else if !(isImplicit && position == type.positions.upperBound - 1) {
        rest.append(position)
      }
    }
    guard !rest.isEmpty else { return nil }
    if type.isSome, !prefix.contains("some") { prefix.append("some") }
    return (prefix.map { $0 + " " }.joined(), source.line(rest), isImplicit ? "!" : "")
  }
}
