// CountedExpansion.swift: conformances that the optimizer counts.
// Part of the macro program: Expanding. See the article "How the attributes work".

/// Writes two more classes that conform to a protocol, inside of the class that @Forwarded wrote.
///
/// When a whole module is optimized, the compiler calls the only type that conforms to an internal protocol directly. It
/// looks for such types in declarations and in extensions, but not in the classes that an attribute wrote beside a
/// declaration. So with one conforming class in the sources, every `any Name` would be taken for that class, the written
/// one too. Classes inside an extension are counted, and two of them are never the only one.
struct CountedExpansion {
  let request: ExpansionRequest

  func expand(into expansion: inout Expansion) {
    let source = request.declaration
    var reader = DeclarationReader(source)
    guard let written = reader.typeDeclaration(), written.keyword == "class",
      let conformances,
      let storage = written.members.first(where: { $0.plainName == "multicast" })
    else {
      expansion.refuse(
        "'@\(Self.macro)' belongs to the classes that '@Forwarded' writes", attribute: request.attribute.offsets(0..<1))
      return
    }
    let attributes = written.attributes.filter { !$0.isOurs(Self.macro) }.map { source.line($0.positions) }
    let typeParameters = written.typeParameters(source)
    let isolation = Isolation(written.modifiers, []) == nil ? "" : "nonisolated "
    let sharing = storage.modifier("nonisolated") == nil ? "" : "nonisolated "
    var writer = TextWriter()
    writer.block("extension \(request.extendedType)") { writer in
      writer.line("// Never made. The optimizer counts these two classes, and not the one above: see `@Forwarded`.")
      for name in Self.names {
        writer.lines(attributes)
        writer.block("\(isolation)final class \(name): \(conformances)") { writer in
          for name in typeParameters { writer.line("typealias \(name) = Counted\(name)") }
          if typeParameters.isEmpty {
            writer.line("typealias Interface = any CountedProtocol")
            writer.line("\(sharing)var multicast: Forwardcast.MulticastProxy<any CountedProtocol> { fatalError() }")
          }
          writer.line("init(never: Never) { switch never {} }")
        }
      }
    }
    expansion.text = writer.text
  }

  static let macro = "Counted"
  static let names = ["CountedOnce", "CountedTwice"]

  /// The literal that the attribute has for an argument.
  private var conformances: String? {
    var position = 0
    return request.attribute.attributes(&position).first?.literal.flatMap { $0.isEmpty ? nil : $0 }
  }
}
