// ForwardedInterface.swift: a checked protocol, for generating its class.

struct ForwardedInterface {
  let declaration: TypeDeclaration
  let options: AttributeOptions
  private let request: ExpansionRequest
  let typeParameters: [NamedType]
  /// The type parameters that only a refined protocol declares.
  let refinedTypes: [String]
  /// The types that need `SendableMetatype`, since rows use the types' conformances on any thread.
  private(set) var sharedTypes: [String] = []
  let items: [Item<Entry>]
  let entries: [Entry]
  /// True if all problems are harmless, so the class can conform to the protocol.
  var isWhole = true
  private(set) var names: CarriedNames
  /// The isolation of the protocol and therefore of the class.
  private(set) var isolation = Isolation.nonisolated

  init(
    _ declaration: TypeDeclaration, _ options: AttributeOptions, _ checker: ProtocolChecker,
    in request: ExpansionRequest
  ) {
    (self.declaration, self.options, self.request) = (declaration, options, request)
    let own = Dictionary(declaration.associatedTypes.map { ($0.name, $0) }) { first, _ in first }
    let primary = options.interface == nil ? declaration.primaryTypes : []
    typeParameters = primary.map {
      own[$0] ?? NamedType(name: $0, position: declaration.namePosition, constraint: nil, requirements: nil)
    }
    refinedTypes = primary.filter { own[$0] == nil }
    var entries = declaration.items.isEmpty ? [] : checker.entries
    entries.nameKeys()
    (self.entries, items) = (entries, declaration.items(of: entries))
    names = CarriedNames(source: declaration.source, owner: request.context.isEmpty ? nil : "")
    var constrained: Set<Substring> = []
    for clause in requirements.joined(separator: ",").split(separator: ",") where !clause.contains("AnyObject") {
      let sides = clause.split(separator: ":")
      if sides.count == 2 { constrained.insert(sides[0].trimmingBlanks) }
    }
    sharedTypes = typeParameters.filter { type in
      type.constraint.map { !$0.contains("AnyObject") }
        ?? (own[type.name] == nil || constrained.contains(type.name[...]))
    }.map(\.name)
    names.generics = (genericParameters, genericArguments)
    let actors = declaration.attributes.filter(\.isGlobalActor).map(\.name) + [options.actor].compactMap(\.self)
    names.actors = Set(actors.filter { $0.lastName != "MainActor" })
    isolation =
      declaration.isolation(or: options.actor).map { names.isolation($0) }
      ?? (settings.isMainActorByDefault ? .mainActor : mayInherit ? .inherited : .nonisolated)
  }

  var source: SourceText { declaration.source }
  var settings: ModuleSettings { request.settings }
  /// True if the protocol is nested in a type. Extensions do not see that type's other members.
  var isNested: Bool { !request.context.isEmpty }
  var name: String { declaration.name }
  var className: String { declaration.plainName + "Proxy" }
  var namespace: String { AttributeOptions.namespace(of: className) }

  var place: SourcePlace? { declaration.attribute("Forwarded").flatMap { request.place(of: $0.positions) } }

  /// A line that passes the arguments of a member. If an argument may be a non-escaping closure,
  /// the compiler reports problems at the member, with a fix.
  func located(_ line: String, _ member: Member) -> [String] {
    guard let type = member.parameters.first(where: { $0.type.mayBeClosure })?.type.text,
      let place = request.place(of: member.namePositions)
    else { return [line] }
    return place.lines("\(line)  // Is '\(type)' a closure? Write '@escaping \(type)'.")
  }

  /// The line of `@Answer`, if the member has one. Errors in its value are reported there.
  func place(ofValueOf member: Member) -> SourcePlace? {
    member.attribute("Answer").flatMap { request.place(of: $0.positions) }
  }

  var target: String {
    options.interface.map { known("ForwardedTarget", $0.asExistential) }
      ?? "any \(known("ForwardedProtocol", name))\(genericArguments)"
  }

  var protocolName: String { known("ForwardedProtocol", statedProtocol) }

  var base: String? { statedBase.map { known("StatedBase", $0) } }

