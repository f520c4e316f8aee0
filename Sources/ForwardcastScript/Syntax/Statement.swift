// Statement.swift: statements and their parts.

struct Statement: Sendable {
  let kind: Kind
  let offset: Int

  /// Expressions, `return`, `if` and `repeat` are data: the interpreter uses the values, and enters
  /// blocks without recursion. Other statements are closures. `indirect` saves memory.
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
