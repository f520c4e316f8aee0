// Parser+Expressions.swift: parses expressions.

import Forwardcast

extension Parser {
  /// Words that begin statements or expressions, and so are not names there.
  static let reservedWords: Set<String> = Set(["else"]).union(StatementWord.allCases.map(\.rawValue))
    .union(ExpressionWord.allCases.map(\.rawValue)).union(Query.allCases.map(\.rawValue))

  /// An expression: a query or an operand, with any `not` before it and `responds` after it.
  mutating func parseExpression() throws -> Expression { try parse { try $0.appendExpression(to: &$1) } }

  /// An operand: a literal, a name, a send, a query, or an expression in parentheses.
  mutating func parseOperand() throws -> Expression { try parse { try $0.appendOperand(to: &$1) } }

  private mutating func parse(_ append: (inout Parser, inout [Step]) throws -> Void) throws -> Expression {
    let start = try peek().offset
    var steps: [Step] = []
    try append(&self, &steps)
    return Expression(steps: steps, offset: start)
  }

  private mutating func appendExpression(to steps: inout [Step]) throws {
    var negations: [Int] = []
    while try peek().is("not") { negations.append(try take().offset) }
    try appendOperand(to: &steps)
    if try peek().is("responds"), try beginsOperand(peek(1)) {
      let offset = try take().offset
      try appendOperand(to: &steps)
      steps.append(Step(.responds, at: offset))
    }
    for offset in negations.reversed() { steps.append(Step(.not, at: offset)) }
  }

  /// Queries are read from left to right and computed from right to left, in a loop since any number may follow one another.
  private mutating func appendOperand(to steps: inout [Step]) throws {
    var pending: [Step] = []
    while let word = try peek().word {
      let offset = try peek().offset
      if let query = Query(rawValue: word) {
        pending.append(Step(.query(query), at: offset))
      } else if word == "arg" {
        guard case .hook = surroundings else { throw error("\"arg\" stands in a hook only", at: try peek()) }
        pending.append(Step(.hookArgument, at: offset))
      } else {
        break
      }
      try take()
    }
    let token = try peek()
    if let last = pending.last, !beginsOperand(token) {
      let word = source.text(last.offset..<token.offset).prefix { $0.isLetter }
      throw unexpected(
        token, wanted: "an expression", about: .advice("\"\(word)\" is a word of the language, and no name here"))
    }
    try appendPrimary(to: &steps)
    steps.append(contentsOf: pending.reversed())
  }

  private mutating func appendPrimary(to steps: inout [Step]) throws {
    let token = try take()
    func append(_ action: Step.Action) { steps.append(Step(action, at: token.offset)) }
    switch token.kind {
    case .integer(let value): append(.constant(.integer(value)))
    case .floating(let value): append(.constant(.floating(value)))
    case .string(let text): append(.constant(.string(text)))
    case .selector(let name): append(.constant(.selector(ScriptSelector(checked: name))))
    case .word(let word): try appendWord(word, token, to: &steps)
    case .sign(.openSend): try appendSend(.answer, token, opened: true, to: &steps)
    case .sign(.openParenthesis):
      try appendExpression(to: &steps)
      try expect(.closeParenthesis)
    case .sign(.openList): try appendList(token, to: &steps)
    case .sign(.openDictionary): try appendDictionary(token, to: &steps)
    default:
      throw unexpected(token, wanted: "an expression", about: token.is(.minus) ? .advice(Advice.arithmetic) : nil)
    }
  }

  private func beginsOperand(_ token: Token) -> Bool {
    switch token.kind {
    case .integer, .floating, .string, .selector, .word: true
    case .sign(let sign): sign.closing != nil && sign != .openBrace
    case .separator, .end: false
    }
  }

