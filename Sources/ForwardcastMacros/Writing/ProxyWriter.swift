// ProxyWriter.swift: the class that @Forwarded writes.
// Part of the macro program: Writing. See the article "How the attributes work".

/// Writes the class of a protocol: keys, one table, the requirements, and their forms with a policy.
struct ProxyWriter {
  let interface: ForwardedInterface

  init(_ interface: ForwardedInterface) { self.interface = interface }

  private var declaration: TypeDeclaration { interface.declaration }
  private var target: String { interface.target }

  private var access: String { declaration.memberAccess }

  /// The access of the class itself.
  private var classAccess: String { declaration.access.map { $0 == "open" ? "public " : "\($0) " } ?? "" }

  /// The words that put the class in its isolation.
  private var classIsolation: String {
    interface.isolation == .nonisolated
      ? interface.settings.isMainActorByDefault ? "nonisolated " : "" : interface.isolation.attribute
  }

  /// Whether the optimizer counts the types that conform to the protocol, and two more of them can be written: it
  /// leaves those protocols alone that other modules may adopt.
  private var isCounted: Bool {
    (hasInheritance || interface.isGeneric && !declaration.isObjectiveC) && interface.unknownProtocols.isEmpty
      && !["public", "open", "package"].contains(declaration.access)
  }

  /// Whether an extension can have the requirements for others: it cannot for a generic class, nor for Objective-C, which calls
  /// no extension.
  private var hasInheritance: Bool {
    interface.options.interface == nil && !interface.isGeneric && !declaration.isObjectiveC
  }

  /// Whether the multicast may be touched from anywhere although the class is on an actor.
  private var isSharedFromAnywhere: Bool { interface.isolation != .nonisolated && interface.isVisiblySendable }

  /// Whether only the compiler knows to which actor the multicast belongs.
  private var isHeld: Bool { interface.isolation == .inherited && !interface.isVisiblySendable }

  /// The class as text.
  func text() -> String {
    var writer = TextWriter()
    writer.line(
      "/// Is a ``\(declaration.plainName)`` and stands for many: a call goes to every target. Written by `@Forwarded`."
    )
    writer.lines(interface.availability(declaration.attributes))
    if isCounted { writer.line("@Forwardcast.\(CountedExpansion.macro)(\"\(countedConformances)\")") }
    writer.block(classHead, remark: advice) { writer in
      counted(&writer)
      carriedNames(&writer)
      keys(&writer)
      writer.line("")
      let table = ProxyTableWriter(interface)
      table.write(to: &writer)
      storage(&writer)
      weakAdd(&writer)
      table.optionalRequirements(to: &writer)
      if hasInheritance { forwarding(&writer) }
      MemberWriter(interface, access: access).write(to: &writer)
    }
    return writer.text
  }

  /// What the compiler may find that the text does not tell.
  private var advice: String? {
    var remarks = interface.unknownProtocols.map {
      "does it not conform to '\($0)'? Say '@Forwarded(inheriting: (any \($0)).self)', or write its requirements again (see 'Real delegates')."
    }
    let attributes = declaration.attributes + declaration.members.flatMap(\.attributes)
    for name in Set(attributes.filter { $0.mayBeActor && !$0.isGlobalActor }.map(\.name)).sorted() {
      remarks.append("is '\(name)' a global actor? Say '@Forwarded(isolatedTo: \(name).self)'.")
    }
    if !access.isEmpty, interface.settings.hasInternalImports { remarks.append("say 'public import Forwardcast'.") }
    return remarks.isEmpty ? nil : remarks.joined(separator: " ")
  }

  private var classHead: String {
    var conformances: [String] = []
    if let base = interface.base { conformances.append(base) }
    conformances.append(interface.protocolName)
    let facades = ["Forwardcast.MulticastFacade"] + interface.options.inherited.map { "\($0).Forwarding" }
    conformances += facades.map { facadeIsolation + $0 }
    return
      "\(classIsolation)\(classAccess)final class \(interface.className)\(interface.genericParameters): \(conformances.joined(separator: ", "))\(interface.genericRequirements)"
  }

