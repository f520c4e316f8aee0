// ForwardedInterface.swift: all that is known of a protocol when its class is written.

/// A protocol that has been checked, with its messages.
struct ForwardedInterface {
  let declaration: TypeDeclaration
  let options: ForwardedOptions
  /// The plan of each member that answers, by where the member begins.
  let plans: [Int: AnswerPlan]
  let settings: ModuleSettings
  /// Where the text of the protocol begins.
  private let start: SourcePlace?
  /// Whether the protocol stands in a type, whose other members an extension elsewhere does not see.
  let isNested: Bool
  /// The types that the class is generic over.
  let typeParameters: [NamedType]
  let items: [EntryItem]
  /// Whether nothing was refused, so that the class can be the protocol.
  var isWhole = true
  /// The isolation of the protocol, and so of the class.
  private(set) var isolation = Isolation.nonisolated

  init(
    _ declaration: TypeDeclaration, options: ForwardedOptions, plans: [Int: AnswerPlan], leftOut: Set<Int>,
    settings: ModuleSettings, start: SourcePlace?, isNested: Bool
  ) {
    (self.declaration, self.options, self.plans) = (declaration, options, plans)
    (self.settings, self.start, self.isNested) = (settings, start, isNested)
    typeParameters = (options.interface == nil ? declaration.primaryTypes : []).map { name in
      declaration.associatedTypes.first { $0.name == name }
        ?? NamedType(name: name, position: declaration.namePosition, constraint: nil, requirements: nil)
    }
    var entries = declaration.members.filter { !leftOut.contains($0.positions.lowerBound) }.flatMap(\.entries)
    entries.nameKeys()
    items = declaration.items(of: entries)
    isolation = ownIsolation
  }

  var source: SourceText { declaration.source }
  /// The protocol's name as types name it.
  var name: String { declaration.name }
  var className: String { declaration.plainName + "Proxy" }
  /// What the class stands in.
  var namespace: String { ForwardedOptions.namespace(of: className) }

  /// The types that members name, as the class names them.
  var names: CarriedNames {
    CarriedNames(source: source, owner: isNested ? "" : nil, generics: (genericParameters, genericArguments))
  }

  /// Where the attribute stands.
  var place: SourcePlace? { declaration.attribute("Forwarded").flatMap { place(of: $0.positions) } }

  /// Where some tokens begin.
  func place(of positions: Range<Int>) -> SourcePlace? {
    let before = source.bytes[..<source[positions.lowerBound].range.lowerBound]
    return start.flatMap { SourcePlace(file: $0.file, line: $0.line + before.count { $0 == UInt8(ascii: "\n") }) }
  }

  /// Where a value is stated that something of the user's has to make, which may be elsewhere than the member.
  func place(ofValue value: String, _ member: Member) -> SourcePlace? {
    value.contains("(") ? member.attribute("Answer").flatMap { place(of: $0.positions) } : nil
  }

  /// The type of the targets.
  var target: String {
    options.interface.map { known("ForwardedTarget", $0.asExistential) }
      ?? "any \(known("ForwardedProtocol", name))\(genericArguments)"
  }

  /// The protocol that the class conforms to.
  var protocolName: String { known("ForwardedProtocol", statedProtocol) }

  /// The superclass of the written class.
  var base: String? { statedBase.map { known("StatedBase", $0) } }

  /// What the superclass is found by, if any: it, what refined protocols have, and those that the attribute does not see, of
  /// which one may be a class.
  var bases: [String] {
    guard isWhole, options.interface == nil else { return base.map { [$0] } ?? [] }
    let unknown = unknownProtocols.filter(\.isPlainName).enumerated()
    return (base.map { [$0] } ?? []) + parents.map { "\($0).\(Self.baseName)" }
      + unknown.map { known("ForwardedUnknown\($0.offset)", $0.element) }
  }

  /// The name of all of them together, in the namespace.
  static let baseName = "ForwardedBase"

  /// The namespaces of refined protocols, as this one names them.
  var parents: [String] { options.inherited.indices.map { "ForwardedParent\($0)" } }

  /// The tables of refined protocols: see ``ProxyTableWriter/forRefining(to:)``.
  var parentTables: [String] { isWhole ? parents.map { "\($0).table(of: \(className).self)" } : [] }

  /// A type as the class names it, which sees none of the types around a protocol.
  private func known(_ alias: String, _ type: String) -> String { isNested ? alias : type }

  /// The names of those types in the namespace.
  var aliases: [String] {
    guard isNested else { return [] }
    let types = [(protocolName, statedProtocol)] + (statedBase.map { [("StatedBase", $0)] } ?? [])
    return
      (types + (options.interface.map { [("ForwardedTarget", $0.asExistential)] } ?? [])
      + unknownProtocols.filter(\.isPlainName).enumerated().map { ("ForwardedUnknown\($0.offset)", $0.element) }
      + constraints.enumerated().compactMap { index, type in type.map { ("Constraint\(index)", $0) } })
      .map { "typealias \($0) = \($1)" }
  }

  private var statedProtocol: String {
    guard let other = options.interface else { return name }
    let plain = other.hasPrefix("any ") ? String(other.dropFirst(4)) : other
    // What its associated types are, the requirements tell.
    return String(plain.prefix { $0 != "<" })
  }

  /// What `NSObjectProtocol` asks for, only `NSObject` has.
  private var statedBase: String? {
    options.base
      ?? inheritedNames.first { $0.hasSuffix("NSObjectProtocol") }.map {
        $0.replacingSuffix("NSObjectProtocol", "NSObject")
      } ?? (inheritedNames.contains(where: \.isOfAppKitOrUIKit) ? "NSObject" : nil)
  }