  private mutating func appendWord(_ word: String, _ token: Token, to steps: inout [Step]) throws {
    func append(_ action: Step.Action) { steps.append(Step(action, at: token.offset)) }
    switch ExpressionWord(rawValue: word) {
    case .true: append(.constant(.bool(true)))
    case .false: append(.constant(.bool(false)))
    case .nil: append(.constant(.null))
    case .new: try appendNew(to: &steps)
    case .alive:
      let place = try peek().offset
      steps.append(Step(.alive(try takeName("the name of an object")), at: place))
    case .collect:
      let policy = try take(LanguageWords.words(CollectPolicy.self)) { $0.word.flatMap(CollectPolicy.init) }
      try appendSend(.result(policy), token, to: &steps)
    case .errors: try appendSend(.errors, token, to: &steps)
    case .report: try appendSend(.report, token, to: &steps)
    case .proceed:
      guard surroundings == .hook(.around) else { throw error("\"proceed\" stands in an \"around\" only", at: token) }
      let hasArguments = try takes("with")
      if hasArguments { try appendList(try expect(.openList), to: &steps) }
      append(.proceed(withArguments: hasArguments))
    case .service:
      let place = try peek().offset
      steps.append(Step(.service(try takeName("the name of a receiver")), at: place))
    case .services: append(.services)
    case .not, .arg, nil:
      if Parser.reservedWords.contains(word) {
        throw error("\"\(word)\" is a word of the language and begins no expression here", at: token)
      }
      append(.name(word))
    }
  }

  private mutating func appendNew(to steps: inout [Step]) throws {
    let token = try peek()
    let receiver = try takeName("the name of a receiver")
    let isNamed = try peek().is("name") && peek(1).is(.colon)
    if isNamed {
      try take()
      try take()
      // It counts like a bracket, since parsing its expression recurses.
      guard openNames + openBrackets < Lexer.bracketLimit else {
        throw error("more than \(Lexer.bracketLimit) names and brackets inside one another", .limitExceeded, at: token)
      }
      openNames += 1
      try appendExpression(to: &steps)
      openNames -= 1
    }
    steps.append(Step(.make(receiver: receiver, isNamed: isNamed, fallback: receiver), at: token.offset))
  }

  private mutating func appendList(_ opening: Token, to steps: inout [Step]) throws {
    var count = 0
    if try !takes(.closeSquare) {
      repeat {
        try appendExpression(to: &steps)
        count += 1
      } while try takes(.comma)
      try expect(.closeSquare, "\",\" or \"]\"")
    }
    steps.append(Step(.list(count: count), at: opening.offset))
  }

  private mutating func appendDictionary(_ opening: Token, to steps: inout [Step]) throws {
    var keys: [String] = []
    var seen: Set<String> = []
    if try !takes(.closeBrace) {
      repeat {
        let token = try peek()
        let key = try takeText("a key in quotes")
        do { _ = try Work.text(key) } catch { throw error.placed(at: token.offset, of: source) }
        guard seen.insert(key).inserted else { throw error("the key \"\(key)\" is there twice", at: token) }
        keys.append(key)
        try expect(.colon)
        try appendExpression(to: &steps)
      } while try takes(.comma)
      try expect(.closeBrace, "\",\" or \"}\"")
    }
    steps.append(Step(.dictionary(keys: keys), at: opening.offset))
  }

  /// A send, whose bracket was consumed if it is `opened`.
  private mutating func appendSend(
    _ wanted: Step.Wanted, _ token: Token, opened: Bool = false, to steps: inout [Step]
  ) throws {
    if !opened { try expect(.openSend, "a message in brackets") }
    try appendExpression(to: &steps)
    let first = try peek()
    var (name, count) = ("", 0)
    if let word = first.word, try !peek(1).is(.colon) {
      name = word
      try take()
      try expect(.closeSquare, "\":\" or \"]\"")
    } else {
      while try !takes(.closeSquare) {
        if let part = try peek().word {
          name += part
          try take()
        }
        try expect(.colon, count == 0 ? "a selector" : "\"]\" or a part of the selector")
        name += ":"
        count += 1
        guard name.utf8.count <= 1024 else { break }
        try appendExpression(to: &steps)
      }
      if count == 0 { throw error("a message needs a selector", at: first) }
    }
    let selector = try source.checkedSelector(name, at: first.offset)
    steps.append(Step(.send(selector, count: count, wanted), at: token.offset))
  }
}
