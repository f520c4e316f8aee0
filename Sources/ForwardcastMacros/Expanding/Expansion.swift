// Expansion.swift: one expansion, its request and its result.

struct ExpansionRequest {
  /// The name of the macro, such as `Forwarded`, `Receiver` or `Message`.
  let macro: String
  /// `peer`, `member` or `extension`.
  let role: String
  let attribute: SourceText
  /// The declaration that the attribute is attached to, with all attributes.
  let declaration: SourceText
  /// The enclosing declarations, innermost first, without members.
  var context: [String] = []
  /// The qualified name of the type to extend.
  var extendedType = ""
  var settings = ModuleSettings()
  /// The place where the text of the declaration begins, leading comments included.
  var place: SourcePlace?
  /// Whether the type lacks the conformance that the macro declares. Set for extension macros only.
  var wantsConformance = true
}

struct Expansion {
  var text = ""
  /// Problems with offsets in the declaration.
  var problems: [Problem] = []
  var attributeProblems: [Problem] = []
  /// Problems of the generated extension, which the peer or member expansion does not report.
  var extensionProblems: [Problem] = []

  var hasErrors: Bool { (problems + attributeProblems).contains { $0.severity == .error } }

  mutating func refuse(_ message: String, attribute offsets: Range<Int>) {
    attributeProblems.append(Problem(message: message, offsets: offsets))
  }

  mutating func refuse(_ message: String, declaration offsets: Range<Int>) {
    problems.append(Problem(message: message, offsets: offsets))
  }
}

extension ExpansionRequest {
  /// The longest declaration that is read: 4 MiB.
  static let maximumLength = 4 << 20

  func expanded() -> Expansion {
    var expansion = Expansion()
    guard declaration.bytes.count <= Self.maximumLength else {
      expansion.refuse("the declaration is longer than 4 MiB; split it", attribute: attribute.offsets(0..<1))
      return expansion
    }
    switch macro {
    case "Forwarded": expandForwarded(into: &expansion)
    case "Receiver": expandReceiver(into: &expansion)
    case "Message", "Answer", "NotForwarded":
      // The other macros read these attributes, which themselves generate nothing.
      guard let surplus else { break }
      expansion.attributeProblems = [Problem(severity: .warning, message: surplus, offsets: attribute.offsets(0..<2))]
    case "Counted": expandCounted(into: &expansion)
    default:
      expansion.refuse(
        "this version of the macros does not know '\(macro)'; build the package again",
        attribute: attribute.offsets(0..<1))
    }
    // The peer or member expansion reports the same problems.
    if role == "extension", macro != "Counted" {
      (expansion.problems, expansion.attributeProblems) = (expansion.extensionProblems, [])
    }
    return expansion
  }

  func read(_ expansion: inout Expansion) -> TypeDeclaration? {
    var (source, unread) = (declaration, Expansion())
    source.statedActor = options(&unread).actor
    var reader = DeclarationReader(source)
    defer { expansion.problems = reader.problems }
    return reader.typeDeclaration()
  }

  /// The line of a token in the user's file.
  func place(of positions: Range<Int>) -> SourcePlace? {
    let before = declaration.bytes[..<declaration[positions.lowerBound].range.lowerBound]
    return place.flatMap { SourcePlace(file: $0.file, line: $0.line + before.count { $0 == UInt8(ascii: "\n") }) }
  }

  /// The enclosing declarations, innermost first; `nil` for a declaration that cannot be read.
  var around: [TypeDeclaration?] {
    context.reversed().reduce(into: []) { around, text in
      var reader = DeclarationReader(SourceText(text))
      var declaration = reader.typeDeclaration()
      declaration?.around = around.compactMap(\.self)
      around.insert(declaration, at: 0)
    }
  }

  // MARK: @Message, @Answer and @NotForwarded

  /// Why the attribute has no effect here; `nil` if it has an effect.
  private var surplus: String? {
    let around = around.first ?? nil
    if let around, around.keyword == "protocol", around.attribute("Forwarded") != nil { return nil }
    if macro != "Message" { return "'@\(macro)' has no effect outside a protocol with '@Forwarded'; remove it" }
    if let around, around.attribute("Receiver") != nil { return nil }
    if around?.keyword == "extension" {
      return "'@Message' has no effect in an extension, which '@Receiver' does not see; move the member into the class"
    }
    return "'@Message' has no effect outside a '@Receiver' class or a '@Forwarded' protocol; remove it"
  }
}
