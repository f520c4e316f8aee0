// CountedExpansion.swift: @Counted, which moves the generated class into an extension.

/// Moves the class from the namespace, where a false `#if` condition hides it, to an extension.
///
/// Whole-module optimization turns calls through an internal protocol into direct calls if it sees
/// only one conforming type. It would overlook a generated class from a peer macro, but not one in
/// an extension.
extension ExpansionRequest {
  func expandCounted(into expansion: inout Expansion) {
    let source = declaration
    var reader = DeclarationReader(source)
    guard let namespace = reader.typeDeclaration(), namespace.keyword == "enum",
      let condition = (0..<source.end).first(where: { source.isWord($0, Self.countedCondition) }),
      let end = (condition..<source.end).last(where: { source[$0].kind == .directive })
    else {
      return expansion.refuse(
        "'@Counted' is for code that '@Forwarded' generates; remove it", attribute: attribute.offsets(0..<1))
    }
    let start = source[condition].range.upperBound
    let body = String(decoding: source.bytes[start..<source[end].leading], as: UTF8.self)
    let attributes = namespace.attributes.filter { !$0.isOurs("Counted") }.map { source.line($0.positions) }
    expansion.text = attributes.text + "extension \(extendedType) {\(body)\n}\n"
  }

  static let countedCondition: StaticString = "WRITTEN_INTO_AN_EXTENSION"
}
