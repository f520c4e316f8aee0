// CarriedNames.swift: names types in extensions outside their scope.

/// Names types through aliases in the enum that is the namespace of a generated class.
///
/// A generated extension is outside the types that enclose a protocol, so it does not see their
/// other members. In `enum Chat { struct Message {…}; protocol RoomDelegate {…} }`, the namespace
/// sees `Message` but the extension does not.
struct CarriedNames {
  let source: SourceText
  /// The qualified namespace and a dot. Empty inside the namespace; `nil` if no aliases are needed.
  var owner: String?
  /// The generic parameters and arguments of the class and of the aliases.
  var generics = (parameters: "", arguments: "")
  /// The global actors of the whole protocol. An actor that only a member states may exist only in
  /// the builds and platform versions of that member, so its alias belongs to the member.
  var actors: Set<String> = []

  /// Names with the same meaning in every scope.
  private static let fixed: Set<String> = [
    "Int", "UInt", "Double", "Float", "Bool", "String", "Void", "Any", "AnyObject", "Never", "any", "some", "escaping",
    "Sendable", "borrowing", "consuming", "throws", "async",
  ]
  /// Adds names of the standard library that programs often reuse for their own types.
  static let universal = fixed.union(["Error", "Character"])

  /// The type in the declaration of a member.
  func type(_ type: TypeText) -> String {
    guard let core = core(type) else { return type.text }
    return core.prefix + name(type) + core.suffix
  }

  /// The type in the function type of a key.
  func keyed(_ type: TypeText) -> String {
    guard let core = core(type) else { return type.keyed }
    let prefix = core.prefix.split(separator: " ").contains("@escaping") ? "@escaping " : ""
    return (type.isSome ? "any " : prefix) + name(type) + (core.suffix.isEmpty ? "" : "?")
  }

  func error(_ text: String, of member: Member) -> String {
    owner.map { "\($0)Error\(member.positions.lowerBound)\(generics.arguments)" } ?? text
  }

  /// The namespace's property for a value or rule; `text` for a generic class or without `owner`.
  func value(_ text: String, _ kind: String, of member: Member) -> String {
    generics.arguments.isEmpty ? owner.map { "\($0)\(kind)\(member.positions.lowerBound)" } ?? text : text
  }

  /// The name of a global actor, stated at the protocol or at a member.
  func actor(_ name: String, of member: Member? = nil) -> String {
    name.lastName == "MainActor" ? name : owner.map { $0 + alias(ofActor: name, of: member) } ?? name
  }

  func alias(ofActor name: String, of member: Member? = nil) -> String {
    if let member, !actors.contains(name) { return "Actor\(member.positions.lowerBound)" }
    return "Actor\(name.replacing(".", with: "_").withoutBackticks)"
  }

  func isolation(_ isolation: Isolation, of member: Member? = nil) -> Isolation {
    if case .global(let name) = isolation { .global(actor(name, of: member)) } else { isolation }
  }

  /// The attributes of a parameter, each with a space behind it.
  func attributes(of parameter: Parameter) -> String {
    parameter.attributes.enumerated().map { index, text in
      guard let owner, isBuilder(text) else { return "\(text) " }
      return "@\(owner)\(alias(ofAttribute: index, of: parameter))\(generics.arguments) "
    }.joined()
  }

  private func alias(ofAttribute index: Int, of parameter: Parameter) -> String {
    "Attribute\(parameter.positions.lowerBound)_\(index)"
  }

  private func isBuilder(_ attribute: String) -> Bool { !attribute.contains("(") }

  func aliases(of member: Member) -> [String] {
    let types = member.parameters.map(\.type) + (member.type.map { $0.isVoid ? [] : [$0] } ?? [])
    var aliases = types.compactMap { type in core(type).map { ("Type\(type.positions.lowerBound)", $0.text) } }
    if case .typed(let error) = member.effects.throwing {
      aliases.append(("Error\(member.positions.lowerBound)", error))
    }
    for parameter in member.parameters {
      for (index, text) in parameter.attributes.enumerated() where isBuilder(text) {
        aliases.append((alias(ofAttribute: index, of: parameter), String(text.dropFirst())))
      }
    }
    var lines = aliases.map { "typealias \($0)\(generics.parameters) = \($1)" }
    if case .global(let name) = member.isolation, !actors.contains(name) {
      lines.append("typealias \(alias(ofActor: name, of: member)) = \(name)")
    }
    return lines
  }

  private func name(_ type: TypeText) -> String {
    "\(owner ?? "")Type\(type.positions.lowerBound)\(generics.arguments)"
  }

  /// The part of a type that an alias can replace, and the text around that part; `nil` if an alias
  /// can replace nothing.
  private func core(_ type: TypeText) -> (prefix: String, text: String, suffix: String)? {
    guard owner != nil,
      type.positions.contains(where: { source[$0].isWord && !Self.fixed.contains(source.text($0)) })
    else { return nil }
    let isImplicit = source.isMark(type.positions.upperBound - 1, "!") && !type.isFunction
    let escaping = type.positions.filter { source.isMark($0, "@") && source.isWord($0 + 1, "escaping") }
    let others = type.positions.dropLast(isImplicit ? 1 : 0).filter { position in
      !escaping.contains { $0 == position || $0 + 1 == position }
    }
    let words = others.prefix { ["some", "borrowing", "consuming", "__owned", "__shared"].contains(source.text($0)) }
    let rest = others.dropFirst(words.count)
    guard !rest.isEmpty else { return nil }
    var prefix = (escaping + words).sorted().map { source.isMark($0, "@") ? "@escaping" : source.text($0) }
    if type.isSome, !prefix.contains("some") { prefix.append("some") }
    return (prefix.map { $0 + " " }.joined(), source.line(rest), isImplicit ? "!" : "")
  }
}
