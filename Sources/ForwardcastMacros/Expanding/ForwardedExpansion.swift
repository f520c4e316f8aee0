// ForwardedExpansion.swift: @Forwarded, from the protocol to the class.
// Part of the macro program: Expanding. See the article "How the attributes work".

/// Reads a protocol, checks it, and writes the class or the extension that is asked for.
struct ForwardedExpansion {
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
    // Each problem is told once: with the class, not with the extension as well.
    defer {
      if request.role == "extension" {
        expansion.problems = []
        expansion.attributeProblems = []
      }
    }
    guard var declaration else { return }
    guard declaration.keyword == "protocol" else {
      refuse(
        "@Forwarded is for protocols: on a class, '@Receiver' writes a table",
        declaration.keywordPosition..<declaration.keywordPosition + 1)
      return
    }
    guard let options = options() else { return }
    if let actor = options.actor { declaration.mark(actor: actor) }
    var checker = ProtocolChecker(declaration, source: request.declaration, silence: options.silence)
    checker.check()
    expansion.problems += checker.problems
    guard !expansion.hasErrors else { return }
    let interface = ForwardedInterface(
      declaration, source: request.declaration, options: options, plans: checker.plans, settings: request.settings,
      isNested: !request.context.isEmpty)
    expansion.problems += IsolationChecker(interface: interface).problems
    guard !expansion.hasErrors else { return }
    switch request.role {
    case "peer": expansion.text = ProxyWriter(interface).text()
    case "extension": expansion.text = ProxyWriter(interface).inheritance(of: request.extendedType)
    default: break
    }
  }

  private mutating func refuse(_ message: String, _ positions: Range<Int>) {
    expansion.problems.append(Problem(message: message, offsets: request.declaration.offsets(positions)))
  }

  /// Reads the arguments of the attribute.
  private mutating func options() -> ForwardedOptions? {
    var options = ForwardedOptions()
    var position = 0
    let source = request.attribute
    guard let attribute = source.attributes(&position).first else { return options }
    var label = ""
    for argument in attribute.arguments {
      label = argument.label ?? label
      if label == "otherwise" {
        guard let silence = SilentAnswers(rawValue: source.text(argument.value.upperBound - 1)) else {
          expansion.attributeProblems.append(
            Problem(
              message: "write '.emptyValues' or '.emptyValuesOrTrap'", offsets: source.offsets(argument.value)))
          return nil
        }
        options.silence = silence
        continue
      }
      guard let name = typeName(argument.value) else {
        expansion.attributeProblems.append(
          Problem(
            message: "write the type itself, as in '\(label): \(label == "as" ? "(any Name)" : "Name").self'",
            offsets: source.offsets(argument.value)))
        return nil
      }
      switch label {
      case "inheriting": options.inherited.append(ForwardedOptions.className(of: name))
      case "as": options.interface = name
      case "base": options.base = name
      case "isolatedTo": options.actor = name
      default: break
      }
    }
    return options
  }

  /// `Name` of `Name.self`, without brackets.
  private func typeName(_ positions: Range<Int>) -> String? {
    let source = request.attribute
    guard positions.count > 2, source.isWord(positions.upperBound - 1, "self"),
      source.isMark(positions.upperBound - 2, ".")
    else { return nil }
    var (start, end) = (positions.lowerBound, positions.upperBound - 2)
    while source.isMark(start, "("), source.closing(start) == end - 1 {
      start += 1
      end -= 1
    }
    return start < end ? source.line(start..<end) : nil
  }
}

/// The arguments of `@Forwarded`.
struct ForwardedOptions {
  /// The written class of a protocol that is named as `any Name`; a class stands for itself.
  static func className(of type: String) -> String {
    guard type.hasPrefix("any ") else { return type }
    let name = type.dropFirst(4)
    return name.hasSuffix("`") ? name.dropLast() + "Proxy`" : name + "Proxy"
  }

  /// The written classes of refined protocols.
  var inherited: [String] = []
  /// The protocol that the class is to be, as `any Name`; `nil` for the one that is annotated.
  var interface: String?
  var base: String?
  /// The global actor of `isolatedTo:`.
  var actor: String?
  /// What stands for answers that nobody gives, where a requirement says nothing itself.
  var silence = SilentAnswers.refused
}
