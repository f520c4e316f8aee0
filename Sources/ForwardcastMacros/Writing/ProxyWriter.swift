// ProxyWriter.swift: the class that @Forwarded writes.

/// Writes the class of a protocol: keys, one table, the requirements, and their forms with a policy.
struct ProxyWriter {
  let interface: ForwardedInterface

  init(_ interface: ForwardedInterface) { self.interface = interface }

  private var declaration: TypeDeclaration { interface.declaration }
  private var target: String { interface.target }

  private var access: String { declaration.memberAccess }

  /// The access of the namespace, which limits that of the class.
  private var namespaceAccess: String { declaration.access.map { $0 == "open" ? "public " : "\($0) " } ?? "" }

  /// The words that put the class in its isolation.
  private var classIsolation: String {
    guard interface.isolation == .nonisolated else { return interface.isolation.attribute }
    // What the class states beside its protocol may be on an actor.
    return interface.settings.isMainActorByDefault || interface.mayInherit ? "nonisolated " : ""
  }

  /// Whether an extension can have the requirements for others: it cannot for Objective-C, which calls no extension.
  private var hasInheritance: Bool {
    interface.isWhole && interface.options.interface == nil && !declaration.isObjectiveC
  }

  /// Whether the multicast may be touched from anywhere although the class is on an actor.
  private var isSharedFromAnywhere: Bool { interface.isolation != .nonisolated && interface.isVisiblySendable }

  /// Whether only the compiler knows to which actor the multicast belongs, or whether it is `Sendable`.
  private var isHeld: Bool {
    interface.isolation != .nonisolated && interface.mayInherit && !interface.isVisiblySendable
  }

  /// The class as text, in a namespace: see `CountedExpansion`.
  func text() -> String {
    let availability = interface.availability(declaration.attributes)
    let (name, arguments) = (interface.className, interface.genericArguments)
    var writer = TextWriter()
    writer.line(
      "/// Is a ``\(declaration.plainName)`` and stands for many: a call goes to every target. Written by `@Forwarded`."
    )
    writer.lines(availability)
    writer.line(
      "\(namespaceAccess)typealias \(name)\(interface.statedGenericParameters) = \(interface.namespace).\(name)\(arguments)\(interface.genericRequirements)"
    )
    writer.line("")
    writer.line("/// What ``\(name)`` stands in.")
    writer.lines(availability)
    writer.line("@Forwardcast.\(CountedExpansion.macro)")
    writer.block("\(namespaceAccess)nonisolated enum \(interface.namespace)") { writer in
      carriedNames(&writer)
      bases(&writer)
      forwarding(&writer)
      ProxyTableWriter(interface).forRefining(to: &writer)
      writer.line("#if \(CountedExpansion.condition)  // \(CountedExpansion.macro) writes this into an extension.")
      writtenClass(&writer)
      writer.line("#endif")
    }
    return writer.text
  }

  private func writtenClass(_ writer: inout TextWriter) {
    writer.block(available(declaration.attributes, classHead), remark: advice, at: interface.place) { writer in
      keys(&writer)
      writer.line("")
      let table = ProxyTableWriter(interface)
      table.write(to: &writer)
      storage(&writer)
      weakAdd(&writer)
      table.optionalRequirements(to: &writer)
      if !hasInheritance { MemberWriter(interface, access: access).write(to: &writer) }
    }
  }

  /// The names of what the class inherits. That of a class without a superclass is there for refining protocols.
  private func bases(_ writer: inout TextWriter) {
    for (parent, name) in zip(interface.parents, interface.options.inherited) {
      writer.line(
        "\(access)typealias \(parent) = \(ForwardedOptions.namespace(of: name))  // The protocol needs '@Forwarded' itself.",
        at: interface.place)
    }
    let all = interface.bases.isEmpty ? "Any" : interface.bases.joined(separator: " & ")
    writer.line("\(access)typealias \(ForwardedInterface.baseName) = \(all)")
  }

  /// What the compiler may find that the text does not tell.
  private var advice: String? {
    var remarks = interface.unknownProtocols.map {
      "does it not conform to '\($0)'? Say '@Forwarded(inheriting: (any \($0)).self)', or write its requirements again (see 'Real delegates'); where it inherits 'NSObjectProtocol', 'base: NSObject.self'."
    }
    let attributes = declaration.attributes + declaration.members.flatMap(\.attributes)
    for name in Set(attributes.filter { $0.mayBeActor && !$0.isGlobalActor }.map(\.name)).sorted() {
      remarks.append("is '\(name)' a global actor? Say '@Forwarded(isolatedTo: \(name).self)'.")
    }
    remarks += interface.refinedTypes.map {
      "what does '\($0)' conform to? Say it again: 'protocol \(declaration.name)\(interface.genericArguments): … where \($0): …'."
    }
    if !interface.isGeneric, let parent = interface.options.inherited.first {
      remarks.append(
        "has the protocol of '\(parent)' associated types? Name them: 'protocol \(declaration.name)<…>', or say 'where … == …'."
      )
    }
    if !access.isEmpty, interface.settings.hasInternalImports { remarks.append("say 'public import Forwardcast'.") }
    return remarks.isEmpty ? nil : remarks.joined(separator: " ")
  }

