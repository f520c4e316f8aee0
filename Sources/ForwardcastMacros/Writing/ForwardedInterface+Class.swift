// ForwardedInterface+Class.swift: the class that @Forwarded writes.

/// Writes the namespace and class of a protocol, or the extension with its requirements.
extension ForwardedInterface {
  var access: String { declaration.memberAccess }

  /// The access of the namespace, which limits that of the class.
  private var namespaceAccess: String { declaration.access.map { $0 == "open" ? "public " : "\($0) " } ?? "" }

  /// The isolation of the class, with a blank.
  private var classIsolation: String {
    guard isolation == .nonisolated else { return isolation.attribute }
    // The superclass or another stated protocol may be isolated.
    return settings.isMainActorByDefault || mayInherit ? "nonisolated " : ""
  }

  /// Whether the requirements are in an extension, for classes of refining protocols too. Objective-C calls no extensions.
  private var hasInheritance: Bool { isWhole && options.interface == nil && !declaration.isObjectiveC }

  /// Whether the proxy may be used from anywhere although the class is isolated.
  private var isSharedFromAnywhere: Bool { isolation != .nonisolated && isVisiblySendable }

  /// Whether only the compiler knows whether the proxy is isolated, and to which actor, or `Sendable`.
  private var isHeld: Bool { isolation != .nonisolated && mayInherit && !isVisiblySendable }

  /// The namespace with the class: see ``ExpansionRequest/expandCounted(into:)``.
  func proxyText() -> String {
    let availability = availability(declaration.attributes)
    let condition = "#if \(ExpansionRequest.countedCondition)  // Counted writes this into an extension."
    var lines = [
      "/// Is a ``\(declaration.plainName)`` and stands for many: a call goes to every target. Written by `@Forwarded`."
    ]
    lines += availability
    lines += [
      "\(namespaceAccess)typealias \(className)\(statedGenericParameters) = \(namespace).\(className)\(genericArguments)\(genericRequirements)",
      "", "/// What ``\(className)`` stands in.",
    ]
    lines += availability + ["@Forwardcast.Counted"]
    lines += block(
      "\(namespaceAccess)nonisolated enum \(namespace)",
      carriedNames + parentsAndBases + forwarding + tableForRefining + [condition] + writtenClass + ["#endif"])
    return lines.text
  }

  private var writtenClass: [String] {
    let members = hasInheritance ? [] : MemberWriter(self).lines
    return block(
      available(declaration.attributes, classHead), remark: advice, at: place,
      keys + [""] + table + storage + weakAdd + optionalRequirements + members)
  }

  /// The aliases of namespaces and superclasses. `ForwardedBase` is written even without any, for refining protocols.
  private var parentsAndBases: [String] {
    let aliases = zip(parents, options.classes).flatMap { parent, name in
      let namespace = AttributeOptions.namespace(of: name)
      let line = "\(access)typealias \(parent) = \(namespace)  // Mark this protocol '@Forwarded' too."
      return place?.lines(line) ?? [line]
    }
    let all = bases.isEmpty ? "Any" : bases.joined(separator: " & ")
    return aliases + ["\(access)typealias \(ForwardedInterface.baseName) = \(all)"]
  }

  /// Explains compiler errors that may come from what the macro cannot see.
  private var advice: String? {
    var remarks = unknownProtocols.map {
      "Does it not conform to '\($0)'? Mark '\($0)' '@Forwarded' too and write '@Forwarded(inheriting: (any \($0)).self)' here, or repeat its requirements (see 'Real delegates'). If it inherits 'NSObjectProtocol', write 'base: NSObject.self'."
    }
    remarks += inheritedNames.compactMap { StandardProtocol($0)?.advice(for: self) }
    let attributes = declaration.attributes + declaration.members.flatMap(\.attributes)
    for name in Set(attributes.filter { $0.mayBeActor && !$0.isGlobalActor }.map(\.name)).sorted() {
      remarks.append("Is '\(name)' a global actor? Write '@Forwarded(isolatedTo: \(name).self)'.")
    }
    remarks += refinedTypes.map {
      "What does '\($0)' conform to? Repeat it here: 'protocol \(declaration.name)\(genericArguments): … where \($0): …'."
    }
    if !isGeneric, let parent = options.classes.first {
      remarks.append(
        "Does the protocol of '\(parent)' have associated types? Name them, 'protocol \(declaration.name)<…>', or fix them, 'where … == …'."
      )
    }
    if !access.isEmpty, settings.hasInternalImports { remarks.append("Write 'public import Forwardcast'.") }
    return remarks.isEmpty ? nil : remarks.joined(separator: " ")
  }

  /// A declaration after its `@available` attributes, on one line since `#sourceLocation` applies to a single one.
  private func available(_ attributes: [Attribute], _ line: String) -> String {
    (availability(attributes) + [line]).joined(separator: " ")
  }

