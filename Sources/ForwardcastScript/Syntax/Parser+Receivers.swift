// Parser+Receivers.swift: parses receivers, proxies and `add`.

extension Parser {
  /// `Name [: Parent] { methods }`.
  mutating func parseReceiver(_ offset: Int) throws -> Statement.Kind {
    let token = try peek()
    let name = try takeName("the name of the receiver")
    guard receivers.insert(name).inserted else { throw error("receiver \(name) is already declared", at: token) }
    let parent = try takes(.colon) ? takeName("the name of an earlier receiver") : nil
    try expect(.openBrace)
    var rows: [RowDefinition] = []
    var seen: Set<String> = []
    try skipSeparators()
    while try !takes(.closeBrace) {
      let token = try expect(.minus, "\"-\" or \"}\"")
      let row = try parseRow(token)
      guard seen.insert(row.selector).inserted else {
        throw error("the row \"\(row.selector)\" is declared twice", at: token)
      }
      rows.append(row)
      let after = try peek()
      guard after.kind == .separator || after.is(.closeBrace) || after.is(.minus) else {
        throw unexpected(after, wanted: "the end of the row")
      }
      try skipSeparators()
    }
    return .action { [rows] in try $0.world.define(name, parent, rows, at: offset, of: $0.source) }
  }

  private mutating func parseRow(_ start: Token) throws -> RowDefinition {
    let first = try peek()
    var selector = ""
    var arguments: [String] = []
    if let name = first.word, try !peek(1).is(.colon) {
      try take()
      selector = name
    } else {
      while try peek().is(.colon) || (peek().word != nil && peek(1).is(.colon)) {
        if try !peek().is(.colon) { selector += try takeName("a part of the selector") }
        try expect(.colon)
        selector += ":"
        let token = try peek()
        let argument = try takeName("the name of the argument")
        if arguments.contains(argument) { throw error("the argument \"\(argument)\" is declared twice", at: token) }
        arguments.append(argument)
        if selector.utf8.count > 1024 { break }
      }
      if arguments.isEmpty { throw unexpected(first, wanted: "a selector") }
    }
    selector = try source.checkedSelector(selector, at: first.offset)
    let token = try peek()
    let encoding = token.text.map { (text: $0, offset: token.offset) }
    if encoding != nil { try take() }
    return RowDefinition(
      selector: selector, arguments: arguments, encoding: encoding, body: try within(.row) { try $0.parseRowBody() },
      source: source, offset: start.offset)
  }

  private mutating func parseRowBody() throws -> @Sendable (Interpreter) throws -> ScriptValue {
    let token = try peek()
    if token.is(.openBrace) {
      let block = try parseBlock()
      return { try $0.execute(block) ?? .null }
    }
    if try takes(.assign) {
      let value = try parseExpression()
      return { try $0.evaluate(value) }
    }
    guard try takes("throws") else {
      let argument = token.word.map { ScriptError.Subject.advice("an argument follows a colon: - selector: \($0)") }
      throw unexpected(token, wanted: "\"=\", \"{\" or \"throws\"", about: argument)
    }
    let text = try takeText("the text of the error")
    return { interpreter in try interpreter.at(token.offset) { throw ScriptError(.thrown, text) } }
  }

  /// The definition after `proxy p =`.
  mutating func parseProxy(_ name: String) throws -> @Sendable (Interpreter) throws -> ScriptReference {
    let token = try take()
    switch token.word {
    case "multicast":
      var options: Set<ProxyOption> = []
      while try peek().word != nil {
        options.insert(
          try take("one of " + LanguageWords.words(ProxyOption.self)) { $0.word.flatMap(ProxyOption.init) })
      }
      return { [options] in $0.makeMulticast(name, options) }
    case "forward":
      let target = try parseExpression(after: "to")
      return { try $0.makeForward(name, to: target) }
    case "lazy":
      try expect(.openBrace)
      try skipSeparators()
      let expression = try parseExpression()
      try skipSeparators()
      try expect(.closeBrace)
      return { $0.makeLazy(name, expression) }
    case "recording":
      let target = try parseExpression()
      return { try $0.makeRecording(name, of: target) }
    default: throw unexpected(token, wanted: "\"multicast\", \"forward to\", \"lazy\" or \"recording\"")
    }
  }

  /// `e to p` with modifiers in any order.
  mutating func parseAddition() throws -> Statement.Kind {
    let target = try parseExpression()
    let proxy = try parseExpression(after: "to")
    // Modifiers are evaluated in the order of the text.
    var modifiers: [RegistrationTerms.Modifier] = []
    var seen: Set<String> = []
    while let word = try peek().word {
      let token = try take()
      guard seen.insert(word).inserted else { throw error("\"\(word)\" appears twice", at: token) }
      switch word {
      case "as":
        let name = try takeNewName("the name of the registration")
        modifiers.append { $1.name = name }
      case "on":
        let queue = try parseExpression()
        modifiers.append { $1.queue = try $0.evaluate(queue, "\"on\" takes a queue, not", \.queue) }
      case "priority":
        let priority = try parseExpression()
        modifiers.append { $1.priority = try $0.evaluate(priority, "a priority is an integer, not", \.integer) }
      case "only":
        let list = try parseExpression()
        modifiers.append { $1.only = try $0.selectors(list) }
      default: throw unexpected(token, wanted: "\"on\", \"priority\", \"only\" or \"as\"")
      }
    }
    return .action { [modifiers] in try $0.add(target, to: proxy, modifiers) }
  }
}
