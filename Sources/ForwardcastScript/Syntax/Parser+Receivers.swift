// Parser+Receivers.swift: parses receivers, proxies and `add`.

extension Parser {
  /// `Name [: Parent] { rows }`.
  mutating func parseReceiver() throws -> ReceiverDefinition {
    let token = try peek()
    let name = try takeName("the name of the receiver")
    guard receivers.insert(name).inserted else { throw error("there is a receiver \(name) already", at: token) }
    let parent = try takes(.colon) ? takeName("the name of an earlier receiver") : nil
    try expect(.openBrace)
    var rows: [RowDefinition] = []
    var seen: Set<String> = []
    try skipSeparators()
    while try !takes(.closeBrace) {
      let token = try expect(.minus, "\"-\" or \"}\"")
      let row = try parseRow(token)
      guard seen.insert(row.selector).inserted else {
        throw error("the row \"\(row.selector)\" is there twice", at: token)
      }
      rows.append(row)
      let after = try peek()
      guard after.kind == .separator || after.is(.closeBrace) || after.is(.minus) else {
        throw unexpected(after, wanted: "the end of the row")
      }
      try skipSeparators()
    }
    return ReceiverDefinition(name: name, parent: parent, rows: rows)
  }

  /// A row, after its `-`.
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
        if arguments.contains(argument) { throw error("the argument \"\(argument)\" is there twice", at: token) }
        arguments.append(argument)
        if selector.utf8.count > 1024 { break }
      }
      if arguments.isEmpty { throw unexpected(first, wanted: "a selector") }
    }
    selector = try source.checkedSelector(selector, at: first.offset)
    var encoding: (text: String, offset: Int)?
    let token = try peek()
    if let text = token.text {
      try take()
      encoding = (text, token.offset)
    }
    return RowDefinition(
      selector: selector, arguments: arguments, encoding: encoding, body: try within(.row) { try $0.parseRowBody() },
      source: source, offset: start.offset)
  }

  private mutating func parseRowBody() throws -> RowDefinition.Body {
    let token = try peek()
    if token.is(.openBrace) { return .block(try parseBlock()) }
    if try takes(.assign) { return .value(try parseExpression()) }
    try expect("throws", "\"=\", \"{\" or \"throws\"")
    return .error(try takeText("the text of the error"), offset: token.offset)
  }

  /// The definition after `proxy p =`.
  mutating func parseProxy() throws -> ProxyDefinition {
    let token = try take()
    switch token.word {
    case "multicast":
      var options: Set<ProxyDefinition.Option> = []
      while let word = try peek().word {
        guard let option = ProxyDefinition.Option(rawValue: word) else {
          throw unexpected(try peek(), wanted: LanguageWords.words(ProxyDefinition.Option.self))
        }
        try take()
        options.insert(option)
      }
      return .multicast(options)
    case "forward":
      try expect("to")
      return .forward(to: try parseExpression())
    case "lazy":
      try expect(.openBrace)
      try skipSeparators()
      let expression = try parseExpression()
      try skipSeparators()
      try expect(.closeBrace)
      return .lazy(expression)
    case "recording": return .recording(try parseExpression())
    default: throw unexpected(token, wanted: "multicast, forward to, lazy or recording")
    }
  }

  /// `e to p` with modifiers in any order.
  mutating func parseAddition() throws -> Addition {
    let target = try parseExpression()
    try expect("to")
    let proxy = try parseExpression()
    var modifiers: [Addition.Modifier] = []
    var seen: Set<String> = []
    while let word = try peek().word {
      let token = try take()
      guard seen.insert(word).inserted else { throw error("\"\(word)\" is there twice", at: token) }
      switch word {
      case "on": modifiers.append(.queue(try parseExpression()))
      case "priority": modifiers.append(.priority(try parseExpression()))
      case "only": modifiers.append(.only(try parseExpression()))
      case "as": modifiers.append(.name(try takeName("the name of the registration")))
      default: throw unexpected(token, wanted: "on, priority, only or as")
      }
    }
    return Addition(target: target, proxy: proxy, modifiers: modifiers)
  }
}