  /// The names after the colon, those of compositions one by one.
  var inheritedNames: [String] {
    declaration.inherited.flatMap { source.line($0).split(separator: "&") }.map { String($0.trimmingBlanks) }
  }

  // MARK: Associated types

  var isGeneric: Bool { !typeParameters.isEmpty }

  var genericArguments: String {
    isGeneric ? "<\(typeParameters.map(\.name).joined(separator: ", "))>" : ""
  }

  var genericParameters: String {
    genericParameters(constraints.enumerated().map { index, type in type.map { known("Constraint\(index)", $0) } })
  }

  /// The same beside the protocol.
  var statedGenericParameters: String { genericParameters(constraints) }

  private func genericParameters(_ constraints: [String?]) -> String {
    let parameters = zip(typeParameters, constraints).map { type, constraint in
      type.name + (constraint.map { ": \($0)" } ?? "")
    }
    return isGeneric ? "<\(parameters.joined(separator: ", "))>" : ""
  }

  private var constraints: [String?] {
    typeParameters.map { type in
      let constraints = [type.constraint, sharedTypes.contains(type.name) ? "SendableMetatype" : nil].compactMap(\.self)
      return constraints.isEmpty ? nil : constraints.joined(separator: " & ")
    }
  }

  /// The types whose conformances may not be those of one actor, since rows are called from anywhere.
  var sharedTypes: [String] {
    typeParameters.filter { type in
      type.constraint.map { !$0.contains("AnyObject") } ?? refinedTypes.contains(type.name)
    }.map(\.name)
  }

  /// The types that only a refined protocol declares.
  var refinedTypes: [String] {
    let own = declaration.associatedTypes.map(\.name)
    return typeParameters.map(\.name).filter { !own.contains($0) }
  }

  /// What has to hold of the types, with the word `where` and a blank before it.
  var genericRequirements: String {
    guard isGeneric else { return "" }
    let whole = declaration.whereClause.map { source.line($0.lowerBound + 1..<$0.upperBound) }
    let all = ([whole] + typeParameters.map(\.requirements)).compactMap(\.self).filter { !$0.contains("Self") }
    return all.isEmpty ? "" : " where \(all.joined(separator: ", "))"
  }

  // MARK: Isolation

  private var ownIsolation: Isolation {
    if let isolation = declaration.isolation(or: options.actor) { return isolation }
    if settings.isMainActorByDefault { return .mainActor }
    return mayInherit ? .inherited : .nonisolated
  }

  /// Whether a refined protocol may say what the text does not tell: its actor is this one's too, and so is that it is `Sendable`.
  var mayInherit: Bool { !unknownProtocols.isEmpty || !options.inherited.isEmpty }

  /// The refined protocols whose requirements the attribute does not see.
  var unknownProtocols: [String] {
    let known: Set<String> = [
      "AnyObject", "Sendable", "SendableMetatype", "NSObjectProtocol", "Copyable", "Escapable", "BitwiseCopyable",
      "class", "CustomStringConvertible",
    ]
    return inheritedNames.filter { name in
      !known.contains(String(name.split(separator: ".").last ?? "")) && !name.hasPrefix("~")
        && !options.inherited.contains(ForwardedOptions.className(of: "any \(name)"))
    }
  }

  /// Whether the library's class is the superclass. One that is on an actor would have its proxy elsewhere.
  var inheritsFacade: Bool { isolation == .nonisolated && bases.isEmpty && !mayInherit && !declaration.isObjectiveC }

  func isolation(of member: Member) -> Isolation { member.isolation ?? isolation }

  /// Whether a member's types may use conformances that are on the main actor, as those of a module's own types are where
  /// that is the default. They do not leave it, so neither do the member's key and the table.
  func staysOnMainActor(_ member: Member) -> Bool {
    settings.isMainActorByDefault && isolation(of: member) == .mainActor && source.mayNeedConformances(member)
  }

  /// The same of the table, which refined protocols have a part in.
  var tableStaysOnMainActor: Bool {
    declaration.members.contains(where: staysOnMainActor)
      || settings.isMainActorByDefault && isolation == .mainActor && !options.inherited.isEmpty
  }

  private func inherits(_ names: Set<String>) -> Bool {
    inheritedNames.contains { names.contains(String($0.split(separator: ".").last ?? "")) }
  }

  /// Whether the text says that the protocol is `Sendable`.
  var isVisiblySendable: Bool { inherits(["Sendable", "Error"]) }

  /// Whether the text says that only classes conform.
  var isVisiblyClassBound: Bool {
    inherits(["AnyObject", "NSObjectProtocol"])
      || declaration.whereClause.map { source.line($0).filter { $0 != " " }.contains("Self:AnyObject") } ?? false
  }
}

extension String {
  /// Whether a class may stand under this name, and can name it.
  fileprivate var isPlainName: Bool { !contains { "<@ ".contains($0) } }

  /// The type of a protocol's objects.
  fileprivate var asExistential: String { hasPrefix("any ") ? self : "any \(self)" }

  /// Whether this is the name of a delegate of Apple's frameworks or of Foundation's sessions, all of which inherit `NSObjectProtocol`.
  fileprivate var isOfAppKitOrUIKit: Bool {
    let isPrefixed = ["UI", "NS", "WK", "AV", "CB", "CL", "MK", "SK", "MC", "PK", "CN", "PH", "QL", "UN", "MF", "CA"]
      .contains { hasPrefix($0) && dropFirst(2).first?.isUppercase == true }
    return (isPrefixed || hasPrefix("URLSession")) && ["Delegate", "DataSource"].contains { contains($0) }
  }

  fileprivate func replacingSuffix(_ suffix: String, _ other: String) -> String { dropLast(suffix.count) + other }
}
