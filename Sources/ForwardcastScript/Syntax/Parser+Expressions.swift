// Parser+Expressions.swift: parses expressions.

import Forwardcast

extension Parser {
  /// Words that begin statements or expressions, and so are not names there.
  static let reservedWords: Set<String> = Set(["else"]).union(StatementWord.allCases.map(\.rawValue))
    .union(ExpressionWord.allCases.map(\.rawValue)).union(Query.allCases.map(\.rawValue))

  /// An expression: an operand, with any `not` before it and `responds` after it.
  mutating func parseExpression() throws -> Expression { try parse { try $0.appendExpression() } }

  /// An operand: a literal, a name, a send, a query, or an expression in parentheses.
  mutating func parseOperand() throws -> Expression { try parse { try $0.appendOperand() } }

  mutating func parseSelector() throws -> Expression { try parse { try $0.appendSelector() } }

  private mutating func parse(_ append: (inout Parser) throws -> Void) throws -> Expression {
    let start = try peek().offset
    steps = []
    try append(&self)
    return Expression(steps: steps, offset: start)
  }

  /// - Parameter name: the bound name that the step looks up, if any.
  private mutating func append(_ action: Step.Action, at offset: Int, work: Int = 0, looksUp name: String? = nil) {
    let (work, workInBlock) = name.map { (Work.name($0), Work.nameInBlock($0)) } ?? (work, 0)
    steps.append(Step(action: action, offset: offset, work: work, workInBlock: workInBlock))
  }

  private mutating func appendExpression() throws {
    // Nested brackets and blocks pass here. Their limit fits usual stacks, but not the smallest.
    guard StackGuard.hasRoom else {
      let advice = "use fewer brackets, or a thread with a larger stack"
      throw error("the nesting is too deep for the thread's stack; \(advice)", .limitExceeded, at: try peek())
    }
    var negations: [Int] = []
    while try peek().is("not") { negations.append(try take().offset) }
    try appendOperand()
    if try peek().is("responds"), try beginsOperand(peek(1)) {
      let offset = try take().offset
      try appendSelector()
      let compute = { @Sendable (interpreter: Interpreter, stack: inout [ScriptValue]) throws -> ScriptValue in
        let selector = try interpreter.selectorName(stack.removeLast())
        return .bool(try interpreter.responds(stack.removeLast(), to: selector, at: offset))
      }
      append(.compute(compute), at: offset)
    }
    for offset in negations.reversed() {
      append(.compute { .bool(try !$1.removeLast().wanted("\"not\" needs a Bool, not", \.bool)) }, at: offset)
    }
  }

  /// Reads queries from left to right and computes them from right to left, without recursion.
  private mutating func appendOperand() throws {
    var pending: [(action: Step.Action, offset: Int)] = []
    while let word = try peek().word {
      let offset = try peek().offset
      if let query = Query(rawValue: word) {
        pending.append((.compute { try $0.answer(query, about: $1.removeLast()) }, offset))
      } else if word == "arg" {
        guard case .hook = surroundings else { throw error("\"arg\" is allowed in hooks only", at: try peek()) }
        pending.append((.compute { try $0.hookArgument($1.removeLast()) }, offset))
      } else {
        break
      }
      try take()
    }
    let token = try peek()
    if let last = pending.last, !beginsOperand(token) {
      let word = source.text(last.offset..<token.offset).prefix { $0.isLetter }
      throw unexpected(
        token, wanted: "an expression", about: .advice("\"\(word)\" is a word of the language and cannot be a name"))
    }
    try appendPrimary()
    for (action, offset) in pending.reversed() { append(action, at: offset) }
  }

  private mutating func appendSelector() throws {
    try appendOperand()
    if try peek().is(.colon) { throw unexpected(try peek(), wanted: "the selector in quotes") }
  }

  private mutating func appendPrimary() throws {
    let token = try take()
    switch token.kind {
    case .integer(let value): append(.constant(.integer(value)), at: token.offset)
    case .floating(let value): append(.constant(.floating(value)), at: token.offset)
    case .string(let text): append(.constant(.string(text)), at: token.offset)
    case .selector(let name): append(.constant(.selector(ScriptSelector(checked: name))), at: token.offset)
    case .word(let word): try appendWord(word, token)
    case .sign(.openSend): try appendSend(.answer, token, opened: true)
    case .sign(.openParenthesis):
      try appendExpression()
      try expect(.closeParenthesis)
    case .sign(.openList): try appendList(token)
    case .sign(.openDictionary): try appendDictionary(token)
    default:
      let isDictionary = try token.is(.openBrace) && peek().text != nil
      let advice = isDictionary ? Advice.dictionary : token.is(.colon) ? Advice.brackets : nil
      throw unexpected(token, wanted: "an expression", about: advice.map { .advice($0) })
    }
  }

  private func beginsOperand(_ token: Token) -> Bool {
    switch token.kind {
    case .integer, .floating, .string, .selector, .word: true
    case .sign(let sign): sign.closing != nil && sign != .openBrace
    case .separator, .end: false
    }
  }