  private var classHead: String {
    let own = isWhole ? protocolName : nil
    let base =
      inheritsFacade ? "Forwardcast.WrittenFacade<\(target)>" : bases.isEmpty ? nil : ForwardedInterface.baseName
    let sharing = inheritsFacade && isVisiblySendable ? "@unchecked Sendable" : nil
    let conformances = [base, own, "\(facadeIsolation)Forwarding", sharing].compactMap(\.self)
    return
      "\(classIsolation)\(access)final class \(className)\(genericParameters): \(conformances.joined(separator: ", "))\(genericRequirements)"
  }

  /// The isolation of the conformance to `Forwarding`, with a blank.
  private var facadeIsolation: String {
    if isolation == .nonisolated { return "" }
    return isSharedFromAnywhere || isHeld ? "nonisolated " : isolation.attribute
  }

  // MARK: Names

  /// Aliases for what is visible in the namespace but not in extensions.
  private var carriedNames: [String] {
    guard isNested else { return [] }
    let members = items.lines(where: { $0.role != .setter }) { entry in
      let aliases = names.aliases(of: entry.member)
      return aliases.map { available(entry.member.attributes, access + $0) } + values(of: entry.member)
    }
    return aliases.map { access + $0 } + members + [""]
  }

  private func values(of member: Member) -> [String] {
    guard !isGeneric, let plan = member.plan, let type = member.type else { return [] }
    var values: [(name: String, type: String, text: String)] = []
    if case .stated(let text) = plan.empty { values.append(("Otherwise", type.keyed, text)) }
    if plan.policy.contains("(") {
      let output = plan.isOptional ? type.keyed.asOptional : type.keyed
      values.append(("Rule", "Forwardcast.ReturnPolicy<\(type.keyed), \(output)>", plan.policy))
    }
    let isolation = isolation(of: member).attribute
    return values.flatMap {
      let name = names.value($0.text, $0.name, of: member)
      let line = available(member.attributes, "\(isolation)\(access)static var \(name): \($0.type) { \($0.text) }")
      return place(ofValueOf: member)?.lines(line) ?? [line]
    }
  }

  // MARK: Keys

