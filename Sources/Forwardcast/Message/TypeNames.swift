// TypeNames.swift: the names of types in texts.

/// The name of a type as it is written: `any Function<Int, Int>`. The runtime's name also has the
/// associated types: `any Function<Self.Function.Input == Int, Self.Function.Output == Int>`.
package func writtenName(of type: any Any.Type) -> String {
  let name = String(describing: type)
  guard name.utf8.contains(UInt8(ascii: "=")) else { return name }
  let parts = name.split(separator: " == ")
  let cut = parts.dropLast().map { part in part.ranges(of: "Self.").last.map { part[..<$0.lowerBound] } ?? part }
  return (cut + parts.suffix(1)).joined()
}

extension DefaultStringInterpolation {
  /// Appends the name of a type as it is written. Shadows the standard library's method in this
  /// module, so that all of its texts use this name.
  mutating func appendInterpolation(_ type: any Any.Type) { appendLiteral(writtenName(of: type)) }
}
