// Expander.swift: expands attributes without a compiler.

@testable import ForwardcastExpansion

/// One expansion of a declaration that begins with its attribute.
struct Expander {
  let expansion: Expansion
  private let source: SourceText

  /// - Parameters:
  ///   - text: the declaration, whose first attribute is expanded.
  ///   - role: the macro role that the compiler requests; by default the attribute's first one.
  ///   - wantsConformance: whether the type lacks the conformance, for the role `extension`.
  init(
    _ text: String, role: String? = nil, extending type: String = "", in context: [String] = [],
    settings: ModuleSettings = ModuleSettings(), wantsConformance: Bool = true
  ) {
    let source = SourceText(text)
    self.source = source
    var position = 0
    let attributes = source.attributes(&position)
    let ours = attributes.first { ["Forwarded", "Receiver", "Message", "Answer"].contains($0.shortName) }
    let attribute = ours.map { source.text($0.positions) } ?? "@Forwarded"
    let name = ours?.shortName ?? "Forwarded"
    let request = ExpansionRequest(
      macro: name, role: role ?? (name == "Receiver" ? "member" : "peer"), attribute: SourceText(attribute),
      declaration: source, context: context, extendedType: type, settings: settings,
      wantsConformance: wantsConformance)
    expansion = request.expanded()
  }

  var problems: [Problem] { expansion.problems + expansion.attributeProblems }

  /// `line:column: message` of each problem; columns count characters from 1.
  var said: [String] {
    expansion.problems.map { problem in
      let before = String(decoding: source.bytes[..<problem.offsets.lowerBound], as: UTF8.self)
      let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
      return "\(lines.count):\((lines.last?.count ?? 0) + 1): \(problem.message)"
    }
  }

  /// The text that each problem refers to.
  var blamed: [String] { expansion.problems.map { String(decoding: source.bytes[$0.offsets], as: UTF8.self) } }
}