  private var keys: [String] {
    let (stored, name) = (storedKeys, storedName)
    let places = Dictionary(stored.enumerated().map { ($1.key, $0) }) { first, _ in first }
    var lines = items.lines { entry in
      let (key, type) = (entry.key.quotedIfKeyword, type(ofKey: entry))
      let place = places[entry.key]
      let value = "\(type)(\(place.map { "\(name).\($0)" } ?? "\"\(entry.selector)\""))"
      let head = (place == nil ? isolation(ofKey: entry) : declaration.inClient) + "\(access)static "
      let remark = entry.member.needsCopies ? "  // Every target gets a copy of each argument." : ""
      let isComputed = place != nil || isGeneric
      let declared = isComputed ? "var \(key): \(type) { \(value) }" : "let \(key) = \(value)"
      let availability = availability(entry.member.attributes)
      let alias = entry.aliasLines((place == nil ? isolation(ofKey: entry) : declaration.inClient) + access, type)
      return availability + located(head + declared + remark, entry.member)
        + (alias.isEmpty ? [] : availability + alias)
    }
    if !stored.isEmpty {
      let types = stored.map { _ in "Forwardcast.MessageSelector" }.joined(separator: ", ")
      let values = stored.map { "\"\($0.selector)\"" }.joined(separator: ", ")
      let head = declaration.inClient.isEmpty ? "private" : "@usableFromInline"
      lines.append("\(head) static let \(name): (\(types)) = (\(values))")
    }
    return ["/// The keys of its messages, for `on`, `broadcast` and `collect`."]
      + block("\(access)nonisolated enum Messages", lines + overloads)
  }

  private func type(ofKey entry: Entry) -> String { "Forwardcast.Message<\(names.functionType(entry))>" }
  private func isolation(ofKey entry: Entry) -> String { staysOnMainActor(entry.member) ? "@MainActor " : "" }

  /// The keys whose selectors are stored in one tuple, since each stored property has an initializer of its own. Only keys that
  /// are in every build and nonisolated.
  private var storedKeys: [Entry] {
    let entries = entries.filter {
      $0.member.branches.isEmpty && availability($0.member.attributes).isEmpty && isolation(ofKey: $0).isEmpty
    }
    // Compile time grows with the cube of the tuple's length.
    return (2...32).contains(entries.count) && !isGeneric ? entries : []
  }

  private var storedName: String {
    var name = "selectors"
    while entries.contains(where: { [$0.key, $0.base].contains(name) }) { name += "_" }
    return name
  }

  /// For each name that several requirements share, a deprecated alias of the first one's key, which names the keys of all. So code
  /// that uses the alias of a requirement still compiles when an overload is added.
  private var overloads: [String] {
    let keys = Dictionary(grouping: entries) { SelectorName.key($0.base) }
    let taken = Set(entries.flatMap { [$0.key, $0.alias] })
    return keys.sorted { $0.key < $1.key }.filter { !taken.contains($0.key) }.flatMap { base, entries -> [String] in
      let first = entries.first { $0.member.branches.isEmpty && availability($0.member.attributes).isEmpty }
      guard var first else { return [] }
      first.alias = base
      let names = entries.map { "'\($0.key)'" }.joined(separator: ", ")
      let message = "this is '\(first.key)'; each requirement of this name has a key of its own: \(names)"
      let head = "\(declaration.inClient)\(isolation(ofKey: first))\(access)"
      return ["@available(*, deprecated, message: \"\(message)\")"] + first.aliasLines(head, type(ofKey: first))
    }
  }

  // MARK: Storage

  private var storage: [String] {
    let arguments = "(table: \(className).table, options: options)"
    // The superclass has the proxy.
    if inheritsFacade { return initializer("super.init\(arguments)") }
    let proxy = "Forwardcast.MulticastProxy<\(target)>"
    var lines = ["/// Has the targets and sends the messages."]
    if isHeld {
      lines += block("\(access)nonisolated var multicast: \(proxy)", ["held.proxy(for: \(className).place)"])
      lines.append("private nonisolated let held: Forwardcast.HeldProxy<\(target)>")
    } else {
      lines.append("\(access)\(isSharedFromAnywhere ? "nonisolated " : "")let multicast: \(proxy)")
    }
    if isolation != .nonisolated, mayInherit {
      let actor = "\(access)nonisolated static var actorOfClass: (any Actor)?"
      lines += block(actor, ["Forwardcast.actor(of: \(className).place)"]) + ["private static func place() {}"]
    }
    let value = isHeld ? "held = Forwardcast.HeldProxy(\(proxy)\(arguments))" : "multicast = \(proxy)\(arguments)"
    return lines + [""] + initializer(value)
  }

  private func initializer(_ body: String) -> [String] {
    let head = (isHeld ? "" : declaration.inClient) + access
    return ["/// A proxy without targets."]
      + block("\(head)init(options: Forwardcast.MulticastOptions = Forwardcast.MulticastOptions())", [body])
  }

  /// An `add` in which the compiler sees that only a weak reference is kept, so that it warns about temporaries.
  private var weakAdd: [String] {
    guard isVisiblyClassBound, options.interface == nil, !declaration.members.contains(where: { $0.plainName == "add" })
    else { return [] }
    let isolation = isSharedFromAnywhere || isHeld ? "nonisolated " : ""
    let head = "\(declaration.inClient)\(access)\(isolation)func add(_ target: \(target)) -> Forwardcast.Registration"
    let remark = "/// Registers a target weakly, with a warning where nothing else keeps it."
    return ["", remark, "@discardableResult"]
      + block(head, ["weak let kept = target", "_ = kept", "return multicast.add(target)"])
  }

  // MARK: Inheritance

  /// The protocol that the class and those of refining protocols conform to; the requirements are in an extension for it.
  private var forwarding: [String] {
    let parents = parents.map { ", \($0).Forwarding" }.joined()
    let sharing = isVisiblySendable ? " where Interface: Sendable" : ""
    return [
      "/// What a class is that has these requirements: this one, and those of protocols that refine the protocol.",
      "\(access)nonisolated protocol Forwarding: Forwardcast.MulticastFacade\(parents)\(sharing) {}", "",
    ]
  }

  /// The extension with the requirements, for the class and for those of refining protocols.
  func inheritance(of type: String) -> String {
    guard hasInheritance, !items.isEmpty else { return "" }
    // Without the backticks of the last name, which the suffix makes unnecessary.
    let start = type.hasSuffix("`") ? type.dropLast().lastIndex(of: "`") : nil
    let name = start.map { type[..<$0] + type[type.index(after: $0)...].dropLast() } ?? type[...]
    let isolation = settings.isMainActorByDefault && isolation == .nonisolated ? "nonisolated " : ""
    let owner = "\(name)Proxy"
    let shared = sharedTypes.map { ", \($0): SendableMetatype" }.joined()
    let head = "\(isolation)extension \(type) where Self: \(AttributeOptions.namespace(of: owner)).Forwarding\(shared)"
    return (availability(declaration.attributes) + block(head, MemberWriter(self, owner: owner).lines)).text
  }
}

extension CarriedNames {
  func setType(_ entry: Entry) -> String {
    entry.member.type.map { ($0.isNonescapingFunction ? "@escaping " : "") + keyed($0) } ?? "Void"
  }

  func functionType(_ entry: Entry) -> String {
    let member = entry.member
    let arguments = member.parameters.map { keyed($0.type) }
    let answer = member.type.map { $0.isVoid ? "Void" : keyed($0) } ?? "Void"
    switch entry.role {
    case .method, .getter:
      let result = member.type?.isFunction == true ? "(\(answer))" : answer
      return "(\(arguments.joined(separator: ", "))) -> \(result)"
    case .setter: return "(\(([setType(entry)] + arguments).joined(separator: ", "))) -> Void"
    }
  }
}
