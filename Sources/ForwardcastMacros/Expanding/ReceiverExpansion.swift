// ReceiverExpansion.swift: @Receiver.

extension ExpansionRequest {
  func expandReceiver(into expansion: inout Expansion) {
    guard var declaration = read(&expansion) else { return }
    let around = around
    declaration.around = around.compactMap(\.self)
    expansion.problems += [declaration.conditionalProblem].compactMap(\.self)
    guard declaration.keyword == "class" || declaration.keyword == "actor" else {
      let advice =
        declaration.keyword == "protocol"
        ? "use '@Forwarded' for a protocol" : "make it a class, since a receiver needs an identity"
      return expansion.refuse(
        "'@Receiver' is for classes and actors; \(advice)", declaration: declaration.keywordOffsets)
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      expansion.refuse(
        "a distributed actor cannot be a receiver, because its methods may run in another process; make it an actor",
        declaration: declaration.source.offsets(modifier.positions))
    }
    let options = options(&expansion)
    var (entries, problems) = declaration.messages(takesAll: options.takesAll, settings)
    expansion.problems += problems
    entries.nameKeys()
    // Only the compiler knows whether the first inherited type is a class with a table.
    let mayOverride = declaration.keyword == "class" && options.inherited.isEmpty && !declaration.inherited.isEmpty
    let place = mayOverride ? declaration.attribute("Receiver").flatMap { self.place(of: $0.positions) } : nil
    guard !expansion.hasErrors else { return }
    switch role {
    case "member":
      let items = declaration.items(of: entries)
      let isGeneric = declaration.generics != nil || around.contains { $0?.generics != nil }
      let writer = TableWriter(
        declaration: declaration, options: options, isGeneric: isGeneric, items: items, settings: settings, place: place
      )
      expansion.text = writer.text()
    case "extension":
      // The compiler requests a conformance even if the class itself states it.
      let stated = declaration.inherited.flatMap(declaration.source.parts)
      let isStated = stated.contains { $0.lastName == "MessageReceiver" }
      guard wantsConformance, !isStated, options.inherited.isEmpty else { return }
      if let problem = declaration.hiddenProblem {
        expansion.extensionProblems = [problem]
        return
      }
      let isolation = settings.isMainActorByDefault ? "nonisolated " : ""
      let head = "extension \(extendedType): \(isolation)Forwardcast.MessageReceiver {}"
      expansion.text = place?.lines(head + "  // \(declaration.adviceToInherit)").text ?? head
    default: break
    }
  }
}