  /// A line of a declaration behind what the attributes say of its availability: no line of another kind may stand between.
  private func available(_ attributes: [Attribute], _ line: String) -> String {
    (interface.availability(attributes) + [line]).joined(separator: " ")
  }

  private var classHead: String {
    let own = interface.isWhole ? interface.protocolName : nil
    let base =
      interface.inheritsFacade
      ? "Forwardcast.WrittenFacade<\(target)>" : interface.bases.isEmpty ? nil : ForwardedInterface.baseName
    let sharing = interface.inheritsFacade && interface.isVisiblySendable ? "@unchecked Sendable" : nil
    let conformances = [base, own, "\(facadeIsolation)Forwarding", sharing].compactMap(\.self)
    return
      "\(classIsolation)\(access)final class \(interface.className)\(interface.genericParameters): \(conformances.joined(separator: ", "))\(interface.genericRequirements)"
  }

  /// The words that isolate the conformances which the library gives.
  private var facadeIsolation: String {
    if interface.isolation == .nonisolated { return "" }
    return isSharedFromAnywhere || isHeld ? "nonisolated " : interface.isolation.attribute
  }

  // MARK: Names

  /// Names for what only the namespace sees, and extensions need too.
  private func carriedNames(_ writer: inout TextWriter) {
    guard interface.isNested else { return }
    writer.lines(interface.aliases.map { access + $0 })
    writer.entries(interface.items, where: { $0.role != .setter }) { entry, writer in
      let aliases = interface.names.aliases(of: entry.member)
      writer.lines(aliases.map { available(entry.member.attributes, access + $0) } + values(of: entry.member))
    }
    writer.line("")
  }

  private func values(of member: Member) -> [String] {
    guard !interface.isGeneric, let plan = interface.plans[member.positions.lowerBound], let type = member.type else {
      return []
    }
    var values: [(name: String, type: String, text: String)] = []
    if case .stated(let text) = plan.empty { values.append(("Otherwise", type.keyed, text)) }
    if plan.policy.contains("(") {
      let output = plan.isOptional ? type.keyed.asOptional : type.keyed
      values.append(("Rule", "Forwardcast.ReturnPolicy<\(type.keyed), \(output)>", plan.policy))
    }
    let isolation = interface.isolation(of: member).attribute
    return values.flatMap {
      let name = interface.names.value($0.text, $0.name, of: member)
      let line = available(
        member.attributes, "\(isolation)\(access)static var \(name): \($0.type) { \($0.text) }")
      return interface.place(ofValue: $0.text, member)?.lines(line) ?? [line]
    }
  }

  // MARK: Keys

