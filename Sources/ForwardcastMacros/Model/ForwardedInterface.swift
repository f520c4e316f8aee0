// ForwardedInterface.swift: all that is known of a protocol when its class is written.
// Part of the macro program: Model. See DESIGN.md, "The attributes".

/// A protocol that has been checked, with its messages.
struct ForwardedInterface {
  /// What the writer goes through: messages and lines of `#if`.
  enum Item {
    case entry(Entry)
    case directive(String)
  }

  let declaration: TypeDeclaration
  let source: SourceText
  let options: ForwardedOptions
  /// The plan of each member that answers, by where the member begins.
  let plans: [Int: AnswerPlan]
  let isMainActorByDefault: Bool
  let items: [Item]

  init(
    _ declaration: TypeDeclaration, source: SourceText, options: ForwardedOptions, plans: [Int: AnswerPlan],
    isMainActorByDefault: Bool
  ) {
    (self.declaration, self.source, self.options, self.plans) = (declaration, source, options, plans)
    self.isMainActorByDefault = isMainActorByDefault
    var entries = declaration.members.flatMap(\.entries)
    entries.nameKeys()
    var next = entries.makeIterator()
    items = declaration.items.flatMap { item -> [Item] in
      switch item {
      case .directive(let line): [.directive(line)]
      case .member(let member): member.entries.compactMap { _ in next.next().map(Item.entry) }
      }
    }
  }

  /// The protocol's name as types name it.
  var name: String { declaration.name }
  var className: String { declaration.plainName + "Proxy" }

  /// The protocol that the class conforms to.
  var protocolName: String {
    guard let other = options.interface else { return name }
    return other.hasPrefix("any ") ? String(other.dropFirst(4)) : other
  }

  /// The isolation of the protocol, and so of the class.
  var isolation: Isolation {
    if declaration.modifiers.contains(where: { $0.word == "nonisolated" }) { return .nonisolated }
    if let actor = declaration.attributes.first(where: \.isGlobalActor) {
      return actor.shortName == "MainActor" ? .mainActor : .global(actor.name)
    }
    return isMainActorByDefault ? .mainActor : .nonisolated
  }

  /// The isolation of one member.
  func isolation(of member: Member) -> Isolation {
    if member.modifier("nonisolated") != nil {
      return .nonisolated
    }
    if let actor = member.attributes.first(where: \.isGlobalActor) {
      return actor.shortName == "MainActor" ? .mainActor : .global(actor.name)
    }
    return isolation
  }

  private func inherits(_ names: Set<String>) -> Bool {
    declaration.inherited.contains { range in
      source.line(range).split(separator: "&").contains {
        names.contains(String($0.trimmingBlanks.split(separator: ".").last ?? ""))
      }
    }
  }

  /// Whether the text says that the protocol is `Sendable`.
  var isVisiblySendable: Bool { inherits(["Sendable", "Error"]) }

  /// Whether the text says that only classes conform.
  var isVisiblyClassBound: Bool {
    inherits(["AnyObject", "NSObjectProtocol"])
      || declaration.whereClause.map { source.line($0).contains("AnyObject") } ?? false
  }
}
