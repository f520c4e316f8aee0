// FunctionTypes.swift: function types that differ in `@Sendable` only.

/// True if `found` and `wanted` are function types that differ only in the `@Sendable` of `found`.
/// Swift converts between such types at compile time, but dynamic casts require equal types. The
/// compared words of the types' metadata (flags, result, parameters) belong to Swift's stable ABI
/// on Apple systems and are the same on Linux. Function types with more words, such as types with a
/// global actor, never match.
func isFunction(_ found: any Any.Type, usableAs wanted: any Any.Type) -> Bool {
  let (found, wanted) = (
    unsafeBitCast(found, to: UnsafePointer<UInt>.self), unsafeBitCast(wanted, to: UnsafePointer<UInt>.self)
  )
  guard found[0] == FunctionWords.kind, wanted[0] == FunctionWords.kind else { return false }
  let flags = wanted[1]
  guard flags & (FunctionWords.sendable | FunctionWords.uncompared) == 0, found[1] == flags | FunctionWords.sendable
  else { return false }
  let count = Int(flags & FunctionWords.parameterCount)
  guard (2..<(3 + count)).allSatisfy({ found[$0] == wanted[$0] }) else { return false }
  guard flags & FunctionWords.hasParameterFlags != 0 else { return true }
  func parameterFlags(_ words: UnsafePointer<UInt>) -> UnsafePointer<UInt32> {
    UnsafeRawPointer(words + 3 + count).assumingMemoryBound(to: UInt32.self)
  }
  return (0..<count).allSatisfy { parameterFlags(found)[$0] == parameterFlags(wanted)[$0] }
}

/// The first words of a function type's metadata.
private enum FunctionWords {
  static let kind: UInt = 0x302
  // Bits of word 1. Word 2 is the result type, followed by the parameter types and their flags.
  static let parameterCount: UInt = 0xFFFF
  static let hasParameterFlags: UInt = 0x0200_0000
  static let sendable: UInt = 0x4000_0000
  /// Differentiability, a global actor and extended flags add words that are not compared.
  static let uncompared: UInt = 0x0800_0000 | 0x1000_0000 | 0x8000_0000
}
