// ReceiverClass.swift: all that is known of a class when its table is written.

/// A class or actor that has been checked, with its messages.
struct ReceiverClass {
  let declaration: TypeDeclaration
  let options: ReceiverOptions
  let items: [EntryItem]
  let settings: ModuleSettings

  var source: SourceText { declaration.source }
  var isActor: Bool { declaration.keyword == "actor" }
  var isFinal: Bool { isActor || declaration.modifiers.contains { $0.word == "final" } }
  /// Whether the class has no stored static properties.
  var isGeneric: Bool { declaration.generics != nil || options.isInGenericType }

  func isolation(of member: Member) -> Isolation {
    if isActor, member.kind == .property, !member.isSettable, member.isConstant { return .nonisolated }
    return member.isolation ?? (isActor ? .instance : declaration.isolation(or: options.actor))
      ?? (settings.isMainActorByDefault ? .mainActor : .nonisolated)
  }
}