  /// Candidates for the superclass: the stated type, the superclasses of refined protocols, and the
  /// protocols that the macro does not see, which might have superclass constraints.
  var bases: [String] {
    let own = base.map { [$0] } ?? []
    guard isWhole, options.interface == nil else { return own }
    return own + parents.map { "\($0).\(Self.baseName)" } + unknownBases.map { known($0.alias, $0.type) }
  }

  private var unknownBases: [(alias: String, type: String)] {
    unknownProtocols.filter(\.isPlainName).enumerated().map { ("ForwardedUnknown\($0)", $1) }
  }

  /// The namespace's alias for the composition of ``bases``.
  static let baseName = "ForwardedBase"

  var parents: [String] { options.inherited.indices.map { "ForwardedParent\($0)" } }

  /// The name of a type in the class. The class does not see the types around a nested protocol.
  private func known(_ alias: String, _ type: String) -> String { isNested ? alias : type }

  /// The namespace's aliases for the types that ``known(_:_:)`` names.
  var aliases: [String] {
    guard isNested else { return [] }
    var types: [(alias: String, type: String?)] = [
      (protocolName, statedProtocol), ("StatedBase", statedBase), ("ForwardedTarget", options.interface?.asExistential),
    ]
    types += unknownBases.map { ($0.alias, $0.type) } + constraints.enumerated().map { ("Constraint\($0)", $1) }
    types += names.actors.sorted().map { (names.alias(ofActor: $0), $0) }
    types += clauses.compactMap { clause in clause.alias.map { ($0, clause.type) } }
    // Members may use the protocol's own aliases. The aliases of a generic protocol may depend on
    // associated types, so they are not copied.
    let own = declaration.members.filter { !isGeneric && $0.kind == .other("typealias") && $0.branches.isEmpty }
    return types.compactMap { alias, type in type.map { "typealias \(alias) = \($0)" } }
      + own.map { source.line($0.positions) }
  }

  private var statedProtocol: String {
    guard let other = options.interface else { return name }
    let plain = other.hasPrefix("any ") ? String(other.dropFirst(4)) : other
    // The compiler infers the protocol's associated types from the requirements.
    return String(plain.prefix { $0 != "<" })
  }

  /// The stated superclass, or `NSObject` for `NSObjectProtocol` and Apple's delegates.
  private var statedBase: String? {
    options.base
      ?? inheritedNames.first { $0.hasSuffix("NSObjectProtocol") }.map { String($0.dropLast("Protocol".count)) }
      ?? (inheritedNames.contains(where: \.isOfAppKitOrUIKit) ? "NSObject" : nil)
  }

  var inheritedNames: [String] { declaration.inherited.flatMap(source.parts) }

  // MARK: Associated types

  var isGeneric: Bool { !typeParameters.isEmpty }

  var genericArguments: String { isGeneric ? "<\(typeParameters.map(\.name).joined(separator: ", "))>" : "" }

  var genericParameters: String {
    genericParameters(constraints.enumerated().map { index, type in type.map { known("Constraint\(index)", $0) } })
  }

  /// The parameters for a declaration next to the protocol, where no aliases are needed.
  var statedGenericParameters: String { genericParameters(constraints) }

  private func genericParameters(_ constraints: [String?]) -> String {
    let parameters = zip(typeParameters, constraints).map { $0.name + ($1.map { ": \($0)" } ?? "") }
    return isGeneric ? "<\(parameters.joined(separator: ", "))>" : ""
  }

  private var constraints: [String?] {
    typeParameters.map { type in
      let constraints = [type.constraint, sharedTypes.contains(type.name) ? "SendableMetatype" : nil].compactMap(\.self)
      return constraints.isEmpty ? nil : constraints.joined(separator: " & ")
    }
  }

  var genericRequirements: String { genericRequirements { $0.alias ?? $0.type } }

  /// The requirements for a declaration next to the protocol, where no aliases are needed.
  var statedGenericRequirements: String { genericRequirements(\.type) }

  private func genericRequirements(_ type: (Clause) -> String) -> String {
    guard isGeneric, !clauses.isEmpty else { return "" }
    return " where \(clauses.map { "\($0.head) \(type($0))" }.joined(separator: ", "))"
  }

