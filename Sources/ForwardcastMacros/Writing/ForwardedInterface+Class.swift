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
    var writer = TextWriter()
    writer.line(
      "/// Is a ``\(declaration.plainName)`` and stands for many: a call goes to every target. Written by `@Forwarded`."
    )
    writer.lines(availability)
    writer.line(
      "\(namespaceAccess)typealias \(className)\(statedGenericParameters) = \(namespace).\(className)\(genericArguments)\(genericRequirements)"
    )
    writer.line("")
    writer.line("/// What ``\(className)`` stands in.")
    writer.lines(availability)
    writer.line("@Forwardcast.Counted")
    writer.block("\(namespaceAccess)nonisolated enum \(namespace)") { writer in
      carriedNames(&writer)
      parentsAndBases(&writer)
      forwarding(&writer)
      tableForRefining(&writer)
      writer.line("#if \(ExpansionRequest.countedCondition)  // Counted writes this into an extension.")
      writtenClass(&writer)
      writer.line("#endif")
    }
    return writer.text
  }

  private func writtenClass(_ writer: inout TextWriter) {
    writer.block(available(declaration.attributes, classHead), remark: advice, at: place) { writer in
      keys(&writer)
      writer.line("")
      table(&writer)
      storage(&writer)
      weakAdd(&writer)
      optionalRequirements(&writer)
      if !hasInheritance { MemberWriter(self).write(to: &writer) }
    }
  }

  /// The aliases of namespaces and superclasses. `ForwardedBase` is written even without any, for refining protocols.
  private func parentsAndBases(_ writer: inout TextWriter) {
    for (parent, name) in zip(parents, options.classes) {
      writer.line(
        "\(access)typealias \(parent) = \(AttributeOptions.namespace(of: name))  // The protocol needs '@Forwarded' itself.",
        at: place)
    }
    let all = bases.isEmpty ? "Any" : bases.joined(separator: " & ")
    writer.line("\(access)typealias \(ForwardedInterface.baseName) = \(all)")
  }

  /// Explains compiler errors that may come from what the macro cannot see.
  private var advice: String? {
    var remarks = unknownProtocols.map {
      "does it not conform to '\($0)'? Say '@Forwarded(inheriting: (any \($0)).self)', or write its requirements again (see 'Real delegates'); where it inherits 'NSObjectProtocol', 'base: NSObject.self'."
    }
    let attributes = declaration.attributes + declaration.members.flatMap(\.attributes)
    for name in Set(attributes.filter { $0.mayBeActor && !$0.isGlobalActor }.map(\.name)).sorted() {
      remarks.append("is '\(name)' a global actor? Say '@Forwarded(isolatedTo: \(name).self)'.")
    }
    remarks += refinedTypes.map {
      "what does '\($0)' conform to? Say it again: 'protocol \(declaration.name)\(genericArguments): … where \($0): …'."
    }
    if !isGeneric, let parent = options.classes.first {
      remarks.append(
        "has the protocol of '\(parent)' associated types? Name them: 'protocol \(declaration.name)<…>', or say 'where … == …'."
      )
    }
    if !access.isEmpty, settings.hasInternalImports { remarks.append("say 'public import Forwardcast'.") }
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
  private func carriedNames(_ writer: inout TextWriter) {
    guard isNested else { return }
    writer.lines(aliases.map { access + $0 })
    writer.entries(items, where: { $0.role != .setter }) { entry, writer in
      let aliases = names.aliases(of: entry.member)
      writer.lines(aliases.map { available(entry.member.attributes, access + $0) } + values(of: entry.member))
    }
    writer.line("")
  }

  private func values(of member: Member) -> [String] {
    guard !isGeneric, let plan = plans[member.positions.lowerBound], let type = member.type else { return [] }
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
      return place(ofValue: $0.text, member)?.lines(line) ?? [line]
    }
  }

  // MARK: Keys

  private func keys(_ writer: inout TextWriter) {
    let (stored, name) = (storedKeys, storedName)
    let places = Dictionary(stored.enumerated().map { ($1.key, $0) }) { first, _ in first }
    writer.line("/// The keys of its messages, for `on`, `broadcast` and `collect`.")
    writer.block("\(access)nonisolated enum Messages") { writer in
      writer.entries(items) { entry, writer in
        writer.lines(availability(entry.member.attributes))
        let (key, type) = (entry.key.quotedIfKeyword, type(ofKey: entry))
        let place = places[entry.key]
        let value = "\(type)(\(place.map { "\(name).\($0)" } ?? "\"\(entry.selector)\""))"
        let head = (place == nil ? isolation(ofKey: entry) : declaration.inClient) + "\(access)static "
        let remark = entry.member.needsCopies ? "  // Every target gets a copy of each argument." : ""
        let isComputed = place != nil || isGeneric
        writer.line(head + (isComputed ? "var \(key): \(type) { \(value) }" : "let \(key) = \(value)") + remark)
      }
      if !stored.isEmpty {
        let types = stored.map { _ in "Forwardcast.MessageSelector" }.joined(separator: ", ")
        let values = stored.map { "\"\($0.selector)\"" }.joined(separator: ", ")
        let head = declaration.inClient.isEmpty ? "private" : "@usableFromInline"
        writer.line("\(head) static let \(name): (\(types)) = (\(values))")
      }
      overloads(&writer)
    }
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

  /// For each name that several requirements share, an unavailable key that names theirs: adding an overload renames the first
  /// one's key, and uses of the old one are told.
  private func overloads(_ writer: inout TextWriter) {
    let entries = entries
    let keys = Dictionary(grouping: entries) { SelectorName.key($0.base) }
    let taken = Set(entries.map(\.key))
    for (base, entries) in keys.sorted(by: { $0.key < $1.key }) where !taken.contains(base) {
      let names = entries.map { "'\($0.key)'" }.joined(separator: ", ")
      writer.line(
        "@available(*, unavailable, message: \"the requirements of this name have keys of their own: \(names)\")")
      // With the type of one of them, so that a use is told this and not that types differ.
      let typed = entries.first { $0.member.branches.isEmpty && availability($0.member.attributes).isEmpty }
      let type = typed.map(type(ofKey:)) ?? "Never"
      let isolation = typed.map(isolation(ofKey:)) ?? ""
      writer.line(
        "\(declaration.inClient)\(isolation)\(access)static var \(base.quotedIfKeyword): \(type) { fatalError() }")
    }
  }

  // MARK: Storage

  private func storage(_ writer: inout TextWriter) {
    let arguments = "(table: \(className).table, options: options)"
    if inheritsFacade {
      // The superclass has the proxy.
      initializer("super.init\(arguments)", &writer)
      return
    }
    writer.line("/// Has the targets and sends the messages.")
    if isHeld {
      writer.block("\(access)nonisolated var multicast: Forwardcast.MulticastProxy<\(target)>") {
        $0.line("held.proxy(for: \(className).place)")
      }
      writer.line("private nonisolated let held: Forwardcast.HeldProxy<\(target)>")
    } else {
      let isolation = isSharedFromAnywhere ? "nonisolated " : ""
      writer.line("\(access)\(isolation)let multicast: Forwardcast.MulticastProxy<\(target)>")
    }
    if isolation != .nonisolated, mayInherit {
      writer.block("\(access)nonisolated static var actorOfClass: (any Actor)?") {
        $0.line("Forwardcast.actor(of: \(className).place)")
      }
      writer.line("private static func place() {}")
    }
    let value = "Forwardcast.MulticastProxy<\(target)>\(arguments)"
    writer.line("")
    initializer(isHeld ? "held = Forwardcast.HeldProxy(\(value))" : "multicast = \(value)", &writer)
  }

  private func initializer(_ body: String, _ writer: inout TextWriter) {
    writer.line("/// A proxy without targets.")
    let head = (isHeld ? "" : declaration.inClient) + access
    writer.block("\(head)init(options: Forwardcast.MulticastOptions = Forwardcast.MulticastOptions())") {
      $0.line(body)
    }
  }

  /// An `add` in which the compiler sees that only a weak reference is kept, so that it warns about temporaries.
  private func weakAdd(_ writer: inout TextWriter) {
    guard isVisiblyClassBound, options.interface == nil, !declaration.members.contains(where: { $0.plainName == "add" })
    else { return }
    writer.line("")
    writer.line("/// Registers a target weakly, with a warning where nothing else keeps it.")
    writer.line("@discardableResult")
    let isolation = isSharedFromAnywhere || isHeld ? "nonisolated " : ""
    let head = "\(declaration.inClient)\(access)\(isolation)func add"
    writer.block("\(head)(_ target: \(target)) -> Forwardcast.Registration") { writer in
      writer.line("weak let kept = target")
      writer.line("_ = kept")
      writer.line("return multicast.add(target)")
    }
  }

  // MARK: Inheritance

  /// The protocol that the class and those of refining protocols conform to; the requirements are in an extension for it.
  private func forwarding(_ writer: inout TextWriter) {
    let parents = parents.map { ", \($0).Forwarding" }.joined()
    let sharing = isVisiblySendable ? " where Interface: Sendable" : ""
    writer.line(
      "/// What a class is that has these requirements: this one, and those of protocols that refine the protocol.")
    writer.line("\(access)nonisolated protocol Forwarding: Forwardcast.MulticastFacade\(parents)\(sharing) {}")
    writer.line("")
  }

  /// The extension with the requirements, for the class and for those of refining protocols.
  func inheritance(of type: String) -> String {
    guard hasInheritance, !items.isEmpty else { return "" }
    // Without the backticks of the last name, which the suffix makes unnecessary.
    let start = type.hasSuffix("`") ? type.dropLast().lastIndex(of: "`") : nil
    let name = start.map { type[..<$0] + type[type.index(after: $0)...].dropLast() } ?? type[...]
    var writer = TextWriter()
    let isolation = settings.isMainActorByDefault && isolation == .nonisolated ? "nonisolated " : ""
    writer.lines(availability(declaration.attributes))
    let owner = "\(name)Proxy"
    let shared = sharedTypes.map { ", \($0): SendableMetatype" }.joined()
    writer.block(
      "\(isolation)extension \(type) where Self: \(AttributeOptions.namespace(of: owner)).Forwarding\(shared)"
    ) {
      MemberWriter(self, owner: owner).write(to: &$0)
    }
    return writer.text
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
