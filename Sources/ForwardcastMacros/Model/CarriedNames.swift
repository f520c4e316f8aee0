// CarriedNames.swift: types as an extension elsewhere names them.
// Part of the macro program: Model. See the article "How the attributes work".

/// The names that the written class gives to the types of its members.
///
/// The extension for refining protocols stands outside of the types around a protocol, so it does not see their other members:
/// of `enum Chat { struct Message {…}; protocol RoomDelegate {…} }` it sees no `Message`. The class does.
struct CarriedNames {
  /// The class with the names of the types around it and a dot; empty inside of the class, where types need no names.
  let owner: String

  /// Words that are the same everywhere.
  static let universal: Set<String> = [
    "Int", "UInt", "Double", "Float", "Bool", "String", "Character", "Void", "Any", "AnyObject", "Error", "Never",
    "any", "some", "escaping", "Sendable", "borrowing", "consuming", "throws", "async",
  ]

  /// A type in the head of a member.
  func type(_ type: TypeText, of source: SourceText) -> String {
    guard let core = core(type, of: source) else { return type.text }
    return core.prefix + owner + name(type) + core.suffix
  }

  /// A type as a key has it.
  func keyed(_ type: TypeText, of source: SourceText) -> String {
    guard let core = core(type, of: source) else { return type.keyed }
    return (type.isSome ? "any " : "") + owner + name(type) + (core.suffix.isEmpty ? "" : "?")
  }

  /// The error of a typed `throws`.
  func error(_ text: String, of member: Member) -> String {
    owner.isEmpty ? text : "\(owner)Error\(member.positions.lowerBound)"
  }

  /// A value or a rule that the class keeps for a member.
  func value(_ text: String, _ kind: String, of member: Member) -> String {
    owner.isEmpty ? text : "\(owner)\(kind)\(member.positions.lowerBound)"
  }

  /// The aliases for the types of a member, a name and a type each.
  static func aliases(of member: Member, in source: SourceText) -> [(name: String, type: String)] {
    let names = CarriedNames(owner: "self")
    let types = member.parameters.map(\.type) + (member.type.map { $0.isVoid ? [] : [$0] } ?? [])
    var aliases = types.compactMap { type in names.core(type, of: source).map { (names.name(type), $0.text) } }
    if case .typed(let error) = member.effects.throwing {
      aliases.append(("Error\(member.positions.lowerBound)", error))
    }
    return aliases
  }

  private func name(_ type: TypeText) -> String { "Type\(type.positions.lowerBound)" }

  /// What an alias can stand for of a type, and what has to stand around it.
  private func core(_ type: TypeText, of source: SourceText) -> (prefix: String, text: String, suffix: String)? {
    guard !owner.isEmpty,
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
    guard let first = rest.first, let last = rest.last else { return nil }
    // What was taken out stands before the first or between attributes, which a line can lack.
    let text =
      prefix.isEmpty
      ? source.line(first..<last + 1)
      : rest.reduce(into: "") { text, position in
        let isApart = source[position].leading < source[position].range.lowerBound
        text += (isApart && !text.isEmpty ? " " : "") + source.text(position)
      }
    return (prefix.map { $0 + " " }.joined(), text, isImplicit ? "!" : "")
  }
}
