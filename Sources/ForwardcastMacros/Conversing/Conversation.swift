// Conversation.swift: the compiler's plug-in protocol, in JSON.

/// Answers the compiler's messages. Stateless.
package enum Conversation {
  /// The newest version of the plug-in protocol that is supported.
  static let protocolVersion = 7

  package static func reply(to bytes: [UInt8]) -> String {
    guard let message = JSONValue(bytes), case .object(let members) = message else {
      return result("the compiler's message cannot be read")
    }
    if let capability = members["getCapability"] {
      let version = min(capability["capability"]?["protocolVersion"]?.integer ?? protocolVersion, protocolVersion)
      return JSONValue.object([
        "getCapabilityResult": .object([
          "capability": .object(["protocolVersion": .int(version), "features": .array([])])
        ])
      ]).encoded
    }
    if let question = members["expandAttachedMacro"] { return expand(question) }
    guard let question = members["expandFreestandingMacro"] else {
      return result("this request of the compiler is not known")
    }
    if question["macro"]?["typeName"]?.text == "ClosureMustBeSendable" { return refuseClosure(question) }
    return result("this is an attribute: write it before a declaration", at: question["syntax"]?["location"])
  }

  private static func expand(_ question: JSONValue) -> String {
    guard let macro = question["macro"]?["typeName"]?.text, let role = question["macroRole"]?.text,
      let attribute = question["attributeSyntax"], let attributeText = attribute["source"]?.text,
      let declaration = question["declSyntax"], let declarationText = declaration["source"]?.text
    else { return result("this request of the compiler is incomplete") }
    let request = ExpansionRequest(
      macro: macro, role: role, attribute: SourceText(attributeText), declaration: SourceText(declarationText),
      context: question["lexicalContext"]?.elements.compactMap { $0["source"]?.text } ?? [],
      extendedType: question["extendedTypeSyntax"]?["source"]?.text ?? "",
      settings: settings(question["staticBuildConfiguration"]?.text),
      place: SourcePlace(
        file: declaration["location"]?["fileName"]?.text ?? "", line: declaration["location"]?["line"]?.integer ?? 0),
      wantsConformance: question["conformanceListSyntax"]?["source"]?.text?.contains(":") ?? true)
    let expansion = request.expanded()
    let diagnostics =
      expansion.problems.map { diagnostic($0, declaration["location"]) }
      + expansion.attributeProblems.map { diagnostic($0, attribute["location"]) }
    return result(.string(expansion.text), diagnostics)
  }

  /// Expands `#closureMustBeSendable` to an error, or to a warning in Swift 5 mode, because in that
  /// mode not even references to functions are `Sendable`.
  private static func refuseClosure(_ question: JSONValue) -> String {
    let configuration = (question["staticBuildConfiguration"]?.text).flatMap { JSONValue(Array($0.utf8)) }
    let mode = configuration?["languageMode"]?["components"]?.elements.first?.integer ?? 6
    let problem = Problem(
      severity: mode < 6 ? .warning : .error,
      message: "any thread may call this function value: give it a '@Sendable' or global-actor type, or write a "
        + "closure instead; the values that the closure captures and an 'owner:' must be 'Sendable'", offsets: 0..<1)
    return result(.string("nil"), [diagnostic(problem, question["syntax"]?["location"])])
  }

  /// The settings in the build configuration. Default isolation appears there as a feature.
  private static func settings(_ configuration: String?) -> ModuleSettings {
    let features = configuration.flatMap { JSONValue(Array($0.utf8))?["features"]?.elements } ?? []
    return ModuleSettings(
      isMainActorByDefault: features.contains(.string("NoExplicitNonIsolated")),
      isNonsendingByDefault: features.contains(.string("NonisolatedNonsendingByDefault")),
      opensAll: features.contains(.string("ImplicitOpenExistentials")),
      hasInternalImports: features.contains(.string("InternalImportsByDefault")))
  }

  // MARK: Diagnostics

  private static func result(_ text: JSONValue, _ diagnostics: [JSONValue]) -> String {
    let members = ["expandedSource": text, "diagnostics": .array(diagnostics)]
    return JSONValue.object(["expandMacroResult": .object(members)]).encoded
  }

  private static func result(_ error: String, at location: JSONValue? = nil) -> String {
    result(.null, [diagnostic(Problem(message: error, offsets: 0..<0), location)])
  }

  private static func diagnostic(_ problem: Problem, _ location: JSONValue?) -> JSONValue {
    let file = JSONValue.string(location?["fileName"]?.text ?? "")
    let start = location?["offset"]?.integer ?? 0
    func range(_ offsets: Range<Int>) -> JSONValue {
      .object([
        "fileName": file, "startOffset": .int(start &+ offsets.lowerBound),
        "endOffset": .int(start &+ offsets.upperBound),
      ])
    }
    return .object([
      "message": .string(problem.message), "severity": .string(problem.severity.rawValue),
      "position": .object(["fileName": file, "offset": .int(start &+ problem.offsets.lowerBound)]),
      "highlights": .array(problem.offsets.isEmpty ? [] : [range(problem.offsets)]), "notes": .array([]),
      "fixIts": .array(
        problem.fixes.map { fix in
          .object([
            "message": .string(fix.title),
            "changes": .array([.object(["range": range(fix.offsets), "newText": .string(fix.text)])]),
          ])
        }),
    ])
  }
}
