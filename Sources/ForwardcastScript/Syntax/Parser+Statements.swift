// Parser+Statements.swift: parses statements.

extension Parser {
  mutating func parseStatement() throws -> Statement {
    let token = try peek()
    if let word = token.word.flatMap(StatementWord.init) {
      try take()
      // An unknown name is reported at its own place.
      let place = word == .drop ? try peek().offset : token.offset
      return Statement(kind: try parse(word, token), offset: place)
    }
    return Statement(kind: .evaluate(try parseExpression()), offset: token.offset)
  }

  /// The statement after its first word.
  private mutating func parse(_ word: StatementWord, _ token: Token) throws -> Statement.Kind {
    switch word {
    case .cancel: return .registration(.cancel, try parseExpression())
    case .mute: return .registration(.mute, try parseExpression())
    case .unmute: return .registration(.unmute, try parseExpression())
    case .before: return .hook(try parseHook(.before))
    case .after: return .hook(try parseHook(.after))
    case .around: return .hook(try parseHook(.around))
    case .receiver: return .receiver(try parseReceiver())
    case .let: return try parseLet()
    case .drop: return .drop(try takeName("the name to forget"))
    case .proxy:
      let name = try takeName("the name of the proxy")
      try expect(.assign)
      return .proxy(name, try parseProxy())
    case .queue: return .queue(try takeName("the name of the queue"))
    case .add: return .add(try parseAddition())
    case .remove:
      if try peek().is("all"), try peek(1).is("from") {
        try take()
        try take()
        return .removeAll(from: try parseExpression())
      }
      let target = try parseExpression()
      try expect("from")
      return .remove(target, from: try parseExpression())
    case .extension: return try parseExtension()
    case .register: return try parseRegister()
    case .unregister:
      let observer = try parseExpression()
      try expect("from")
      return .unregister(observer, from: try parseExpression())
    case .print:
      var expressions = [try parseExpression()]
      while try !endsStatement(peek()) { expressions.append(try parseExpression()) }
      return .print(expressions)
    case .expect: return try parseExpectation()
    case .if:
      let condition = try parseCondition()
      let then = try parseBlock()
      return .condition(condition, then: then, otherwise: try parseElse())
    case .repeat: return .repeat(try parseExpression(), try parseBlock())
    case .return, .throw:
      guard surroundings != .script else { throw error("\"\(word.rawValue)\" stands in a row only", at: token) }
      if word == .throw { return .throw(try parseExpression()) }
      return .answer(try endsStatement(peek()) ? nil : parseExpression())
    case .wait: return .wait
    case .clear:
      try expect("services")
      return .clearServices
    }
  }

  private mutating func endsStatement(_ token: Token) throws -> Bool {
    token.kind == .separator || token.kind == .end || token.is(.closeBrace)
  }

  private mutating func parseLet() throws -> Statement.Kind {
    let name = try takeName("a name")
    try expect(.assign)
    let expression = try parseExpression()
    guard expression.steps.count == 1, case .make(let receiver, false, _) = expression.steps[0].action else {
      return .bind(name, expression)
    }
    let made = Step(.make(receiver: receiver, isNamed: false, fallback: name), at: expression.steps[0].offset)
    return .bind(name, Expression(steps: [made], offset: expression.offset))
  }

  private mutating func parseCondition() throws -> Condition {
    let left = try parseExpression()
    let token = try peek()
    guard case .sign(let comparison) = token.kind, Condition.comparisons.contains(comparison) else {
      if token.is(.assign) { throw unexpected(token, wanted: "a comparison", about: .advice(Advice.comparison)) }
      return Condition(left: left, comparison: nil)
    }
    try take()
    return Condition(left: left, comparison: (comparison, try parseExpression(), token.offset))
  }

  private mutating func parseExpectation() throws -> Statement.Kind {
    let condition = try parseCondition()
    guard condition.comparison == nil, try takes("throws") else { return .expect(condition) }
    let text = try peek().text
    if text != nil { try take() }
    return .expectThrows(condition.left, text: text)
  }

  /// `else` may follow the closing brace on its line or on a later one.
  private mutating func parseElse() throws -> [Statement]? {
    // The parser keeps one of several separators in a row.
    guard try peek(peek().kind == .separator ? 1 : 0).is("else") else { return nil }
    try skipSeparators()
    try take()
    return try parseBlock()
  }

  private mutating func parseHook(_ moment: HookDefinition.Moment) throws -> HookDefinition {
    let proxy = try parseOperand()
    let selector = try parseOperand()
    let body = try within(.hook(moment)) { try $0.parseBlock() }
    let name = try takes("as") ? takeName("the name of the hook") : nil
    return HookDefinition(moment: moment, proxy: proxy, selector: selector, body: body, name: name)
  }

  private mutating func parseExtension() throws -> Statement.Kind {
    let name = try takeName("the name of the extension point")
    try expect(.openBrace)
    var selectors: [String] = []
    var last: Token?
    while true {
      let token = try take()
      switch token.kind {
      case .separator: last = nil
      case .sign(.closeBrace):
        for selector in selectors { _ = try source.checkedSelector(selector, at: token.offset) }
        return .extensionPoint(name, selectors: selectors)
      case .word, .sign(.colon):
        // Only blanks separate the selectors.
        let text = token.word ?? ":"
        if let last, last.end == token.offset, let index = selectors.indices.last {
          selectors[index] += text
        } else {
          selectors.append(text)
        }
        last = token
      default: throw unexpected(token, wanted: "a selector or \"}\"")
      }
    }
  }

  private mutating func parseRegister() throws -> Statement.Kind {
    if try peek().is("lazily"), try peek(1).word != nil, try peek(2).is("in") {
      try take()
      let receiver = try takeName("the name of a receiver")
      try expect("in")
      return .registerLazily(receiver: receiver, in: try parseExpression())
    }
    let observer = try parseExpression()
    try expect("in")
    return .register(observer, in: try parseExpression())
  }
}
