// ReceiverExpansion.swift: @Receiver, from the class to its table.

/// Reads a class or an actor, checks the members that are messages, and writes the table or the conformance.
struct ReceiverExpansion {
  let request: ExpansionRequest

  func expand(into expansion: inout Expansion) {
    let source = request.declaration
    guard var declaration = request.read(&expansion) else { return }
    guard declaration.keyword == "class" || declaration.keyword == "actor" else {
      let advice =
        declaration.keyword == "protocol"
        ? "on a protocol, '@Forwarded' writes its proxy" : "a receiver has an identity"
      expansion.refuse(
        "@Receiver is for classes and actors: \(advice)",
        declaration: source.offsets(declaration.keywordPosition..<declaration.keywordPosition + 1))
      return
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      expansion.refuse(
        "a distributed actor has methods that may be elsewhere; it cannot be a receiver",
        declaration: source.offsets(modifier.positions))
    }
    var options = options(&expansion)
    options.isInGenericType = request.around.contains { $0?.generics != nil }
    if let actor = options.actor { declaration.mark(actor: actor) }
    var checker = ReceiverChecker(declaration, source: source, settings: request.settings, takesAll: options.takesAll)
    checker.check()
    expansion.problems += checker.problems
    guard !expansion.hasErrors else { return }
    switch request.role {
    case "member":
      let receiver = ReceiverClass(
        declaration, source: source, options: options, entries: checker.entries, settings: request.settings)
      expansion.text = TableWriter(receiver).text()
    case "extension":
      guard request.wantsConformance, options.base == nil else { return }
      let isolation = request.settings.isMainActorByDefault ? "nonisolated " : ""
      expansion.text = "extension \(request.extendedType): \(isolation)Forwardcast.MessageReceiver {}"
    default: break
    }
  }

  private func options(_ expansion: inout Expansion) -> ReceiverOptions {
    var options = ReceiverOptions()
    for (label, value) in request.arguments {
      if !label.isEmpty {
        let name = request.typeName(value, as: "\(label): Name", &expansion)
        if label == "isolatedTo" { options.actor = name } else { options.base = name }
      } else if request.attribute.text(value.upperBound - 1) == "allMembers" {
        options.takesAll = true
      } else if request.attribute.text(value.upperBound - 1) != "markedMembers" {
        expansion.refuse("write '.markedMembers' or '.allMembers'", attribute: request.attribute.offsets(value))
      }
    }
    return options
  }
}

/// The arguments of `@Receiver`, and where the class stands.
struct ReceiverOptions {
  var takesAll = false
  /// The superclass whose table is continued.
  var base: String?
  /// The global actor of `isolatedTo:`.
  var actor: String?
  /// Whether a type around the class is generic.
  var isInGenericType = false
}