  /// The words that isolate the conformances which the library gives.
  private var facadeIsolation: String {
    if interface.isolation == .nonisolated { return "" }
    return isSharedFromAnywhere || isHeld ? "nonisolated " : interface.isolation.attribute
  }

  // MARK: Optimizer

  /// What the two classes conform to that the optimizer counts, in names of the class.
  private var countedConformances: String {
    (interface.base == nil ? "" : "CountedBase, ")
      + (interface.isGeneric
        ? "CountedProtocol, Forwardcast.NeverMade" : "CountedProtocol, \(facadeIsolation)Forwarding")
  }

  private func counted(_ writer: inout TextWriter) {
    guard isCounted else { return }
    writer.line("typealias CountedProtocol = \(interface.protocolName)")
    for type in interface.typeParameters { writer.line("typealias Counted\(type.name) = \(type.name)") }
    if let base = interface.base { writer.line("typealias CountedBase = \(base)") }
    writer.line("")
  }

  // MARK: Names

  /// Names for what only the class sees, and the extension for refining protocols needs too.
  private func carriedNames(_ writer: inout TextWriter) {
    guard interface.isNested, hasInheritance || interface.isGeneric && isCounted else { return }
    writer.entries(interface.items, where: { $0.role != .setter }) { entry, writer in
      let member = entry.member
      let lines = CarriedNames.aliases(of: member, in: interface.source).map {
        "\(access)typealias \($0.name) = \($0.type)"
      }
      if !lines.isEmpty { writer.lines(interface.availability(member.attributes) + lines) }
      values(of: member, &writer)
    }
    writer.line("")
  }

  private func values(of member: Member, _ writer: inout TextWriter) {
    guard let plan = interface.plans[member.positions.lowerBound], let type = member.type else { return }
    let isolation = interface.isolation(of: member) == .nonisolated ? "nonisolated " : ""
    let names = CarriedNames(owner: "\(interface.className).")
    func value(_ kind: String, _ type: String, _ text: String) {
      let name = names.value("", kind, of: member).dropFirst(names.owner.count)
      writer.line("\(access)\(isolation)static var \(name): \(type) { \(text) }")
    }
    guard !interface.isGeneric else { return }
    if case .stated(let text) = plan.empty { value("Otherwise", type.keyed, text) }
    if plan.policy.contains("(") {
      let output = plan.isOptional ? type.keyed.asOptional : type.keyed
      value("Rule", "Forwardcast.ReturnPolicy<\(type.keyed), \(output)>", plan.policy)
    }
  }

  // MARK: Keys