  private mutating func appendWord(_ word: String, _ token: Token) throws {
    switch ExpressionWord(rawValue: word) {
    case .true: append(.constant(.bool(true)), at: token.offset)
    case .false: append(.constant(.bool(false)), at: token.offset)
    case .nil: append(.constant(.null), at: token.offset)
    case .new: try appendNew()
    case .alive:
      let place = try peek().offset
      let name = try takeName("the name of an object")
      append(.compute { interpreter, _ in .bool(try interpreter.isAlive(name)) }, at: place, looksUp: name)
    case .collect:
      let policy = try take("one of " + LanguageWords.words(CollectPolicy.self)) { $0.word.flatMap(CollectPolicy.init) }
      try appendSend(.result(policy), token)
    case .errors: try appendSend(.errors, token)
    case .report: try appendSend(.report, token)
    case .explain:
      try nested(at: token) { parser in
        try parser.appendOperand()
        try parser.appendSelector()
      }
      let compute = { @Sendable (interpreter: Interpreter, stack: inout [ScriptValue]) throws -> ScriptValue in
        let selector = try interpreter.selectorName(stack.removeLast())
        return try interpreter.explain(selector, of: stack.removeLast(), at: token.offset)
      }
      append(.compute(compute), at: token.offset)
    case .proceed:
      guard surroundings == .hook(.around) else { throw error("\"proceed\" is allowed in \"around\" only", at: token) }
      let hasArguments = try takes("with")
      if hasArguments { try appendList(try expect(.openList)) }
      // `.some` and `.none` are written out, since a bare `nil` could become a `ScriptValue`.
      append(.compute { try $0.proceed(with: hasArguments ? .some($1.removeLast()) : .none) }, at: token.offset)
    case .service:
      let place = try peek().offset
      let name = try takeName("the name of a receiver")
      append(.compute { interpreter, _ in try interpreter.service(name, at: place) }, at: place, work: Work.name(name))
    case .services: append(.compute { interpreter, _ in try interpreter.services() }, at: token.offset)
    case .not, .arg, nil:
      if Parser.reservedWords.contains(word) {
        let statement = ScriptLanguage.entries(of: word).first { $0.kind == .statement }
        let advice = statement.map { ScriptError.Subject.advice("it begins a statement: \($0.form)") }
        throw error("\"\(word)\" is a word of the language and cannot begin an expression", at: token, about: advice)
      }
      append(.name(word), at: token.offset, looksUp: word)
    }
  }

  /// Parses an expression that is nested without brackets. Its nesting counts like a bracket, since
  /// parsing recurses.
  private mutating func nested(at token: Token, _ parse: (inout Parser) throws -> Void) throws {
    guard openNames + openBrackets < Lexer.bracketLimit else {
      throw error("more than \(Lexer.bracketLimit) nested names and brackets", .limitExceeded, at: token)
    }
    openNames += 1
    try parse(&self)
    openNames -= 1
  }

  private mutating func appendNew() throws {
    let token = try peek()
    let receiver = try takeName("the name of a receiver")
    let isNamed = try peek().is("name") && peek(1).is(.colon)
    if isNamed {
      try take()
      try take()
      try nested(at: token) { try $0.appendExpression() }
    }
    let make = Step.Action.make(receiver: receiver, isNamed: isNamed, fallback: receiver)
    append(make, at: token.offset, work: Work.name(receiver))
  }

  private mutating func appendList(_ opening: Token) throws {
    var count = 0
    if try !takes(.closeSquare) {
      repeat {
        try appendExpression()
        count += 1
      } while try takes(.comma)
      try expect(.closeSquare, "\",\" or \"]\"")
    }
    append(.compute { [count] in try $0.bounded(.list($1.popLast(count))) }, at: opening.offset)
  }

  private mutating func appendDictionary(_ opening: Token) throws {
    var keys: [String] = []
    var seen: Set<String> = []
    if try !takes(.closeBrace) {
      repeat {
        let token = try peek()
        let key = try takeText("a key in quotes")
        do { _ = try Work.text(key) } catch { throw error.placed(at: token.offset, of: source) }
        guard seen.insert(key).inserted else { throw error("the key \"\(key)\" appears twice", at: token) }
        keys.append(key)
        try expect(.colon)
        try appendExpression()
      } while try takes(.comma)
      try expect(.closeBrace, "\",\" or \"}\"")
    }
    let work = keys.reduce(0) { $0 + Work.name($1) + Work.pass }
    let action = Step.Action.compute { [keys] interpreter, stack in
      try interpreter.bounded(.dictionary(Dictionary(zip(keys, stack.popLast(keys.count))) { $1 }))
    }
    append(action, at: opening.offset, work: work)
  }

  /// A send. If `opened`, its bracket is already consumed.
  private mutating func appendSend(_ wanted: Step.Wanted, _ token: Token, opened: Bool = false) throws {
    if !opened { try expect(.openSend, "a message in brackets") }
    try appendExpression()
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
        if first.is(.comma) { throw unexpected(first, wanted: "a selector", about: .advice(Advice.list)) }
        try expect(.colon, count == 0 ? "a selector" : "\"]\" or a part of the selector")
        name += ":"
        count += 1
        guard name.utf8.count <= 1024 else { break }
        try appendExpression()
      }
      if count == 0 { throw error("a message needs a selector", at: first, about: .advice(Advice.list)) }
    }
    let selector = try source.checkedSelector(name, at: first.offset)
    let action = Step.Action.compute { [count, offset = token.offset] interpreter, stack in
      // The receiver is below the arguments on the stack.
      let arguments = stack.popLast(count)
      let receiver = stack.removeLast()
      try interpreter.run.step(at: offset, of: interpreter.source)
      let sending = Sending(selector: selector, arguments: arguments, offset: offset)
      return try interpreter.send(sending, to: receiver, wanted)
    }
    append(action, at: token.offset, work: Work.name(selector))
  }
}

extension [ScriptValue] {
  /// Pops the last values in order. A slice would cause the next change to copy the stack.
  fileprivate mutating func popLast(_ count: Int) -> [ScriptValue] {
    defer { removeLast(count) }
    return Array(suffix(count))
  }
}
