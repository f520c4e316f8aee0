// ForwardedInterface+Table.swift: the table of a generated class.

extension ForwardedInterface {
  private var tableHead: String {
    // The table includes the rows of refined protocols.
    let staysOnMainActor =
      declaration.members.contains(where: staysOnMainActor)
      || settings.isMainActorByDefault && isolation == .mainActor && !options.inherited.isEmpty
    return staysOnMainActor ? "@MainActor \(access)static" : "\(access)nonisolated static"
  }

  var tableForRefining: [String] {
    let child = isGeneric ? "Child: \(protocolName)" : "Child"
    let shared = sharedTypes.map { "Child.\($0): SendableMetatype" }.joined(separator: ", ")
    let arguments = typeParameters.map { "Child.\($0.name)" }.joined(separator: ", ")
    let head = "\(declaration.inClient)\(tableHead) func table<\(child)>(of child: Child.Type)"
    return block(
      "\(head) -> Forwardcast.SelectorTable" + (shared.isEmpty ? "" : " where \(shared)"),
      ["\(className)\(arguments.isEmpty ? "" : "<\(arguments)>").table"]) + [""]
  }

  var table: [String] {
    let inherited = isWhole ? parents.map { "\($0).table(of: \(className).self)" }.joined(separator: ", ") : ""
    let arguments = "(for: (\(target)).self" + (inherited.isEmpty ? ")" : ", inheritingAll: [\(inherited)])")
    let rows = items.lines(row)
    let names = entries.compactMap(\.swiftName).joined(separator: " ")
    let end = names.isEmpty ? "" : ".named(\"\(names)\")"
    var lines = ["/// The table for all targets, which need none of their own."]
    if isGeneric {
      let table = block("Forwardcast.SelectorTable.shared\(arguments)", end: end, rows)
      lines += block("\(tableHead) var table: Forwardcast.SelectorTable", table)
    } else {
      lines += block("\(tableHead) let table = Forwardcast.SelectorTable\(arguments)", end: end, rows)
    }
    lines += beside({ isolation(of: $0) == .inherited }) {
      declaration.availability($0.member.attributes) + rowWriter($0).function($0)
    }
    return lines + beside(isDeprecated, deprecatedRow) + [""]
  }

  private func beside(_ isWanted: (Member) -> Bool, _ body: (Entry) -> [String]) -> [String] {
    guard declaration.members.contains(where: isWanted) else { return [] }
    return items.lines(where: { isWanted($0.member) }) { [""] + body($0) }
  }

  private func isDeprecated(_ member: Member) -> Bool {
    source.availability(of: member).joined().contains { $0.hasPrefix("deprecated") }
  }

  private func row(_ entry: Entry) -> [String] {
    let row =
      isDeprecated(entry.member)
      ? ["Forwardcast.Responds(writtenBy: \(rowName(entry))())"] : located(rowText(entry), entry.member)
    return source.available(row, entry.member)
  }

  private func rowText(_ entry: Entry) -> String {
    let row = rowWriter(entry).row(entry) + rule(of: entry)
    guard entry.member.isOptional else { return row }
    return "\(row).present { Forwardcast.implements($0, \(objectiveCSelector(entry.member))) }"
  }

  /// The modifier with the rule by which a nested proxy combines its answers; empty for `.last`.
  private func rule(of entry: Entry) -> String {
    guard let plan = entry.member.plan, entry.role != .setter, entry.member.answers, plan.policy != ".last" else {
      return ""
    }
    let policy = plan.policy.contains("(") ? names.value(plan.policy, "Rule", of: entry.member) : plan.policy
    return ".answering(Messages.\(entry.key.quotedIfKeyword), by: \(policy))"
  }

  private func rowWriter(_ entry: Entry) -> RowWriter {
    RowWriter(
      targetType: target, names: names, isClassBound: isVisiblyClassBound, key: "Messages.\(entry.key.quotedIfKeyword)",
      isolation: isolation(of: entry.member), isShared: isVisiblySendable,
      isNonsendingByDefault: settings.isNonsendingByDefault, functions: "\(className).",
      isInPlace: isVisiblyClassBound && options.interface == nil && !declaration.isObjectiveC)
  }

  private func rowName(_ entry: Entry) -> String { "Row\(ObjectiveCName.capitalized(entry.key))" }

  /// A row for a deprecated member, in a deprecated type, so that the call causes no warning.
  private func deprecatedRow(_ entry: Entry) -> [String] {
    let stays = staysOnMainActor(entry.member)
    // A function with a limit cannot satisfy the protocol of a type without it.
    let limit = source.platforms(of: entry.member).map { "@available(\($0)) " } ?? ""
    let head = "\(limit)\(stays ? "@MainActor private" : "private nonisolated") struct \(rowName(entry))"
    return block(
      "\(head): \(stays ? "@MainActor " : "")Forwardcast.WrittenRow",
      declaration.availability(entry.member.attributes)
        + block("func row() -> Forwardcast.Responds<\(target)>", [rowText(entry)]))
  }

  // MARK: Optional requirements

  private func objectiveCSelector(_ member: Member) -> String {
    let labels = member.parameters.map { ($0.label?.asLabel ?? "_") + ":" }.joined()
    let arguments = labels.isEmpty ? "" : "(\(labels))"
    return member.kind == .property
      ? "#selector(getter: \(protocolName).\(member.name))" : "#selector(\(protocolName).\(member.name)\(arguments))"
  }

  /// `responds(to:)`, which tells whether a target implements an optional requirement.
  var optionalRequirements: [String] {
    guard base != nil, declaration.members.contains(where: \.isOptional),
      [.nonisolated, .mainActor].contains(isolation)
    else { return [] }
    let isOnMainActor = isolation == .mainActor
    let cases = items.lines(where: { $0.member.isOptional && $0.role != .setter }) {
      ["case \(objectiveCSelector($0.member)): message = Messages.\($0.key.quotedIfKeyword).selector"]
    }
    let question = "multicast.responds(to: message)"
    let answer = "return " + (isOnMainActor ? "MainActor.assumeIsolated { \(question) }" : question)
    return ["", "/// Optional requirements are there when a target has them."]
      + block(
        "\(access)\(isOnMainActor ? "nonisolated " : "")override func responds(to selector: Selector!) -> Bool",
        ["let message: Forwardcast.MessageSelector", "switch selector {"] + cases
          + ["default: return super.responds(to: selector)", "}", answer])
  }
}
