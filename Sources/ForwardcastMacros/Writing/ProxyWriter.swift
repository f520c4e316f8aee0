// ProxyWriter.swift: the class that @Forwarded writes.
// Part of the macro program: Writing. See the article "How the attributes work".

/// Writes the class of a protocol: keys, one table, the requirements, and their forms with a policy.
struct ProxyWriter {
  let interface: ForwardedInterface

  init(_ interface: ForwardedInterface) { self.interface = interface }

  private var declaration: TypeDeclaration { interface.declaration }
  private var target: String { interface.target }

  /// The access of the class's members, with a blank; nothing where that of the class is the narrowest there is.
  var access: String {
    switch declaration.access {
    case "public", "open": "public "
    case "package": "package "
    default: ""
    }
  }

  /// The access of the class itself.
  private var classAccess: String { declaration.access.map { $0 == "open" ? "public " : "\($0) " } ?? "" }

  /// The words that put the class in its isolation.
  private var classIsolation: String {
    switch interface.isolation {
    case .mainActor: "@MainActor "
    case .global(let actor): "@\(actor) "
    case .inherited: ""
    case .nonisolated, .instance: interface.settings.isMainActorByDefault ? "nonisolated " : ""
    }
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
    writer.lines(availability)
    if isCounted { writer.line("@Forwardcast.\(CountedExpansion.macro)(\"\(countedConformances)\")") }
    writer.block(classHead, remark: advice) { writer in
      counted(&writer)
      carriedNames(&writer)
      keys(&writer)
      writer.line("")
      table(&writer)
      writer.line("")
      storage(&writer)
      optionalRequirements(&writer)
      if hasInheritance { forwarding(&writer) }
      MemberWriter(interface, access: access).write(to: &writer)
    }
    return writer.text
  }

  private var availability: [String] {
    declaration.attributes.filter { $0.shortName == "available" }.map { interface.source.line($0.positions) }
  }

