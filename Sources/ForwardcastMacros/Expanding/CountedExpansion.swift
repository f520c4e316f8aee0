// CountedExpansion.swift: a written class where the optimizer counts it.

/// Writes the class that stands in a namespace, behind a condition that never holds, into an extension of that namespace.
///
/// When a whole module is optimized, the compiler calls the only type that conforms to an internal protocol directly. It looks
/// for such types in declarations and in extensions, but not in what an attribute wrote beside a declaration. So the class
/// stands in an extension: every conformance that it has, from wherever, is counted as that of any other class.
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
  /// The condition before the class.
  static let condition: StaticString = "WRITTEN_INTO_AN_EXTENSION"
}
