// TableWriter.swift: the table that @Receiver writes.

/// Writes the selector table of a checked class or actor.
struct TableWriter {
  let declaration: TypeDeclaration
  let options: AttributeOptions
  /// Whether the class is generic or stands in a generic type.
  let isGeneric: Bool
  let items: [Item<Entry>]
  let settings: ModuleSettings

  private var isActor: Bool { declaration.keyword == "actor" }
  private var isFinal: Bool { isActor || declaration.modifiers.contains { $0.word == "final" } }
  private var access: String { declaration.access == "open" && !isFinal ? "open " : declaration.memberAccess }

  private func isolation(of member: Member) -> Isolation {
    if isActor, member.kind == .property, !member.isSettable, member.isConstant { return .nonisolated }
    return member.isolation ?? (isActor ? .instance : declaration.isolation(or: options.actor))
      ?? (settings.isMainActorByDefault ? .mainActor : .nonisolated)
  }

  /// Explains compiler errors: the superclass may isolate what the text does not, and a nonisolated table cannot use conformances
  /// that are isolated to the main actor.
  private var advice: String? {
    let members = items.compactMap(\.element).map(\.member)
    if !declaration.inherited.isEmpty, !isActor, declaration.isolation(or: options.actor) == nil,
      !settings.isMainActorByDefault, members.contains(where: { $0.isolation == nil })
    {
      return "is the superclass on the main actor? Say '@MainActor' here too."
    }
    let needs = members.contains { isolation(of: $0) == .mainActor && declaration.source.mayNeedConformances($0) }
    return needs && settings.isMainActorByDefault
      ? "is a conformance on the main actor? Declare the type that has it 'nonisolated'." : nil
  }

  func text() -> String {
    let parent = options.inherited.last.map { ", inheriting: \($0).selectorTable" } ?? ""
    let table = "(for: \(declaration.name).self\(parent))"
    let word = parent.isEmpty ? "" : "override "
    var lines = ["/// The messages that the class answers. Written by `@Receiver`."]
    // A generic class has no stored static properties.
    if isGeneric {
      let kind = isFinal && word.isEmpty ? "static" : "class"
      lines += block(
        "\(access)nonisolated \(word)\(kind) var selectorTable: Forwardcast.SelectorTable",
        block("Forwardcast.SelectorTable.shared\(table)", remark: advice, rows))
    } else if isFinal, word.isEmpty {
      let head = "\(access)nonisolated static let selectorTable"
      lines += block("\(head) = Forwardcast.SelectorTable\(table)", remark: advice, rows)
    } else {
      let head = "\(access)nonisolated \(word)class var selectorTable"
      lines += block("\(head): Forwardcast.SelectorTable", ["ReceiverTable.own"]) + [""]
      lines += block(
        "private nonisolated enum ReceiverTable",
        block("static let own = Forwardcast.SelectorTable\(table)", remark: advice, rows))
    }
    return lines.text
  }

  private var rows: [String] {
    let names = CarriedNames(source: declaration.source)
    return items.lines { entry in
      let writer = RowWriter(
        targetType: declaration.name, names: names, isClassBound: true,
        key: "Forwardcast.Message<\(names.functionType(entry))>(\"\(entry.selector)\")",
        isolation: isolation(of: entry.member), isNonsendingByDefault: settings.isNonsendingByDefault)
      return declaration.source.available([writer.row(entry)], entry.member)
    }
  }
}
