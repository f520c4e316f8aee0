// ReceiverClass.swift: all that is known of a class when its table is written.
// Part of the macro program: Model. See the article "How the attributes work".

/// A class or actor that has been checked, with its messages.
struct ReceiverClass {
  let declaration: TypeDeclaration
  let source: SourceText
  let options: ReceiverOptions
  let items: [ForwardedInterface.Item]
  let settings: ModuleSettings

  init(
    _ declaration: TypeDeclaration, source: SourceText, options: ReceiverOptions, entries: [Entry],
    settings: ModuleSettings
  ) {
    (self.declaration, self.source, self.options) = (declaration, source, options)
    self.settings = settings
    items = declaration.items.flatMap { item -> [ForwardedInterface.Item] in
      switch item {
      case .directive(let line): [.directive(line)]
      case .member(let member): entries.filter { $0.member.positions == member.positions }.map { .entry($0) }
      }
    }
  }

  var isActor: Bool { declaration.keyword == "actor" }
  var isFinal: Bool { isActor || declaration.modifiers.contains { $0.word == "final" } }
  /// Whether the class has no stored static properties.
  var isGeneric: Bool { declaration.generics != nil || options.isInGenericType }

  /// The isolation of one member.
  func isolation(of member: Member) -> Isolation {
    if member.modifier("nonisolated") != nil { return .nonisolated }
    if isActor, member.kind == .property, !member.isSettable, member.isConstant { return .nonisolated }
    if let actor = member.attributes.first(where: \.isGlobalActor) {
      return actor.shortName == "MainActor" ? .mainActor : .global(actor.name)
    }
    if isActor { return .instance }
    if declaration.modifiers.contains(where: { $0.word == "nonisolated" }) { return .nonisolated }
    if let actor = declaration.attributes.first(where: \.isGlobalActor) {
      return actor.shortName == "MainActor" ? .mainActor : .global(actor.name)
    }
    if let actor = options.actor, !isMarked { return actor == "MainActor" ? .mainActor : .global(actor) }
    return settings.isMainActorByDefault ? .mainActor : .nonisolated
  }

  /// Whether the actor of `isolatedTo:` stands before the class or a member.
  private var isMarked: Bool {
    (declaration.attributes + declaration.members.flatMap(\.attributes)).contains(where: \.isStatedActor)
  }
}