  /// A requirement: the text up to `:` or `==`, and the type with its alias in the namespace.
  private typealias Clause = (head: String, type: String, alias: String?)

  private var clauses: [Clause] {
    let parameters = typeParameters.map(\.name)
    let all = SourceText(requirements.filter { !$0.contains("Self") }.joined(separator: ", "))
    return all.elements(0..<all.end).enumerated().map { index, clause in
      let sign = clause.first { all.isMark($0, ":") || all.isMark($0, "=") } ?? clause.lowerBound
      let type = min(sign + (all.isMark(sign, "=") ? 2 : 1), clause.upperBound)..<clause.upperBound
      let isCarried = isNested && !type.isEmpty && !type.contains { parameters.contains(all.text($0)) }
      return (
        all.line(clause.lowerBound..<type.lowerBound), all.line(type), isCarried ? "Requirement\(index)" : nil
      )
    }
  }

  /// The requirements of the type parameters. Clauses about other types are not needed.
  private var requirements: [String] {
    let whole = declaration.whereClause.map { source.elements($0.lowerBound + 1..<$0.upperBound) } ?? []
    let parameters = typeParameters.map(\.name)
    let fixed = Set(whole.map { source.text($0.lowerBound) }).subtracting(parameters)
    let own = whole.filter { clause in !clause.contains { fixed.contains(source.text($0)) } }
    return own.map { source.line($0) } + typeParameters.compactMap(\.requirements)
  }

  func fixesType(_ name: String) -> Bool {
    (declaration.whereClause ?? 0..<0).contains { source.isMark($0 + 1, "=") && source.text($0) == name }
  }

  // MARK: Isolation

  /// True if a refined protocol may make this protocol isolated or `Sendable`.
  var mayInherit: Bool { !unknownProtocols.isEmpty || !options.inherited.isEmpty }

  /// The refined protocols that the macro does not see.
  var unknownProtocols: [String] {
    let known: Set<String> = [
      "AnyObject", "Sendable", "SendableMetatype", "NSObjectProtocol", "Copyable", "Escapable", "BitwiseCopyable",
      "class",
    ]
    return inheritedNames.filter { name in
      !known.contains(name.lastName) && StandardProtocol(name) == nil && !name.hasPrefix("~")
        && !options.classes.contains(AttributeOptions.className(of: "any \(name)"))
    }
  }

  /// True if the class inherits `WrittenFacade`, which cannot serve isolated classes.
  var inheritsFacade: Bool { isolation == .nonisolated && bases.isEmpty && !mayInherit && !declaration.isObjectiveC }

  func isolation(of member: Member) -> Isolation {
    member.isolation.map { names.isolation($0, of: member) } ?? isolation
  }

  /// True if a member's types may use conformances that are isolated to the main actor, for example
  /// by default isolation. If so, the member's key and the table are on the main actor, too.
  func staysOnMainActor(_ member: Member) -> Bool {
    settings.isMainActorByDefault && isolation(of: member) == .mainActor && source.mayNeedConformances(member)
  }

  private func inherits(_ names: Set<String>) -> Bool {
    inheritedNames.contains { names.contains($0.lastName) }
  }

  var isVisiblySendable: Bool { inherits(["Sendable", "Error"]) }

  var isVisiblyClassBound: Bool { inherits(["AnyObject", "NSObjectProtocol"]) }
}

extension String {
  fileprivate var isPlainName: Bool { !contains { "<@ ".contains($0) } }

  fileprivate var asExistential: String { hasPrefix("any ") ? self : "any \(self)" }

  /// True if the protocol looks like a delegate of Apple's frameworks, based on `NSObjectProtocol`.
  fileprivate var isOfAppKitOrUIKit: Bool {
    let isPrefixed = ["UI", "NS", "WK", "AV", "CB", "CL", "MK", "SK", "MC", "PK", "CN", "PH", "QL", "UN", "MF", "CA"]
      .contains { hasPrefix($0) && dropFirst(2).first?.isUppercase == true }
    return (isPrefixed || hasPrefix("URLSession")) && ["Delegate", "DataSource"].contains { contains($0) }
  }
}
