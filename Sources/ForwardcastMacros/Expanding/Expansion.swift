// Expansion.swift: what the compiler asks for, and what it gets.
// Part of the macro program: Expanding. See the article "How the attributes work".

/// One attribute that the compiler wants expanded.
struct ExpansionRequest {
  /// The name of the macro: `Forwarded`, `Receiver`, `Message` or `Answer`.
  let macro: String
  /// `peer`, `member` or `extension`.
  let role: String
  /// The attribute as it was written.
  let attribute: SourceText
  /// The declaration that it is attached to, with all attributes.
  let declaration: SourceText
  /// The declarations around it, the innermost first, without their members.
  var context: [String] = []
  /// The type that an extension is asked for, with the names of the types around it.
  var extendedType = ""
  var settings = ModuleSettings()
  /// Whether the conformance that the macro declares is still missing. The compiler says so for extensions.
  var wantsConformance = true
}

/// What is written, and what is said about it.
struct Expansion {
  var text = ""
  /// Offsets are those of the declaration.
  var problems: [Problem] = []
  /// Problems whose offsets are those of the attribute.
  var attributeProblems: [Problem] = []

  var hasErrors: Bool { (problems + attributeProblems).contains { $0.severity == .error } }
}

extension ExpansionRequest {
  /// The longest declaration that is read, in bytes.
  static let maximumLength = 4 << 20

  /// Writes what the attribute stands for.
  func expanded() -> Expansion {
    guard declaration.bytes.count <= Self.maximumLength else {
      var expansion = Expansion()
      expansion.attributeProblems.append(
        Problem(message: "this declaration is too long to be read", offsets: attribute.offsets(0..<1)))
      return expansion
    }
    switch macro {
    case "Forwarded": return ForwardedExpansion(self).expand()
    case "Receiver": return ReceiverExpansion(self).expand()
    case "Message", "Answer": return MarkExpansion(self).expand()
    case CountedExpansion.macro: return CountedExpansion(self).expand()
    default:
      var expansion = Expansion()
      expansion.attributeProblems.append(
        Problem(message: "this version of the attributes does not know '\(macro)'", offsets: attribute.offsets(0..<1)))
      return expansion
    }
  }
}
