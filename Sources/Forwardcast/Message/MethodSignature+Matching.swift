// MethodSignature+Matching.swift: whether two signatures fit one another.
// Layer: Message. See DESIGN.md, "Type encodings".

extension MethodSignature {
  /// How closely two signatures have to agree.
  public enum MatchStrength: Hashable, Sendable, CaseIterable {
    /// Every type with all its names and qualifiers, as `==`.
    case strict
    /// As strict, but the methods may return different types.
    case ignoringReturnType
    /// All types, as ``TypeEncoding/matchesLeniently(_:)`` compares them: class names, member names and qualifiers
    /// may differ.
    case lenient
  }

  /// Whether the signatures agree; digits of the argument frame are never looked at.
  ///
  ///     let named = try MethodSignature("v@:@\"NSString\"")
  ///     let plain = try MethodSignature("v24@0:8@16")
  ///     named.matches(plain)             // false
  ///     named.matches(plain, .lenient)   // true
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  public func matches(_ other: MethodSignature, _ strength: MatchStrength = .strict) -> Bool {
    switch strength {
    case .strict: return self == other
    case .ignoringReturnType: return argumentTypes == other.argumentTypes
    case .lenient:
      return numberOfArguments == other.numberOfArguments
        && returnType.matchesLeniently(other.returnType)
        && zip(argumentTypes, other.argumentTypes).allSatisfy { $0.matchesLeniently($1) }
    }
  }
}