  /// What the compiler may find that the text does not tell.
  private var advice: String? {
    var remarks = interface.unknownProtocols.map {
      "does it not conform to '\($0)'? Say '@Forwarded(inheriting: (any \($0)).self)', or write its requirements again."
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
    switch interface.isolation {
    case .nonisolated, .instance: ""
    case .inherited: "nonisolated "
    case .mainActor: isSharedFromAnywhere ? "nonisolated " : "@MainActor "
    case .global(let actor): isSharedFromAnywhere ? "nonisolated " : "@\(actor) "
    }
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
    for item in interface.items {
      switch item {
      case .directive(let line): writer.line(line)
      case .entry(let entry) where entry.role == .setter: break
      case .entry(let entry):
        let member = entry.member
        let lines = CarriedNames.aliases(of: member, in: interface.source).map {
          "\(access)typealias \($0.name) = \($0.type)"
        }
        if !lines.isEmpty { writer.lines(availability(member) + lines) }
        values(of: member, &writer)
      }
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
      for item in interface.items {
        switch item {
        case .directive(let line): writer.line(line)
        case .entry(let entry):
          writer.lines(availability(entry.member))
          let head = "\(access)static"
          let name = entry.key.quotedIfKeyword
          let value = "Forwardcast.Message<\(entry.functionType)>(\"\(entry.selector)\")"
          let remark = entry.member.needsCopies ? "  // Every target gets a copy of each argument." : ""
          if interface.isGeneric {
            writer.line("\(head) var \(name): Forwardcast.Message<\(entry.functionType)> { \(value) }\(remark)")
          } else {
            writer.line("\(head) let \(name) = \(value)\(remark)")
          }
        }
      }
      overloads(&writer)
    }
  }

  /// What stands under the name of several requirements: an error that names their keys, so that an overload which is added
  /// does not rename the key of another without a word.
  private func overloads(_ writer: inout TextWriter) {
    var keys: [String: [String]] = [:]
    var bases: [String] = []
    var taken: Set<String> = []
    for case .entry(let entry) in interface.items {
      let base = SelectorName.key(entry.base)
      if keys[base] == nil { bases.append(base) }
      keys[base, default: []].append(entry.key)
      taken.insert(entry.key)
    }
    for base in bases where !taken.contains(base) {
      let names = keys[base, default: []].map { "'\($0)'" }.joined(separator: ", ")
      writer.line(
        "@available(*, unavailable, message: \"the requirements of this name have keys of their own: \(names)\")")
      writer.line("\(access)static var \(base.quotedIfKeyword): Never { fatalError() }")
    }
  }

  private func availability(_ member: Member) -> [String] {
    member.attributes.filter { $0.shortName == "available" }.map { interface.source.line($0.positions) }
  }

  // MARK: Table

  private func table(_ writer: inout TextWriter) {
    writer.line("/// One table for all targets: they need none of their own.")
    let parents = interface.options.inherited.map { "\($0).table" }.joined(separator: ", ")
    let inheriting = parents.isEmpty ? "" : ", inheritingAll: [\(parents)]"
    func rows(_ writer: inout TextWriter) {
      for item in interface.items {
        switch item {
        case .directive(let line): writer.line(line)
        case .entry(let entry): row(entry, &writer)
        }
      }
    }
    if interface.isGeneric {
      writer.block("\(access)nonisolated static var table: Forwardcast.SelectorTable") { writer in
        writer.block("Forwardcast.SelectorTable.shared(for: (\(target)).self\(inheriting))", rows)
      }
    } else {
      writer.block(
        "\(access)nonisolated static let table = Forwardcast.SelectorTable(for: (\(target)).self\(inheriting))", rows)
    }
    let hasFunctions = declaration.members.contains { interface.isolation(of: $0) == .inherited }
    for item in interface.items where hasFunctions {
      switch item {
      case .directive(let line): writer.line(line)
      case .entry(let entry) where interface.isolation(of: entry.member) == .inherited:
        writer.line("")
        writer.lines(availability(entry.member))
        rowWriter(entry).function(entry, &writer)
      case .entry: break
      }
    }
    for item in interface.items {
      switch item {
      case .directive(let line): if hasDeprecatedRows { writer.line(line) }
      case .entry(let entry): if isDeprecated(entry.member) { deprecatedRow(entry, &writer) }
      }
    }
  }

  private func row(_ entry: Entry, _ writer: inout TextWriter) {
    if isDeprecated(entry.member) {
      writer.line("Forwardcast.Responds(writtenBy: \(rowName(entry))())")
    } else if let platforms = platforms(entry.member) {
      writer.block("if #available(\(platforms))") { $0.line(rowText(entry)) }
    } else {
      writer.line(rowText(entry))
    }
  }

  private func rowText(_ entry: Entry) -> String {
    let row = rowWriter(entry).row(entry)
    guard entry.member.isOptional else { return row }
    return "\(row).present { Forwardcast.implements($0, \(objectiveCSelector(entry.member))) }"
  }

  private func rowWriter(_ entry: Entry) -> RowWriter {
    RowWriter(
      targetType: target, isClassBound: interface.isVisiblyClassBound, key: "Messages.\(entry.key.quotedIfKeyword)",
      isolation: interface.isolation(of: entry.member), isShared: interface.isVisiblySendable,
      isNonsendingByDefault: interface.settings.isNonsendingByDefault, functions: "\(interface.className).")
  }

  // MARK: Objective-C

  /// The name of an optional requirement as Objective-C has it.
  private func objectiveCSelector(_ member: Member) -> String {
    let labels = member.parameters.map { ($0.label?.asLabel ?? "_") + ":" }.joined()
    let arguments = labels.isEmpty ? "" : "(\(labels))"
    return member.kind == .property
      ? "#selector(getter: \(interface.protocolName).\(member.name))"
      : "#selector(\(interface.protocolName).\(member.name)\(arguments))"
  }

  /// Whoever asks the class before calling an optional requirement is told whether a target has it.
  private func optionalRequirements(_ writer: inout TextWriter) {
    let members = declaration.members.filter(\.isOptional)
    guard interface.base != nil, !members.isEmpty else { return }
    let head: String
    switch interface.isolation {
    case .nonisolated: head = ""
    case .mainActor: head = "nonisolated "
    default: return
    }
    writer.line("")
    writer.line("/// Optional requirements are there when a target has them.")
    writer.block("\(access)\(head)override func responds(to selector: Selector!) -> Bool") { writer in
      writer.line("let message: Forwardcast.MessageSelector")
      writer.line("switch selector {")
      for item in interface.items {
        switch item {
        case .directive(let line): writer.line(line)
        case .entry(let entry) where entry.member.isOptional && entry.role != .setter:
          writer.line(
            "case \(objectiveCSelector(entry.member)): message = Messages.\(entry.key.quotedIfKeyword).selector")
        case .entry: break
        }
      }
      writer.line("default: return super.responds(to: selector)")
      writer.line("}")
      let question = "multicast.responds(to: message)"
      writer.line("return " + (head.isEmpty ? question : "MainActor.assumeIsolated { \(question) }"))
    }
  }

  // MARK: Availability

  private var hasDeprecatedRows: Bool {
    interface.items.contains { if case .entry(let entry) = $0 { isDeprecated(entry.member) } else { false } }
  }

  private func arguments(_ attribute: Attribute) -> [String] {
    attribute.arguments.map { ($0.label.map { "\($0): " } ?? "") + interface.source.line($0.value) }
  }

  private func isDeprecated(_ member: Member) -> Bool {
    member.attributes.contains { attribute in
      attribute.shortName == "available" && arguments(attribute).contains { $0.hasPrefix("deprecated") }
    }
  }

  /// The platforms that a member needs, as `#available` names them.
  private func platforms(_ member: Member) -> String? {
    var platforms: [String] = []
    for attribute in member.attributes where attribute.shortName == "available" {
      let arguments = arguments(attribute)
      guard let platform = arguments.first, !platform.hasPrefix("swift"), !platform.hasPrefix("*") else { continue }
      if arguments.last == "*" {
        platforms += arguments.dropLast()
      } else if let introduced = arguments.first(where: { $0.hasPrefix("introduced: ") }) {
        platforms.append("\(platform) \(introduced.dropFirst(12))")
      }
    }
    return platforms.isEmpty ? nil : (platforms + ["*"]).joined(separator: ", ")
  }

  private func rowName(_ entry: Entry) -> String { "Row\(SelectorName.capitalized(entry.key))" }

  /// A row that calls what is deprecated: from where that is no matter for a warning.
  private func deprecatedRow(_ entry: Entry, _ writer: inout TextWriter) {
    writer.line("")
    writer.block("private nonisolated struct \(rowName(entry)): Forwardcast.WrittenRow") { writer in
      writer.lines(availability(entry.member))
      writer.block("func row() -> Forwardcast.Responds<\(target)>") { $0.line(rowText(entry)) }
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
    let name = type.hasSuffix("`") ? String(type.dropLast()).replacingLastBacktick : type
    var writer = TextWriter()
    let isolation = interface.settings.isMainActorByDefault && interface.isolation == .nonisolated ? "nonisolated " : ""
    writer.lines(availability)
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
  /// A name in backticks whose last one is still to be closed.
  fileprivate var replacingLastBacktick: String {
    guard let last = lastIndex(of: "`") else { return self }
    return String(self[..<last]) + self[index(after: last)...]
  }

  /// A function type in brackets, so that it reads as an answer.
  fileprivate func asAnswer(_ type: TypeText?) -> String { type?.isFunction == true ? "(\(self))" : self }
}
