// ReceiverExpansion.swift: @Receiver.

extension ExpansionRequest {
  func expandReceiver(into expansion: inout Expansion) {
    guard let declaration = read(&expansion) else { return }
    guard declaration.keyword == "class" || declaration.keyword == "actor" else {
      let advice =
        declaration.keyword == "protocol"
        ? "on a protocol, '@Forwarded' writes its proxy" : "a receiver has an identity"
      return expansion.refuse("@Receiver is for classes and actors: \(advice)", declaration: declaration.keywordOffsets)
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      expansion.refuse(
        "a distributed actor has methods that may be elsewhere; it cannot be a receiver",
        declaration: declaration.source.offsets(modifier.positions))
    }
    let options = options(&expansion)
    let (entries, problems) = declaration.messages(takesAll: options.takesAll, settings)
    expansion.problems += problems
    guard !expansion.hasErrors else { return }
    switch role {
    case "member":
      let items = declaration.items(of: entries)
      let isGeneric = declaration.generics != nil || around.contains { $0?.generics != nil }
      let writer = TableWriter(
        declaration: declaration, options: options, isGeneric: isGeneric, items: items, settings: settings)
      expansion.text = writer.text()
    case "extension":
      guard wantsConformance, options.inherited.isEmpty else { return }
      let isolation = settings.isMainActorByDefault ? "nonisolated " : ""
      expansion.text = "extension \(extendedType): \(isolation)Forwardcast.MessageReceiver {}"
    default: break
    }
  }
}
