// TableWriter.swift: the table that @Receiver writes.

/// Writes the selector table of a checked class or actor.
struct TableWriter {
  let declaration: TypeDeclaration
  let options: AttributeOptions
  /// Whether the class is generic or stands in a generic type.
  let isGeneric: Bool
  let items: [Item<Entry>]
  let settings: ModuleSettings
  /// Where errors about the table are reported if the superclass may have one too.
  let place: SourcePlace?

  private var isActor: Bool { declaration.keyword == "actor" }
  private var isFinal: Bool { isActor || declaration.modifiers.contains { $0.word == "final" } }
  private var access: String { declaration.access == "open" && !isFinal ? "open " : declaration.memberAccess }

  private func isolation(of member: Member) -> Isolation {
    if isActor, member.kind == .property, !member.isSettable, member.isConstant { return .nonisolated }
    return member.isolation ?? (isActor ? .instance : declaration.isolation(or: options.actor))
      ?? (settings.isMainActorByDefault ? .mainActor : .nonisolated)
  }

  /// Explains compiler errors in the rows: the superclass may isolate what the text does not, and a nonisolated table cannot use
  /// conformances that are isolated to the main actor.
  private var advice: String? {
    let members = items.compactMap(\.element).map(\.member)
    if !declaration.inherited.isEmpty, !isActor, declaration.isolation(or: options.actor) == nil,
      !settings.isMainActorByDefault, members.contains(where: { $0.isolation == nil })
    {
      return "Is the superclass on the main actor? Write '@MainActor' here too."
    }
    let needs = members.contains { isolation(of: $0) == .mainActor && declaration.source.mayNeedConformances($0) }
    return needs && settings.isMainActorByDefault
      ? "Is a conformance on the main actor? Declare the type that has it 'nonisolated'." : nil
  }

  func text() -> String {
    let parent = options.inherited.last.map { ", inheriting: \($0).selectorTable" } ?? ""
    let word = parent.isEmpty ? "" : "override "
    let isStored = !isGeneric && isFinal && word.isEmpty
    let adviceToInherit = place.map { _ in declaration.adviceToInherit }
    func head(_ kind: String) -> String { "\(access)nonisolated \(word)\(kind) selectorTable" }
    func table(_ make: String, _ remark: [String?], at place: SourcePlace? = nil) -> [String] {
      let remark = remark.compactMap(\.self).joined(separator: " ")
      return block(
        "\(make)(for: \(declaration.name).self\(parent))", remark: remark.isEmpty ? nil : remark, at: place, rows)
    }
    var lines = keys + ["/// The messages that the class answers. Written by `@Receiver`."]
    if isStored {
      lines += table("\(head("static let")) = Forwardcast.SelectorTable", [adviceToInherit, advice], at: place)
    } else {
      // A generic class has no stored static properties.
      let kind = isGeneric && isFinal && word.isEmpty ? "static var" : "class var"
      let body = isGeneric ? table("Forwardcast.SelectorTable.shared", [advice]) : ["ReceiverTable.own"]
      lines += block("\(head(kind)): Forwardcast.SelectorTable", remark: adviceToInherit, at: place, body)
    }
    if !isStored, !isGeneric {
      let own = table("static let own = Forwardcast.SelectorTable", [advice])
      lines += [""] + block("private nonisolated enum ReceiverTable", own)
    }
    return lines.text
  }

  private var rows: [String] {
    let names = CarriedNames(source: declaration.source)
    return items.lines { entry in
      let writer = RowWriter(
        targetType: declaration.name, names: names, isClassBound: true,
        key: accessOfKey(entry) == nil ? message(entry) : "Messages.\(entry.key.quotedIfKeyword)",
        isolation: isolation(of: entry.member), isNonsendingByDefault: settings.isNonsendingByDefault)
      return declaration.source.available([writer.row(entry)], entry.member)
    }
  }

  private func type(ofKey entry: Entry) -> String {
    "Forwardcast.Message<\(CarriedNames(source: declaration.source).functionType(entry))>"
  }

  private func message(_ entry: Entry) -> String { "\(type(ofKey: entry))(\"\(entry.selector)\")" }

  // MARK: Keys

  private var keys: [String] {
    let lines = items.lines { entry in
      guard let access = accessOfKey(entry) else { return [] }
      let (key, type, value) = (entry.key.quotedIfKeyword, type(ofKey: entry), message(entry))
      let attributes = entry.member.attributes.filter { $0.shortName == "available" }
        .map { declaration.source.line($0.positions) }
      let alias = entry.aliasLines(access, type)
      return attributes + [
        "\(access)static " + (isGeneric ? "var \(key): \(type) { \(value) }" : "let \(key) = \(value)")
      ]
        + (alias.isEmpty ? [] : attributes + alias)
    }
    guard items.contains(where: { $0.element.flatMap(accessOfKey) != nil }) else { return [] }
    return ["/// The keys of its messages, for `send`. Written by `@Receiver`."]
      + block("\(declaration.memberAccess)nonisolated enum Messages", lines) + [""]
  }

  /// The access of a message's key, with a blank. `nil` for a member that only the class or its file sees, which has none.
  private func accessOfKey(_ entry: Entry) -> String? {
    guard !declaration.declaresMessages else { return nil }
    switch entry.member.modifiers.first(where: { TypeDeclaration.accessLevels.contains($0.word) && $0.detail == nil })?
      .word
    {
    case "private", "fileprivate": return nil
    case "public", "open": return declaration.memberAccess
    case "package": return declaration.memberAccess.isEmpty ? "" : "package "
    default: return ""
    }
  }
}
