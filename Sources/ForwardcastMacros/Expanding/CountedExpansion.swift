// CountedExpansion.swift: @Counted, which moves the written class into an extension.

/// Writes the class, which the namespace holds behind a condition that is never true, into an extension of the namespace.
///
/// In whole-module optimization the compiler calls the only type that conforms to an internal protocol directly. It counts
/// conformances in declarations and in extensions, but not in what a peer macro wrote: there the class would be missed.
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
