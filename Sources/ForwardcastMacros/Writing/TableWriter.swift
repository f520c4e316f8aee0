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

  /// Explains a compiler error: a nonisolated table cannot use conformances that are isolated to the main actor.
  private var advice: String? {
    let needs = items.compactMap(\.element).contains {
      isolation(of: $0.member) == .mainActor && declaration.source.mayNeedConformances($0.member)
    }
    return needs && settings.isMainActorByDefault
      ? "is a conformance on the main actor? Declare the type that has it 'nonisolated'." : nil
  }

  func text() -> String {
    var writer = TextWriter()
    let parent = options.inherited.last.map { ", inheriting: \($0).selectorTable" } ?? ""
    let name = declaration.name
    writer.line("/// The messages that the class answers. Written by `@Receiver`.")
    let word = options.inherited.isEmpty ? "" : "override "
    // A generic class has no stored static properties.
    if isGeneric {
      let kind = isFinal && word.isEmpty ? "static" : "class"
      writer.block("\(access)nonisolated \(word)\(kind) var selectorTable: Forwardcast.SelectorTable") { writer in
        writer.block("Forwardcast.SelectorTable.shared(for: \(name).self\(parent))", remark: advice, rows)
      }
    } else if isFinal, word.isEmpty {
      writer.block(
        "\(access)nonisolated static let selectorTable = Forwardcast.SelectorTable(for: \(name).self\(parent))",
        remark: advice, rows)
    } else {
      writer.block("\(access)nonisolated \(word)class var selectorTable: Forwardcast.SelectorTable") {
        $0.line("ReceiverTable.own")
      }
      writer.line("")
      writer.block("private nonisolated enum ReceiverTable") { writer in
        writer.block("static let own = Forwardcast.SelectorTable(for: \(name).self\(parent))", remark: advice, rows)
      }
    }
    return writer.text
  }

  private func rows(_ writer: inout TextWriter) {
    let names = CarriedNames(source: declaration.source)
    writer.entries(items) { entry, writer in
      writer.line(
        RowWriter(
          targetType: declaration.name, names: names, isClassBound: true,
          key: "Forwardcast.Message<\(names.functionType(entry))>(\"\(entry.selector)\")",
          isolation: isolation(of: entry.member), isNonsendingByDefault: settings.isNonsendingByDefault
        ).row(entry))
    }
  }
}
