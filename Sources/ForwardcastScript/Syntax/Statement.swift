// Statement.swift: statements, and what they consist of.

struct Statement: Sendable {
  let kind: Kind
  let offset: Int

  /// Statements with blocks or an answer are data, since the interpreter enters blocks without recursion; all others act.
  // Large cases are indirect, since a text of 16 MiB may have eight million statements.
  enum Kind: Sendable {
    case evaluate(Expression)
    indirect case condition(Condition, then: [Statement], otherwise: [Statement]?)
    case `repeat`(Expression, [Statement])
    case answer(Expression?)
    case action(@Sendable (Interpreter) throws -> Void)
  }
}

/// `- part: argument "encoding" { … }`.
struct RowDefinition: Sendable {
  let selector: String
  let arguments: [String]
  /// The type encoding with its place; `nil` where all types are `@`.
  let encoding: (text: String, offset: Int)?
  let body: @Sendable (Interpreter) throws -> ScriptValue
  let source: SourceText
  let offset: Int
}

/// An option of `proxy p = multicast`.
enum ProxyOption: String, Sendable, CaseIterable {
  case strong, duplicates, throwing, stopping
}
