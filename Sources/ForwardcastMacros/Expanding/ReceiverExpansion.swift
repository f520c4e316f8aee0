// ReceiverExpansion.swift: @Receiver.

extension ExpansionRequest {
  /// Reads a class or an actor and checks its messages, then writes the requested table or conformance.
  func expandReceiver(into expansion: inout Expansion) {
    guard var declaration = read(&expansion) else { return }
    guard declaration.keyword == "class" || declaration.keyword == "actor" else {
      let advice =
        declaration.keyword == "protocol"
        ? "on a protocol, '@Forwarded' writes its proxy" : "a receiver has an identity"
      expansion.refuse("@Receiver is for classes and actors: \(advice)", declaration: declaration.keywordOffsets)
      return
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      expansion.refuse(
        "a distributed actor has methods that may be elsewhere; it cannot be a receiver",
        declaration: declaration.source.offsets(modifier.positions))
    }
    var options = receiverOptions(&expansion)
    options.isInGenericType = around.contains { $0?.generics != nil }
    if let actor = options.actor { declaration.mark(actor: actor) }
    let (entries, problems) = declaration.messages(takesAll: options.takesAll, settings)
    expansion.problems += problems
    guard !expansion.hasErrors else { return }
    switch role {
    case "member":
      let items = declaration.items(of: entries)
      let writer = TableWriter(declaration: declaration, options: options, items: items, settings: settings)
      expansion.text = writer.text()
    case "extension":
      guard wantsConformance, options.base == nil else { return }
      let isolation = settings.isMainActorByDefault ? "nonisolated " : ""
      expansion.text = "extension \(extendedType): \(isolation)Forwardcast.MessageReceiver {}"
    default: break
    }
  }

  private func receiverOptions(_ expansion: inout Expansion) -> ReceiverOptions {
    var options = ReceiverOptions()
    for (label, value) in arguments {
      if !label.isEmpty {
        let name = typeName(value, as: "\(label): Name", &expansion)
        if label == "isolatedTo" { options.actor = name } else { options.base = name }
      } else if attribute.text(value.upperBound - 1) == "allMembers" {
        options.takesAll = true
      } else if attribute.text(value.upperBound - 1) != "markedMembers" {
        expansion.refuse("write '.markedMembers' or '.allMembers'", attribute: attribute.offsets(value))
      }
    }
    return options
  }
}

/// The arguments of `@Receiver`, and where the class stands.
struct ReceiverOptions {
  var takesAll = false
  /// The superclass whose table is inherited.
  var base: String?
  /// The global actor of `isolatedTo:`.
  var actor: String?
  var isInGenericType = false
}
