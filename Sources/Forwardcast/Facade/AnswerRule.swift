// AnswerRule.swift: how an attribute combines answers.

/// How the answers to a requirement become one, in `@Answer(_:otherwise:)`: as by the ``ReturnPolicy`` of the same name. Read by
/// the macro only; the value is never used.
public struct AnswerRule: Sendable {
  private init() {}

  /// The last answer in order of delivery.
  public static var last: AnswerRule { AnswerRule() }
  /// The first answer; no further target is asked.
  public static var first: AnswerRule { AnswerRule() }
  /// The last answer that is not `nil`.
  public static var lastValue: AnswerRule { AnswerRule() }
  /// The first answer that is not `nil`; no further target is asked.
  public static var firstValue: AnswerRule { AnswerRule() }
  /// Whether somebody answered `true`.
  public static var any: AnswerRule { AnswerRule() }
  /// Whether nobody answered `false`.
  public static var every: AnswerRule { AnswerRule() }
  /// The sum of all answers.
  public static var sum: AnswerRule { AnswerRule() }
  /// The smallest answer.
  public static var min: AnswerRule { AnswerRule() }
  /// The greatest answer.
  public static var max: AnswerRule { AnswerRule() }
  /// All answers concatenated: texts, arrays and other collections.
  public static var joined: AnswerRule { AnswerRule() }

  /// All answers concatenated, with a separator.
  public static func joined(separator: String) -> AnswerRule { AnswerRule() }

  /// The answers combined one after another by `combine`, beginning with `initial`.
  public static func reduce<Value>(_ initial: Value, _ combine: @Sendable (Value, Value) throws -> Value) -> AnswerRule
  {
    AnswerRule()
  }
}

/// A literal without a type, `nil`, `[]` or `[:]`, in `@Answer(_:otherwise:)`. The value is never used.
public struct NoAnswer: ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
  /// Stands for `nil`.
  public init(nilLiteral: ()) {}
  /// Stands for `[]`.
  public init(arrayLiteral elements: Never...) {}
  /// Stands for `[:]`.
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}

/// The answers when nobody answers, in ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)``. Read by the macro only.
///
/// `@Answer(_:otherwise:)` of a requirement comes first, and a requirement that throws any error still throws `nobodyResponds`.
public struct SilentAnswers: Sendable {
  private init() {}

  /// Each requirement needs its own `@Answer`, an optional result, or to throw.
  public static var refused: SilentAnswers { SilentAnswers() }
  /// Empty values: `false`, 0, `""`, `[]`, `[:]`, an empty size. Results of other types are compile-time errors.
  public static var emptyValues: SilentAnswers { SilentAnswers() }
  /// Empty values; a type without one traps when it is asked for and nobody answers, like a missing data source.
  public static var emptyValuesOrTrap: SilentAnswers { SilentAnswers() }
}