  private func keys(_ writer: inout TextWriter) {
    writer.line("/// The keys of its messages, for `on`, `broadcast` and `collect`.")
    writer.block("\(access)nonisolated enum Messages") { writer in
      writer.entries(interface.items) { entry, writer in
        writer.lines(interface.availability(entry.member.attributes))
        let name = entry.key.quotedIfKeyword
        let type = "Forwardcast.Message<\(entry.functionType)>"
        let value = "\(type)(\"\(entry.selector)\")"
        let remark = entry.member.needsCopies ? "  // Every target gets a copy of each argument." : ""
        let isolation = interface.staysOnMainActor(entry.member) ? "@MainActor " : ""
        writer.line(
          "\(isolation)\(access)static "
            + (interface.isGeneric ? "var \(name): \(type) { \(value) }" : "let \(name) = \(value)")
            + remark)
      }
      overloads(&writer)
    }
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
      writer.line("\(access)static var \(base.quotedIfKeyword): Never { fatalError() }")
    }
  }

  // MARK: Storage

  private func storage(_ writer: inout TextWriter) {
    let isolation = isSharedFromAnywhere ? "nonisolated " : ""
    writer.line("/// Has the targets and sends the messages.")
    let name = isHeld ? "held" : "multicast"
    if isHeld {
      writer.block("\(access)nonisolated var multicast: Forwardcast.MulticastProxy<\(target)>") {
        $0.line("held.proxy(for: \(interface.className).place)")
      }
      writer.line("private nonisolated let held: Forwardcast.HeldProxy<\(target)>")
      writer.line("private static func place() {}")
    } else {
      writer.line("\(access)\(isolation)let multicast: Forwardcast.MulticastProxy<\(target)>")
    }
    func value(_ options: String) -> String {
      let table = "table: \(interface.className).table\(options)"
      return isHeld
        ? "Forwardcast.HeldProxy(Forwardcast.MulticastProxy<\(target)>(\(table)))"
        : "Forwardcast.MulticastProxy(\(table))"
    }
    writer.line("")
    writer.line("/// A proxy without targets.")
    writer.block("\(access)init(options: Forwardcast.MulticastOptions)") { writer in
      writer.line("\(name) = \(value(", options: options"))")
      if interface.base != nil { writer.line("super.init()") }
    }
    writer.line("")
    writer.line("/// A proxy without targets, and with the usual options.")
    if interface.base != nil {
      writer.block("\(access)override init()") { writer in
        writer.line("\(name) = \(value(""))")
        writer.line("super.init()")
      }
    } else {
      writer.block("\(access)convenience init()") { $0.line("self.init(options: Forwardcast.MulticastOptions())") }
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
    writer.block("\(access)\(isolation)func add(_ target: \(target)) -> Forwardcast.Registration") { writer in
      writer.line("weak let kept = target")
      writer.line("_ = kept")
      writer.line("return multicast.add(target)")
    }
  }

  // MARK: Inheritance

  /// What stands for this protocol in the inheritance of classes whose protocols refine it.
  private func forwarding(_ writer: inout TextWriter) {
    let parents = interface.options.inherited.map { "\($0).Forwarding" }
    let clause = parents.isEmpty ? "Forwardcast.MulticastFacade" : parents.joined(separator: ", ")
    let sharing = interface.isVisiblySendable ? " where Interface: Sendable" : ""
    writer.line("")
    writer.line(
      "/// What a class is that has these requirements by inheritance: `@Forwarded(inheriting: (any \(interface.name)).self)`."
    )
    writer.line("\(access)nonisolated protocol Forwarding: \(clause)\(sharing) {}")
  }

  /// The requirements for the classes of protocols that refine this one.
  func inheritance(of type: String) -> String {
    guard hasInheritance || interface.isGeneric && isCounted, !interface.items.isEmpty else { return "" }
    // The last name without its backticks: what is written behind it makes it no keyword.
    let start = type.hasSuffix("`") ? type.dropLast().lastIndex(of: "`") : nil
    let name = start.map { type[..<$0] + type[type.index(after: $0)...].dropLast() } ?? type[...]
    var writer = TextWriter()
    let isolation = interface.settings.isMainActorByDefault && interface.isolation == .nonisolated ? "nonisolated " : ""
    writer.lines(interface.availability(declaration.attributes))
    let adopter = interface.isGeneric ? "Forwardcast.NeverMade" : "\(name)Proxy.Forwarding"
    writer.block("\(isolation)extension \(type) where Self: \(adopter)") { writer in
      var members = MemberWriter(interface, access: access, owner: "\(name)Proxy\(interface.genericArguments)")
      members.isNeverCalled = interface.isGeneric
      members.write(to: &writer)
    }
    return writer.text
  }
}

extension Entry {
  /// The type of the value that a setter takes.
  var setType: String { member.type.map { $0.isNonescapingFunction ? "@escaping \($0.keyed)" : $0.keyed } ?? "Void" }

  /// The function type of the key.
  var functionType: String {
    let arguments = member.parameters.map { $0.type.keyed }
    let answer = member.type.map { $0.isVoid ? "Void" : $0.keyed } ?? "Void"
    switch role {
    case .method, .getter: return "(\(arguments.joined(separator: ", "))) -> \(answer.asAnswer(member.type))"
    case .setter: return "(\(([setType] + arguments).joined(separator: ", "))) -> Void"
    }
  }
}

extension String {
  /// A function type in brackets, so that it reads as an answer.
  fileprivate func asAnswer(_ type: TypeText?) -> String { type?.isFunction == true ? "(\(self))" : self }
}
