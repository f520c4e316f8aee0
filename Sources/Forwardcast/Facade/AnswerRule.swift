// AnswerRule.swift: what many answers to a requirement become, as an attribute says it.

/// How the answers to a requirement become one, in `@Answer(_:otherwise:)`.
///
/// A rule is read by the compiler's side of the attribute and stands for the ``ReturnPolicy`` of the same name. The
/// value itself is never used.
public struct AnswerRule: Sendable {
  private init() {}

  /// The last answer in order of delivery.
  public static var last: AnswerRule { AnswerRule() }
  /// The first answer; nobody further is asked.
  public static var first: AnswerRule { AnswerRule() }
  /// The last answer that is not `nil`.
  public static var lastValue: AnswerRule { AnswerRule() }
  /// The first answer that is not `nil`; nobody further is asked.
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
  /// All answers one after another: of texts, arrays and other collections.
  public static var joined: AnswerRule { AnswerRule() }

  /// All answers one after another, with a text between two of them.
  public static func joined(separator: String) -> AnswerRule { AnswerRule() }

  /// The answers combined one after another, beginning with `initial`.
  /// - Parameters:
  ///   - initial: the result where nobody answers.
  ///   - combine: makes one of the result so far and the next answer.
  public static func reduce<Value>(_ initial: Value, _ combine: @Sendable (Value, Value) throws -> Value) -> AnswerRule
  {
    AnswerRule()
  }
}

/// A literal that says nothing of its type: `nil`, `[]` or `[:]`, in `@Answer(_:otherwise:)`. The value itself is never used.
public struct NoAnswer: ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
  /// Stands for `nil`.
  public init(nilLiteral: ()) {}
  /// Stands for `[]`.
  public init(arrayLiteral elements: Never...) {}
  /// Stands for `[:]`.
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}

/// What stands for answers that nobody gives, in ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)``.
///
/// It is read by the compiler's side of the attribute; the value itself is never used. What a requirement says itself by
/// `@Answer(_:otherwise:)` comes first, and a requirement that throws any error still throws `nobodyResponds`.
public struct SilentAnswers: Sendable {
  private init() {}

  /// Each requirement says it itself, answers an optional, or throws.
  public static var refused: SilentAnswers { SilentAnswers() }
  /// Values without content: `false`, 0, `""`, `[]`, `[:]`, an empty size. Other types are refused where they stand.
  public static var emptyValues: SilentAnswers { SilentAnswers() }
  /// Values without content; a type that has none ends the process when it is asked for and nobody answers, as a data
  /// source that is missing would.
  public static var emptyValuesOrTrap: SilentAnswers { SilentAnswers() }
}
