// ForwardedExpansion.swift: @Forwarded, from the protocol to the class.

/// Reads a protocol, checks it, and writes the class or the extension that is asked for.
struct ForwardedExpansion {
  let request: ExpansionRequest

  func expand(into expansion: inout Expansion) {
    let source = request.declaration
    guard var declaration = request.read(&expansion) else { return }
    guard declaration.keyword == "protocol" else {
      expansion.refuse(
        "@Forwarded is for protocols: on a class, '@Receiver' writes a table",
        declaration: source.offsets(declaration.keywordPosition..<declaration.keywordPosition + 1))
      return
    }
    guard let options = options(of: declaration, &expansion) else { return }
    if let actor = options.actor { declaration.mark(actor: actor) }
    var checker = ProtocolChecker(
      declaration, source: source, settings: request.settings, silence: options.silence)
    checker.check()
    expansion.problems += checker.problems
    func read(_ declaration: TypeDeclaration) -> ForwardedInterface {
      ForwardedInterface(
        declaration, source: source, options: options, plans: checker.plans, leftOut: checker.leftOut,
        settings: request.settings, start: request.place, isNested: !request.context.isEmpty)
    }
    var interface = read(declaration)
    let strayed = IsolationChecker(interface: interface).problems
    if !expansion.hasErrors { expansion.problems += strayed }
    // Whoever uses the class hears of the refusals alone.
    if checker.isHeadRefused || !strayed.isEmpty {
      declaration.items = []
      interface = read(declaration)
    }
    interface.isWhole = !expansion.hasErrors
    switch request.role {
    case "peer": expansion.text = ProxyWriter(interface).text()
    case "extension": expansion.text = ProxyWriter(interface).inheritance(of: request.extendedType)
    default: break
    }
  }

  /// Reads the arguments of the attribute.
  private func options(of declaration: TypeDeclaration, _ expansion: inout Expansion) -> ForwardedOptions? {
    var options = ForwardedOptions()
    for (label, value) in request.arguments {
      if label == "otherwise" {
        guard let silence = SilentAnswers(rawValue: request.attribute.text(value.upperBound - 1)) else {
          expansion.refuse(
            "write '.emptyValues' or '.emptyValuesOrTrap'", attribute: request.attribute.offsets(value))
          return nil
        }
        options.silence = silence
        continue
      }
      let example = "\(label): \(label == "as" ? "(any Name)" : "Name")"
      guard let name = request.typeName(value, as: example, &expansion) else { return nil }
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
}

/// The arguments of `@Forwarded`.
struct ForwardedOptions {
  /// The written class of a protocol that is named as `any Name`, whatever its associated types are; a class stands for itself.
  static func className(of type: String) -> String {
    type.hasPrefix("any ") ? String(type.dropFirst(4).prefix { $0 != "<" }).continued("Proxy") : type
  }

  /// What a written class stands in.
  static func namespace(of className: String) -> String { className.continued("Namespace") }

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

extension String {
  /// A name with more letters, before the last backtick where it has such.
  func continued(_ letters: String) -> String { hasSuffix("`") ? dropLast() + letters + "`" : self + letters }
}
