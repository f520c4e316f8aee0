// ReceiverClass.swift: all that is known of a class when its table is written.

/// A class or actor that has been checked, with its messages.
struct ReceiverClass {
  let declaration: TypeDeclaration
  let source: SourceText
  let options: ReceiverOptions
  let items: [EntryItem]
  let settings: ModuleSettings

  init(
    _ declaration: TypeDeclaration, source: SourceText, options: ReceiverOptions, entries: [Entry],
    settings: ModuleSettings
  ) {
    (self.declaration, self.source, self.options) = (declaration, source, options)
    self.settings = settings
    items = declaration.items(of: entries)
  }

  var isActor: Bool { declaration.keyword == "actor" }
  var isFinal: Bool { isActor || declaration.modifiers.contains { $0.word == "final" } }
  /// Whether the class has no stored static properties.
  var isGeneric: Bool { declaration.generics != nil || options.isInGenericType }

  /// The isolation of one member.
  func isolation(of member: Member) -> Isolation {
    if isActor, member.kind == .property, !member.isSettable, member.isConstant { return .nonisolated }
    return member.isolation ?? (isActor ? .instance : declaration.isolation(or: options.actor))
      ?? (settings.isMainActorByDefault ? .mainActor : .nonisolated)
  }
}
