// CountedExpansion.swift: @Counted, which moves the written class into an extension.

/// Writes the class, which the namespace holds behind a condition that is never true, into an extension of the namespace.
///
/// In whole-module optimization the compiler calls the only type that conforms to an internal protocol directly. It counts
/// conformances in declarations and in extensions, but not in what a peer macro wrote: there the class would be missed.
struct CountedExpansion {
  let request: ExpansionRequest

  func expand(into expansion: inout Expansion) {
    let source = request.declaration
    var reader = DeclarationReader(source)
    guard let namespace = reader.typeDeclaration(), namespace.keyword == "enum",
      let condition = (0..<source.end).first(where: { source.isWord($0, Self.condition) }),
      let end = (condition..<source.end).last(where: { source[$0].kind == .directive })
    else {
      expansion.refuse(
        "'@\(Self.macro)' belongs to what '@Forwarded' writes", attribute: request.attribute.offsets(0..<1))
      return
    }
    let start = source[condition].range.upperBound
    let body = String(decoding: source.bytes[start..<source[end].leading], as: UTF8.self)
    var writer = TextWriter()
    writer.lines(namespace.attributes.filter { !$0.isOurs(Self.macro) }.map { source.line($0.positions) })
    expansion.text = writer.text + "extension \(request.extendedType) {\(body)\n}\n"
  }

  static let macro = "Counted"
  static let condition: StaticString = "WRITTEN_INTO_AN_EXTENSION"
}
