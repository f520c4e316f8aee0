// ForwardedExpansion.swift: @Forwarded.

extension ExpansionRequest {
  func expandForwarded(into expansion: inout Expansion) {
    guard var declaration = read(&expansion) else { return }
    guard declaration.keyword == "protocol" else {
      return expansion.refuse(
        "'@Forwarded' is for protocols; use '@Receiver' for a class", declaration: declaration.keywordOffsets)
    }
    declaration.around = around.compactMap(\.self)
    // The compiler itself refuses peers of local declarations, and protocols in generic types.
    if declaration.around.contains(where: {
      $0.generics != nil || ["func", "init", "deinit", "subscript"].contains($0.keyword)
    }) {
      return
    }
    if let problem = declaration.hiddenProblem {
      expansion.problems.append(problem)
      return
    }
    let options = options(&expansion)
    guard expansion.attributeProblems.isEmpty else { return }
    let checker = ProtocolChecker(declaration, settings, options.silence)
    expansion.problems += checker.problems
    var interface = ForwardedInterface(declaration, options, checker, in: self)
    let strayed = interface.isolationProblems
    if !expansion.hasErrors { expansion.problems += strayed }
    // Generates an empty class, so that uses of the class add no further errors.
    if checker.isHeadRefused || !strayed.isEmpty {
      declaration.items = []
      interface = ForwardedInterface(declaration, options, checker, in: self)
    }
    interface.isWhole = expansion.problems.allSatisfy(\.isHarmless)
    switch role {
    case "peer": expansion.text = interface.proxyText()
    case "extension": expansion.text = interface.inheritance(of: extendedType)
    default: break
    }
  }
}
