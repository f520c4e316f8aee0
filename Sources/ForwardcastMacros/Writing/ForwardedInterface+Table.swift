// ForwardedInterface+Table.swift: the table of a written class.

/// Writes the table of a protocol, declarations that its rows need, and `responds(to:)` for optional requirements.
extension ForwardedInterface {
  private var tableHead: String {
    // Refined protocols contribute to the table.
    let staysOnMainActor =
      declaration.members.contains(where: staysOnMainActor)
      || settings.isMainActorByDefault && isolation == .mainActor && !options.inherited.isEmpty
    return staysOnMainActor ? "@MainActor \(access)static" : "\(access)nonisolated static"
  }

  /// Writes the function by which classes of refining protocols get the table. It takes the associated types from them.
  func tableForRefining(_ writer: inout TextWriter) {
    let child = isGeneric ? "Child: \(protocolName)" : "Child"
    let shared = sharedTypes.map { "Child.\($0): SendableMetatype" }.joined(separator: ", ")
    let arguments = typeParameters.map { "Child.\($0.name)" }.joined(separator: ", ")
    let line = "\(tableHead) func table<\(child)>(of child: Child.Type) -> Forwardcast.SelectorTable"
    writer.block(declaration.inClient + line + (shared.isEmpty ? "" : " where \(shared)")) {
      $0.line("\(className)\(arguments.isEmpty ? "" : "<\(arguments)>").table")
    }
    writer.line("")
  }

  func table(_ writer: inout TextWriter) {
    writer.line("/// One table for all targets: they need none of their own.")
    // The tables of refined protocols: ``tableForRefining(_:)``.
    let inherited = isWhole ? parents.map { "\($0).table(of: \(className).self)" }.joined(separator: ", ") : ""
    let arguments = "(\(target)).self" + (inherited.isEmpty ? "" : ", inheritingAll: [\(inherited)]")
    func rows(_ writer: inout TextWriter) { writer.entries(items, row) }
    let names = entries.compactMap(\.swiftName).joined(separator: " ")
    let end = names.isEmpty ? "" : ".named(\"\(names)\")"
    if isGeneric {
      writer.block("\(tableHead) var table: Forwardcast.SelectorTable") { writer in
        writer.block("Forwardcast.SelectorTable.shared(for: \(arguments))", end: end, rows)
      }
    } else {
      writer.block("\(tableHead) let table = Forwardcast.SelectorTable(for: \(arguments))", end: end, rows)
    }
    beside(&writer, { isolation(of: $0) == .inherited }) { entry, writer in
      writer.lines(availability(entry.member.attributes))
      rowWriter(entry).function(entry, &writer)
    }
    beside(&writer, isDeprecated, deprecatedRow)
    writer.line("")
  }

  /// Writes a declaration for each wanted message.
  private func beside(
    _ writer: inout TextWriter, _ isWanted: (Member) -> Bool, _ body: (Entry, inout TextWriter) -> Void
  ) {
    guard declaration.members.contains(where: isWanted) else { return }
    writer.entries(items, where: { isWanted($0.member) }) { entry, writer in
      writer.line("")
      body(entry, &writer)
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
      targetType: target, names: names, isClassBound: isVisiblyClassBound, key: "Messages.\(entry.key.quotedIfKeyword)",
      isolation: isolation(of: entry.member), isShared: isVisiblySendable,
      isNonsendingByDefault: settings.isNonsendingByDefault, functions: "\(className).",
      isInPlace: isVisiblyClassBound && options.interface == nil && !declaration.isObjectiveC)
  }

  private func rowName(_ entry: Entry) -> String { "Row\(ObjectiveCName.capitalized(entry.key))" }

  /// A row for a deprecated member, in a declaration that is deprecated too, where the call causes no warning.
  private func deprecatedRow(_ entry: Entry, _ writer: inout TextWriter) {
    let stays = staysOnMainActor(entry.member)
    let head = "\(stays ? "@MainActor private" : "private nonisolated") struct \(rowName(entry))"
    writer.block("\(head): \(stays ? "@MainActor " : "")Forwardcast.WrittenRow") { writer in
      writer.lines(availability(entry.member.attributes))
      writer.block("func row() -> Forwardcast.Responds<\(target)>") { $0.line(rowText(entry)) }
    }
  }

  // MARK: Optional requirements

  /// The `#selector` of an optional requirement.
  private func objectiveCSelector(_ member: Member) -> String {
    let labels = member.parameters.map { ($0.label?.asLabel ?? "_") + ":" }.joined()
    let arguments = labels.isEmpty ? "" : "(\(labels))"
    return member.kind == .property
      ? "#selector(getter: \(protocolName).\(member.name))" : "#selector(\(protocolName).\(member.name)\(arguments))"
  }

  /// Writes `responds(to:)`, which says of an optional requirement whether a target implements it.
  func optionalRequirements(_ writer: inout TextWriter) {
    guard base != nil, declaration.members.contains(where: \.isOptional),
      [.nonisolated, .mainActor].contains(isolation)
    else { return }
    let isOnMainActor = isolation == .mainActor
    writer.line("")
    writer.line("/// Optional requirements are there when a target has them.")
    writer.block(
      "\(access)\(isOnMainActor ? "nonisolated " : "")override func responds(to selector: Selector!) -> Bool"
    ) { writer in
      writer.line("let message: Forwardcast.MessageSelector")
      writer.line("switch selector {")
      writer.entries(items, where: { $0.member.isOptional && $0.role != .setter }) { entry, writer in
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
