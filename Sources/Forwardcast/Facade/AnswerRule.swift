// AnswerRule.swift: the rules of the attribute that combines answers.

/// The rule that combines the results of a requirement, in `@Answer(_:otherwise:)`. Each rule is
/// that of the ``ReturnPolicy`` of the same name. Only the macro reads it; the value is never used.
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

/// A literal without a type, `nil`, `[]` or `[:]`, in `@Answer(_:otherwise:)`. The value is never
/// used.
public struct NoAnswer: ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
  /// Stands for `nil`.
  public init(nilLiteral: ()) {}
  /// Stands for `[]`.
  public init(arrayLiteral elements: Never...) {}
  /// Stands for `[:]`.
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}

/// The results if no target responds, in ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)``.
/// Only the macro reads it.
///
/// `@Answer(_:otherwise:)` of a requirement takes precedence, and a requirement that throws any
/// error still throws `nobodyResponds`.
public struct SilentAnswers: Sendable {
  private init() {}

  /// Each requirement needs its own `@Answer`, an optional result, or to throw.
  public static var refused: SilentAnswers { SilentAnswers() }
  /// Empty values: `false`, 0, `""`, `[]`, `[:]`, an empty size. Results of other types are
  /// compile-time errors.
  public static var emptyValues: SilentAnswers { SilentAnswers() }
  /// Empty values. A type without one traps if no target responds, like a missing data source.
  public static var emptyValuesOrTrap: SilentAnswers { SilentAnswers() }
}
