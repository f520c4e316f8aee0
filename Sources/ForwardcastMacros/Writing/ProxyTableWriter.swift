// ProxyTableWriter.swift: the table of a written class.

/// Writes the table of a protocol, declarations that its rows need, and `responds(to:)` for optional requirements.
struct ProxyTableWriter {
  let interface: ForwardedInterface

  init(_ interface: ForwardedInterface) { self.interface = interface }

  private var access: String { interface.declaration.memberAccess }

  private var head: String {
    interface.tableStaysOnMainActor ? "@MainActor \(access)static" : "\(access)nonisolated static"
  }

  /// Writes the function by which classes of refining protocols get the table. It takes the associated types from them.
  func forRefining(to writer: inout TextWriter) {
    let child = interface.isGeneric ? "Child: \(interface.protocolName)" : "Child"
    let shared = interface.sharedTypes.map { "Child.\($0): SendableMetatype" }.joined(separator: ", ")
    let arguments = interface.typeParameters.map { "Child.\($0.name)" }.joined(separator: ", ")
    let line = "\(head) func table<\(child)>(of child: Child.Type) -> Forwardcast.SelectorTable"
    writer.block(interface.declaration.inClient + line + (shared.isEmpty ? "" : " where \(shared)")) {
      $0.line("\(interface.className)\(arguments.isEmpty ? "" : "<\(arguments)>").table")
    }
    writer.line("")
  }

  func write(to writer: inout TextWriter) {
    writer.line("/// One table for all targets: they need none of their own.")
    let parents = interface.parentTables.joined(separator: ", ")
    let arguments = "(\(interface.target)).self" + (parents.isEmpty ? "" : ", inheritingAll: [\(parents)]")
    func rows(_ writer: inout TextWriter) { writer.entries(interface.items, row) }
    let names = interface.entries.compactMap(\.swiftName).joined(separator: " ")
    let end = names.isEmpty ? "" : ".named(\"\(names)\")"
    if interface.isGeneric {
      writer.block("\(head) var table: Forwardcast.SelectorTable") { writer in
        writer.block("Forwardcast.SelectorTable.shared(for: \(arguments))", end: end, rows)
      }
    } else {
      writer.block("\(head) let table = Forwardcast.SelectorTable(for: \(arguments))", end: end, rows)
    }
    beside(&writer, { interface.isolation(of: $0) == .inherited }) { entry, writer in
      writer.lines(interface.availability(entry.member.attributes))
      rowWriter(entry).function(entry, &writer)
    }
    beside(&writer, interface.isDeprecated, deprecatedRow)
    writer.line("")
  }

  /// Writes a declaration for each wanted message.
  private func beside(
    _ writer: inout TextWriter, _ isWanted: (Member) -> Bool, _ body: (Entry, inout TextWriter) -> Void
  ) {
    guard interface.declaration.members.contains(where: isWanted) else { return }
    writer.entries(interface.items, where: { isWanted($0.member) }) { entry, writer in
      writer.line("")
      body(entry, &writer)
    }
  }

  private func row(_ entry: Entry, _ writer: inout TextWriter) {
    if interface.isDeprecated(entry.member) {
      writer.line("Forwardcast.Responds(writtenBy: \(rowName(entry))())")
    } else if let platforms = interface.platforms(entry.member) {
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
      targetType: interface.target, names: interface.names, isClassBound: interface.isVisiblyClassBound,
      key: "Messages.\(entry.key.quotedIfKeyword)", isolation: interface.isolation(of: entry.member),
      isShared: interface.isVisiblySendable, isNonsendingByDefault: interface.settings.isNonsendingByDefault,
      functions: "\(interface.className).",
      isInPlace: interface.isVisiblyClassBound && interface.options.interface == nil
        && !interface.declaration.isObjectiveC)
  }

  private func rowName(_ entry: Entry) -> String { "Row\(ObjectiveCName.capitalized(entry.key))" }

  /// A row for a deprecated member, in a declaration that is deprecated too, where the call causes no warning.
  private func deprecatedRow(_ entry: Entry, _ writer: inout TextWriter) {
    let stays = interface.staysOnMainActor(entry.member)
    let head = "\(stays ? "@MainActor private" : "private nonisolated") struct \(rowName(entry))"
    writer.block("\(head): \(stays ? "@MainActor " : "")Forwardcast.WrittenRow") { writer in
      writer.lines(interface.availability(entry.member.attributes))
      writer.block("func row() -> Forwardcast.Responds<\(interface.target)>") { $0.line(rowText(entry)) }
    }
  }

  // MARK: Optional requirements

  /// The `#selector` of an optional requirement.
  private func objectiveCSelector(_ member: Member) -> String {
    let labels = member.parameters.map { ($0.label?.asLabel ?? "_") + ":" }.joined()
    let arguments = labels.isEmpty ? "" : "(\(labels))"
    return member.kind == .property
      ? "#selector(getter: \(interface.protocolName).\(member.name))"
      : "#selector(\(interface.protocolName).\(member.name)\(arguments))"
  }

  /// Writes `responds(to:)`, which says of an optional requirement whether a target implements it.
  func optionalRequirements(to writer: inout TextWriter) {
    guard interface.base != nil, interface.declaration.members.contains(where: \.isOptional),
      [.nonisolated, .mainActor].contains(interface.isolation)
    else { return }
    let isOnMainActor = interface.isolation == .mainActor
    writer.line("")
    writer.line("/// Optional requirements are there when a target has them.")
    writer.block(
      "\(access)\(isOnMainActor ? "nonisolated " : "")override func responds(to selector: Selector!) -> Bool"
    ) { writer in
      writer.line("let message: Forwardcast.MessageSelector")
      writer.line("switch selector {")
      writer.entries(interface.items, where: { $0.member.isOptional && $0.role != .setter }) { entry, writer in
        writer.line(
          "case \(objectiveCSelector(entry.member)): message = Messages.\(entry.key.quotedIfKeyword).selector")
      }
      writer.line("default: return super.responds(to: selector)")
      writer.line("}")
      let question = "multicast.responds(to: message)"
      writer.line("return " + (isOnMainActor ? "MainActor.assumeIsolated { \(question) }" : question))
    }
  }
}