  private func keys(_ writer: inout TextWriter) {
    let (stored, name) = (storedKeys, storedName)
    let places = Dictionary(stored.enumerated().map { ($1.key, $0) }) { first, _ in first }
    writer.line("/// The keys of its messages, for `on`, `broadcast` and `collect`.")
    writer.block("\(access)nonisolated enum Messages") { writer in
      writer.entries(interface.items) { entry, writer in
        writer.lines(interface.availability(entry.member.attributes))
        let (key, type) = (entry.key.quotedIfKeyword, type(ofKey: entry))
        let place = places[entry.key]
        let value = "\(type)(\(place.map { "\(name).\($0)" } ?? "\"\(entry.selector)\""))"
        let head = (place == nil ? isolation(ofKey: entry) : declaration.inClient) + "\(access)static "
        let remark = entry.member.needsCopies ? "  // Every target gets a copy of each argument." : ""
        let isComputed = place != nil || interface.isGeneric
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

  private func type(ofKey entry: Entry) -> String { "Forwardcast.Message<\(interface.names.functionType(entry))>" }
  private func isolation(ofKey entry: Entry) -> String { interface.staysOnMainActor(entry.member) ? "@MainActor " : "" }

  /// The keys whose selectors are kept in one value, where there are several: a variable each has an initializer each. They are
  /// there in any build and on no actor.
  private var storedKeys: [Entry] {
    let entries = interface.items.compactMap(\.entry).filter {
      $0.member.branches.isEmpty && interface.availability($0.member.attributes).isEmpty && isolation(ofKey: $0).isEmpty
    }
    // The compiler's time for a tuple grows with the cube of its length.
    return (2...32).contains(entries.count) && !interface.isGeneric ? entries : []
  }

  private var storedName: String {
    var name = "selectors"
    while interface.items.contains(where: { $0.entry.map { [$0.key, $0.base].contains(name) } ?? false }) {
      name += "_"
    }
    return name
  }

  /// What stands under the name of several requirements: an error that names their keys, so that an overload which is added
  /// does not rename the key of another without a word.
  private func overloads(_ writer: inout TextWriter) {
    let entries = interface.items.compactMap(\.entry)
    let keys = Dictionary(grouping: entries) { SelectorName.key($0.base) }
    let taken = Set(entries.map(\.key))
    for (base, entries) in keys.sorted(by: { $0.key < $1.key }) where !taken.contains(base) {
      let names = entries.map { "'\($0.key)'" }.joined(separator: ", ")
      writer.line(
        "@available(*, unavailable, message: \"the requirements of this name have keys of their own: \(names)\")")
      // Of the type of one, so that a use of it is told this and not that types differ.
      let typed = entries.first { $0.member.branches.isEmpty && interface.availability($0.member.attributes).isEmpty }
      let type = typed.map(type(ofKey:)) ?? "Never"
      let isolation = typed.map(isolation(ofKey:)) ?? ""
      writer.line(
        "\(declaration.inClient)\(isolation)\(access)static var \(base.quotedIfKeyword): \(type) { fatalError() }")
    }
  }

  // MARK: Storage

  private func storage(_ writer: inout TextWriter) {
    let isolation = isSharedFromAnywhere ? "nonisolated " : ""
    let name = isHeld ? "held" : "multicast"
    if !interface.inheritsFacade { writer.line("/// Has the targets and sends the messages.") }
    if interface.inheritsFacade {
      // The superclass has it.
    } else if isHeld {
      writer.block("\(access)nonisolated var multicast: Forwardcast.MulticastProxy<\(target)>") {
        $0.line("held.proxy(for: \(interface.className).place)")
      }
      writer.line("private nonisolated let held: Forwardcast.HeldProxy<\(target)>")
    } else {
      writer.line("\(access)\(isolation)let multicast: Forwardcast.MulticastProxy<\(target)>")
    }
    if interface.isolation != .nonisolated, interface.mayInherit {
      writer.block("\(access)nonisolated static var actorOfClass: (any Actor)?") {
        $0.line("Forwardcast.actor(of: \(interface.className).place)")
      }
      writer.line("private static func place() {}")
    }
    let arguments = "(table: \(interface.className).table, options: options)"
    let value = "Forwardcast.MulticastProxy<\(target)>\(arguments)"
    if !interface.inheritsFacade { writer.line("") }
    writer.line("/// A proxy without targets.")
    let head = (isHeld ? "" : declaration.inClient) + access
    writer.block("\(head)init(options: Forwardcast.MulticastOptions = Forwardcast.MulticastOptions())") {
      $0.line(
        interface.inheritsFacade
          ? "super.init\(arguments)" : "\(name) = \(isHeld ? "Forwardcast.HeldProxy(\(value))" : value)")
    }
  }

  /// The compiler sees here, as it does not in the library, that the proxy keeps no temporary.
  private func weakAdd(_ writer: inout TextWriter) {
    guard interface.isVisiblyClassBound, interface.options.interface == nil,
      !declaration.members.contains(where: { $0.plainName == "add" })
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

  /// What the class is, and those of protocols that refine this one.
  private func forwarding(_ writer: inout TextWriter) {
    let parents = interface.parents.map { ", \($0).Forwarding" }.joined()
    let sharing = interface.isVisiblySendable ? " where Interface: Sendable" : ""
    writer.line(
      "/// What a class is that has these requirements: this one, and those of protocols that refine the protocol.")
    writer.line("\(access)nonisolated protocol Forwarding: Forwardcast.MulticastFacade\(parents)\(sharing) {}")
    writer.line("")
  }

  /// The requirements, for the class and for those of protocols that refine this one.
  func inheritance(of type: String) -> String {
    guard hasInheritance, !interface.items.isEmpty else { return "" }
    // The last name without its backticks: what is written behind it makes it no keyword.
    let start = type.hasSuffix("`") ? type.dropLast().lastIndex(of: "`") : nil
    let name = start.map { type[..<$0] + type[type.index(after: $0)...].dropLast() } ?? type[...]
    var writer = TextWriter()
    let isolation = interface.settings.isMainActorByDefault && interface.isolation == .nonisolated ? "nonisolated " : ""
    writer.lines(interface.availability(declaration.attributes))
    let owner = "\(name)Proxy"
    let shared = interface.sharedTypes.map { ", \($0): SendableMetatype" }.joined()
    writer.block(
      "\(isolation)extension \(type) where Self: \(ForwardedOptions.namespace(of: owner)).Forwarding\(shared)"
    ) {
      MemberWriter(interface, access: access, owner: owner).write(to: &$0)
    }
    return writer.text
  }
}

extension CarriedNames {
  /// The type of the value that a setter takes.
  func setType(_ entry: Entry) -> String {
    entry.member.type.map { ($0.isNonescapingFunction ? "@escaping " : "") + keyed($0) } ?? "Void"
  }

  /// The function type of the key.
  func functionType(_ entry: Entry) -> String {
    let member = entry.member
    let arguments = member.parameters.map { keyed($0.type) }
    let answer = member.type.map { $0.isVoid ? "Void" : keyed($0) } ?? "Void"
    switch entry.role {
    case .method, .getter: return "(\(arguments.joined(separator: ", "))) -> \(answer.asAnswer(member.type))"
    case .setter: return "(\(([setType(entry)] + arguments).joined(separator: ", "))) -> Void"
    }
  }
}

extension String {
  /// A function type in brackets, so that it reads as an answer.
  fileprivate func asAnswer(_ type: TypeText?) -> String { type?.isFunction == true ? "(\(self))" : self }
}
