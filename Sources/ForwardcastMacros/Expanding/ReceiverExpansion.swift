// ReceiverExpansion.swift: @Receiver, from the class to its table.
// Part of the macro program: Expanding. See the article "How the attributes work".

/// Reads a class or an actor, checks the members that are messages, and writes the table or the conformance.
struct ReceiverExpansion {
  let request: ExpansionRequest
  private var expansion = Expansion()

  init(_ request: ExpansionRequest) { self.request = request }

  func expand() -> Expansion {
    var copy = self
    copy.run()
    return copy.expansion
  }

  private mutating func run() {
    var reader = DeclarationReader(request.declaration)
    let declaration = reader.typeDeclaration()
    expansion.problems = reader.problems
    defer {
      if request.role == "extension" {
        expansion.problems = []
        expansion.attributeProblems = []
      }
    }
    guard var declaration else { return }
    guard declaration.keyword == "class" || declaration.keyword == "actor" else {
      let advice =
        declaration.keyword == "protocol"
        ? "on a protocol, '@Forwarded' writes its proxy" : "a receiver has an identity"
      expansion.problems.append(
        Problem(
          message: "@Receiver is for classes and actors: \(advice)",
          offsets: request.declaration.offsets(declaration.keywordPosition..<declaration.keywordPosition + 1)))
      return
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      expansion.problems.append(
        Problem(
          message: "a distributed actor has methods that may be elsewhere; it cannot be a receiver",
          offsets: request.declaration.offsets(modifier.positions)))
    }
    var options = options()
    options.isInGenericType = request.context.contains { text in
      var reader = DeclarationReader(SourceText(text))
      return reader.typeDeclaration()?.generics != nil
    }
    if let actor = options.actor { declaration.mark(actor: actor) }
    var checker = ReceiverChecker(declaration, source: request.declaration, takesAll: options.takesAll)
    checker.check()
    expansion.problems += checker.problems
    guard !expansion.hasErrors else { return }
    let receiver = ReceiverClass(
      declaration, source: request.declaration, options: options, entries: checker.entries,
      settings: request.settings)
    switch request.role {
    case "member": expansion.text = TableWriter(receiver).text()
    case "extension":
      guard request.wantsConformance, options.base == nil else { return }
      let isolation = request.settings.isMainActorByDefault ? "nonisolated " : ""
      expansion.text = "extension \(request.extendedType): \(isolation)Forwardcast.MessageReceiver {}"
    default: break
    }
  }

  private mutating func options() -> ReceiverOptions {
    var options = ReceiverOptions()
    var position = 0
    let source = request.attribute
    for argument in source.attributes(&position).first?.arguments ?? [] {
      let words = argument.value
      if let label = argument.label {
        if words.count > 2, source.isWord(words.upperBound - 1, "self") {
          let name = source.line(words.lowerBound..<words.upperBound - 2)
          if label == "isolatedTo" { options.actor = name } else { options.base = name }
        } else {
          expansion.attributeProblems.append(
            Problem(message: "write the type itself, as in '\(label): Name.self'", offsets: source.offsets(words)))
        }
      } else if source.text(words.upperBound - 1) == "allMembers" {
        options.takesAll = true
      } else if source.text(words.upperBound - 1) != "markedMembers" {
        expansion.attributeProblems.append(
          Problem(message: "write '.markedMembers' or '.allMembers'", offsets: source.offsets(words)))
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
