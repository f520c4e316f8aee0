// Parser+Statements.swift: parses statements.

extension Parser {
  mutating func parseStatement() throws -> Statement {
    let token = try peek()
    guard let word = token.word.flatMap(StatementWord.init) else {
      return Statement(kind: .evaluate(try parseExpression()), offset: token.offset)
    }
    try take()
    // An error of `drop` about an unknown name is located at the name.
    let place = word == .drop ? try peek().offset : token.offset
    return Statement(kind: try parse(word, token), offset: place)
  }

  private mutating func parse(_ word: StatementWord, _ token: Token) throws -> Statement.Kind {
    switch word {
    case .if:
      let condition = try parseCondition()
      let then = try parseBlock()
      return .condition(condition, then: then, otherwise: try parseElse())
    case .repeat: return .repeat(try parseExpression(), try parseBlock())
    case .return, .throw:
      guard surroundings != .script else {
        throw error("\"\(word.rawValue)\" is allowed in rows and hooks only", at: token)
      }
      if word == .return { return .answer(try endsStatement(peek()) ? nil : parseExpression()) }
      let text = try parseExpression()
      return .action { throw ScriptError(.thrown, try $0.text(of: $0.evaluate(text))) }
    case .receiver: return try parseReceiver(token.offset)
    case .let: return try parseLet()
    case .drop:
      let name = try takeName("the name to forget")
      return .action { try $0.drop(name) }
    case .proxy:
      let name = try takeNewName("the name of the proxy")
      try expect(.assign)
      let make = try parseProxy(name)
      return .action { try $0.makeProxy(name, make) }
    case .queue:
      let name = try takeNewName("the name of the queue")
      return .action { $0.world.bind(name, .queue(try $0.world.makeQueue(name))) }
    case .add: return try parseAddition()
    case .remove:
      if try peek().is("all"), try peek(1).is("from") {
        try take()
        let proxy = try parseExpression(after: "from")
        return .action { try $0.multicast(proxy, "remove all").holder.removeAll() }
      }
      let target = try parseExpression()
      let proxy = try parseExpression(after: "from")
      return .action { try $0.remove(target, from: proxy) }
    case .cancel, .mute, .unmute:
      let registration = try parseExpression()
      return .action { try $0.apply(word, to: registration) }
    case .before, .after, .around: return try parseHook(word)
    case .print:
      var expressions = [try parseExpression()]
      while try !endsStatement(peek()) { expressions.append(try parseExpression()) }
      return .action { [expressions] in try $0.print(expressions) }
    case .expect: return try parseExpectation(token.offset)
    case .wait: return .action { [offset = token.offset] in try $0.wait(at: offset) }
    case .extension: return try parseExtension()
    case .register:
      if try peek().is("lazily"), try peek(1).word != nil, try peek(2).is("in") {
        try take()
        let receiver = try takeName("the name of a receiver")
        let point = try parseExpression(after: "in")
        return .action { try $0.registerLazily(receiver, in: point) }
      }
      let observer = try parseExpression()
      let point = try parseExpression(after: "in")
      return .action { try $0.register(observer, in: point) }
    case .unregister:
      let observer = try parseExpression()
      let point = try parseExpression(after: "from")
      return .action { try $0.unregister(observer, from: point) }
    case .clear:
      try expect("services")
      return .action { try $0.clearServices() }
    }
  }

  mutating func parseExpression(after word: String) throws -> Expression {
    try expect(word)
    return try parseExpression()
  }

  private mutating func endsStatement(_ token: Token) throws -> Bool {
    token.kind == .separator || token.kind == .end || token.is(.closeBrace)
  }

  private mutating func parseLet() throws -> Statement.Kind {
    let name = try takeNewName("a name")
    try expect(.assign)
    var expression = try parseExpression()
    if expression.steps.count == 1, case .make(let receiver, false, _) = expression.steps[0].action {
      let make = Step.Action.make(receiver: receiver, isNamed: false, fallback: name)
      let new = expression.steps[0]
      let step = Step(action: make, offset: new.offset, work: new.work, workInBlock: new.workInBlock)
      expression = Expression(steps: [step], offset: expression.offset)
    }
    return .action { [expression] in try $0.assign(name, expression) }
  }

  private mutating func parseCondition() throws -> Condition {
    let left = try parseExpression()
    let token = try peek()
    guard case .sign(let comparison) = token.kind, Condition.comparisons.contains(comparison) else {
      if token.is(.assign) { throw unexpected(token, wanted: "a comparison", about: .advice(Advice.equality)) }
      return Condition(left: left, comparison: nil)
    }
    try take()
    return Condition(left: left, comparison: (comparison, try parseExpression(), token.offset))
  }

  private mutating func parseExpectation(_ offset: Int) throws -> Statement.Kind {
    let condition = try parseCondition()
    guard condition.comparison == nil, try takes("throws") else {
      return .action { try $0.expect(condition, at: offset) }
    }
    let text = try peek().text
    if text != nil { try take() }
    return .action { try $0.expect(condition.left, throws: text, at: offset) }
  }

  /// `else` may follow the closing brace on the same line or on a later line.
  private mutating func parseElse() throws -> [Statement]? {
    // The parser keeps only one of several consecutive separators.
    guard try peek(peek().kind == .separator ? 1 : 0).is("else") else { return nil }
    try skipSeparators()
    try take()
    if try peek().is("if") { throw unexpected(try peek(), wanted: "\"{\"", about: .advice(Advice.elseIf)) }
    return try parseBlock()
  }

  private mutating func parseHook(_ moment: StatementWord) throws -> Statement.Kind {
    let proxy = try parseOperand()
    let selector = try parseSelector()
    let body = try within(.hook(moment)) { try $0.parseBlock() }
    let name = try takes("as") ? takeNewName("the name of the hook") : nil
    return .action { try $0.install(moment, proxy, selector, body, as: name) }
  }

  private mutating func parseExtension() throws -> Statement.Kind {
    let name = try takeNewName("the name of the extension point")
    try expect(.openBrace)
    var selectors: [(text: String, offset: Int)] = []
    var last: Token?
    while true {
      let token = try take()
      switch token.kind {
      case .separator: last = nil
      case .sign(.closeBrace):
        let names = try selectors.map { try source.checkedSelector($0.text, at: $0.offset) }
        return .action { try $0.makePoint(name, names) }
      case .word, .sign(.colon):
        // Adjacent tokens form one selector; spaces separate selectors.
        let text = token.word ?? ":"
        if let last, last.end == token.offset, let index = selectors.indices.last {
          selectors[index].text += text
        } else {
          selectors.append((text, token.offset))
        }
        last = token
      default: throw unexpected(token, wanted: "a selector or \"}\"")
      }
    }
  }
}
