// Statement.swift: statements and their parts.

struct Statement: Sendable {
  let kind: Kind
  let offset: Int

  /// Statements with blocks or an answer are data, because the interpreter enters blocks without
  /// recursion. All other statements are closures. Large cases are indirect, to save memory.
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
  /// The type encoding with its offset; `nil` if all types are `@`.
  let encoding: (text: String, offset: Int)?
  let body: @Sendable (Interpreter) throws -> ScriptValue
  let source: SourceText
  let offset: Int
}

/// An option of `proxy p = multicast`.
enum ProxyOption: String, Sendable, CaseIterable {
  case strong, duplicates, throwing, stopping
}
