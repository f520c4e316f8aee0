// Token.swift: tokens of a script.

enum Sign: String, Sendable {
  case openSend = "["
  case closeSquare = "]"
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openList = "@["
  case openDictionary = "@{"
  case comma = ","
  case colon = ":"
  case minus = "-"
  case assign = "="
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  var closing: Sign? {
    switch self {
    case .openSend, .openList: .closeSquare
    case .openParenthesis: .closeParenthesis
    case .openBrace, .openDictionary: .closeBrace
    default: nil
    }
  }
}

/// One token, with the offset of its first byte and the offset after its last byte.
struct Token: Sendable {
  enum Kind: Equatable, Sendable {
    case word(String)
    case integer(Int)
    case floating(Double)
    case string(String)
    case selector(String)
    case sign(Sign)
    /// A line break or `;` that ends a statement.
    case separator
    case end
  }

  let kind: Kind
  let offset: Int
  let end: Int

  func `is`(_ sign: Sign) -> Bool { kind == .sign(sign) }
  func `is`(_ word: String) -> Bool { kind == .word(word) }

  var word: String? { if case .word(let word) = kind { word } else { nil } }

  var text: String? { if case .string(let text) = kind { text } else { nil } }

  var shown: String {
    switch kind {
    case .word(let word): "\"\(word)\""
    case .integer(let value): "\(value)"
    case .floating(let value): "\(value)"
    case .string: "a text"
    case .selector(let name): "@selector(\(name))"
    case .sign(let sign): "\"\(sign.rawValue)\""
    case .separator: "the end of the statement"
    case .end: "the end of the text"
    }
  }
}
