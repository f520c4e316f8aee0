// TableWriter.swift: the table that @Receiver writes.

/// Writes the selector table of a class or an actor.
struct TableWriter {
  let receiver: ReceiverClass

  init(_ receiver: ReceiverClass) { self.receiver = receiver }

  private var declaration: TypeDeclaration { receiver.declaration }

  private var access: String {
    declaration.access == "open" && !receiver.isFinal ? "open " : declaration.memberAccess
  }

  /// What the compiler may find: the table is on no actor, since anybody may ask for it.
  private var advice: String? {
    let needs = receiver.items.compactMap(\.entry).contains {
      receiver.isolation(of: $0.member) == .mainActor && receiver.source.mayNeedConformances($0.member)
    }
    return needs && receiver.settings.isMainActorByDefault
      ? "is a conformance on the main actor? Declare the type that has it 'nonisolated'." : nil
  }

  /// The members as text.
  func text() -> String {
    var writer = TextWriter()
    let parent = receiver.options.base.map { ", inheriting: \($0).selectorTable" } ?? ""
    let name = declaration.name
    writer.line("/// The messages that the class answers. Written by `@Receiver`.")
    let word = receiver.options.base == nil ? "" : "override "
    if receiver.isGeneric {
      let kind = receiver.isFinal && word.isEmpty ? "static" : "class"
      writer.block("\(access)nonisolated \(word)\(kind) var selectorTable: Forwardcast.SelectorTable") { writer in
        writer.block("Forwardcast.SelectorTable.shared(for: \(name).self\(parent))", remark: advice, rows)
      }
    } else if receiver.isFinal, word.isEmpty {
      writer.block(
        "\(access)nonisolated static let selectorTable = Forwardcast.SelectorTable(for: \(name).self\(parent))",
        remark: advice, rows)
    } else {
      writer.block("\(access)nonisolated \(word)class var selectorTable: Forwardcast.SelectorTable") {
        $0.line("ReceiverTable.own")
      }
      writer.line("")
      writer.block("private nonisolated enum ReceiverTable") { writer in
        writer.block(
          "static let own = Forwardcast.SelectorTable(for: \(name).self\(parent))", remark: advice, rows)
      }
    }
    return writer.text
  }

  private func rows(_ writer: inout TextWriter) {
    let names = CarriedNames(source: receiver.source)
    writer.entries(receiver.items) { entry, writer in
      writer.line(
        RowWriter(
          targetType: declaration.name, names: names, isClassBound: true,
          key: "Forwardcast.Message<\(names.functionType(entry))>(\"\(entry.selector)\")",
          isolation: receiver.isolation(of: entry.member),
          isNonsendingByDefault: receiver.settings.isNonsendingByDefault
        ).row(entry))
    }
  }
}
