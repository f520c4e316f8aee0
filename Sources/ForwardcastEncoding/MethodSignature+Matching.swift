// MethodSignature+Matching.swift: whether two signatures fit one another.

extension MethodSignature {
  /// How closely two signatures have to agree. Each strength lets through what those before it do.
  public enum MatchStrength: Hashable, Sendable, CaseIterable {
    /// Every type with all its names and qualifiers, as `==`.
    case strict
    /// As strict, but the methods may return different types.
    case ignoringReturnType
    /// Whether a message for one can be sent to the other: as ``ignoringReturnType``, and the arguments' class names,
    /// member names and qualifiers may differ, as ``TypeEncoding/matchesLeniently(_:)`` has it.
    case lenient
  }

  /// Whether the signatures agree; digits of the argument frame are never looked at.
  ///
  ///     let named = try MethodSignature("v@:@\"NSString\"")
  ///     let plain = try MethodSignature("v24@0:8@16")
  ///     named.matches(plain)             // false
  ///     named.matches(plain, .lenient)   // true
  ///
  /// - Parameters:
  ///   - other: the signature to compare with.
  ///   - strength: what may differ; nothing unless given.
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  public func matches(_ other: MethodSignature, _ strength: MatchStrength = .strict) -> Bool {
    switch strength {
    case .strict: return self == other
    case .ignoringReturnType: return argumentTypes == other.argumentTypes
    case .lenient:
      return numberOfArguments == other.numberOfArguments
        && zip(argumentTypes, other.argumentTypes).allSatisfy { $0.matchesLeniently($1) }
    }
  }
}
