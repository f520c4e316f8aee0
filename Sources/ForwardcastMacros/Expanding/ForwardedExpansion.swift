// ForwardedExpansion.swift: @Forwarded.

extension ExpansionRequest {
  /// Reads and checks the protocol, then writes the requested class or extension.
  func expandForwarded(into expansion: inout Expansion) {
    guard var declaration = read(&expansion) else { return }
    guard declaration.keyword == "protocol" else {
      expansion.refuse(
        "@Forwarded is for protocols: on a class, '@Receiver' writes a table", declaration: declaration.keywordOffsets)
      return
    }
    declaration.around = around.compactMap(\.self)
    // The compiler itself refuses protocols in generic types and peers of local declarations.
    if declaration.around.contains(where: {
      $0.generics != nil || ["func", "init", "deinit", "subscript"].contains($0.keyword)
    }) {
      return
    }
    guard let options = forwardedOptions(&expansion) else { return }
    if let actor = options.actor { declaration.mark(actor: actor) }
    let checker = ProtocolChecker(declaration, settings, options.silence)
    expansion.problems += checker.problems
    var interface = ForwardedInterface(declaration, options, checker, in: self)
    let strayed = interface.isolationProblems
    if !expansion.hasErrors { expansion.problems += strayed }
    // With an empty class, uses of it add no errors to those reported here.
    if checker.isHeadRefused || !strayed.isEmpty {
      declaration.items = []
      interface = ForwardedInterface(declaration, options, checker, in: self)
    }
    interface.isWhole = !expansion.hasErrors
    switch role {
    case "peer": expansion.text = interface.proxyText()
    case "extension": expansion.text = interface.inheritance(of: extendedType)
    default: break
    }
  }

  private func forwardedOptions(_ expansion: inout Expansion) -> ForwardedOptions? {
    var options = ForwardedOptions()
    for (label, value) in arguments {
      if label == "otherwise" {
        guard let silence = SilentAnswers(rawValue: attribute.text(value.upperBound - 1)) else {
          expansion.refuse("write '.emptyValues' or '.emptyValuesOrTrap'", attribute: attribute.offsets(value))
          return nil
        }
        options.silence = silence
        continue
      }
      let example = "\(label): \(label == "as" ? "(any Name)" : "Name")"
      guard let name = typeName(value, as: example, &expansion) else { return nil }
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

struct ForwardedOptions {
  /// The class that is written for `any Name` or `any Name<…>`; a class name stands for itself.
  static func className(of type: String) -> String {
    type.hasPrefix("any ") ? String(type.dropFirst(4).prefix { $0 != "<" }).continued("Proxy") : type
  }

  /// The enum that contains a written class.
  static func namespace(of className: String) -> String { className.continued("Namespace") }

  /// The written classes of refined protocols.
  var inherited: [String] = []
  /// The protocol that the class conforms to, as `any Name`; `nil` for the annotated one.
  var interface: String?
  var base: String?
  /// The global actor of `isolatedTo:`.
  var actor: String?
  /// The answer that nobody gives, for requirements without `@Answer(otherwise:)`.
  var silence = SilentAnswers.refused
}

extension String {
  /// The name with a suffix, which stands inside of its backticks.
  func continued(_ letters: String) -> String { hasSuffix("`") ? dropLast() + letters + "`" : self + letters }
}
