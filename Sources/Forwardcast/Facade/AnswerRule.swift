// AnswerRule.swift: what many answers to a requirement become, as an attribute says it.
// Layer: Facade. See DESIGN.md, "The attributes".

/// How the answers to a requirement become one, in ``Answer(_:otherwise:)``.
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
  public static func reduce<Value>(_ initial: Value, _ combine: @Sendable (Value, Value) throws -> Value) -> AnswerRule
  {
    AnswerRule()
  }
}
