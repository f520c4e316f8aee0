// AnswerRule.swift: the rules of the attribute that combines answers.

/// The rule of `@Answer(_:otherwise:)` that combines a requirement's results. Each rule works like
/// the ``ReturnPolicy`` of the same name. Only the macro reads the rule, from the source text. The
/// value of type `AnswerRule` is never used.
public struct AnswerRule: Sendable {
  private init() {}

  /// The last result in order of delivery.
  public static var last: AnswerRule { AnswerRule() }
  /// The first result; no further target is called.
  public static var first: AnswerRule { AnswerRule() }
  /// The last result that is not `nil`.
  public static var lastValue: AnswerRule { AnswerRule() }
  /// The first result that is not `nil`; no further target is called.
  public static var firstValue: AnswerRule { AnswerRule() }
  /// True if at least one target returned `true`.
  public static var any: AnswerRule { AnswerRule() }
  /// True unless a target returned `false`.
  public static var every: AnswerRule { AnswerRule() }
  /// The sum of all results.
  public static var sum: AnswerRule { AnswerRule() }
  /// The smallest result.
  public static var min: AnswerRule { AnswerRule() }
  /// The greatest result.
  public static var max: AnswerRule { AnswerRule() }
  /// All results concatenated: strings, arrays and other collections.
  public static var joined: AnswerRule { AnswerRule() }

  /// All results concatenated, with a separator.
  public static func joined(separator: String) -> AnswerRule { AnswerRule() }

  /// The results combined by `combine`, starting with `initial`.
  public static func reduce<Value>(_ initial: Value, _ combine: @Sendable (Value, Value) throws -> Value) -> AnswerRule
  {
    AnswerRule()
  }
}

/// An untyped literal in `@Answer(_:otherwise:)`: `nil`, `[]` or `[:]`. Only the macro reads it.
public struct NoAnswer: ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
  /// The literal `nil`.
  public init(nilLiteral: ()) {}
  /// The literal `[]`.
  public init(arrayLiteral elements: Never...) {}
  /// The literal `[:]`.
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}

/// The `otherwise` argument of ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)``: what
/// requirements return if no target responds. Only the macro reads this argument.
///
/// A requirement's own `@Answer(_:otherwise:)` takes precedence. A requirement with untyped
/// `throws` still throws `nobodyResponds`.
public struct SilentAnswers: Sendable {
  private init() {}

  /// Each requirement with a result needs `@Answer`, an optional result, or `throws`.
  public static var refused: SilentAnswers { SilentAnswers() }
  /// Empty values, such as `false`, 0, `""`, `[]` and `CGSize.zero`. Other types are errors.
  public static var emptyValues: SilentAnswers { SilentAnswers() }
  /// Empty values. If no target responds and the result type has no empty value, the call traps.
  public static var emptyValuesOrTrap: SilentAnswers { SilentAnswers() }
}
