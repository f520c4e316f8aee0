// Parser.swift: parses a whole text before any of it runs.

/// A recursive-descent parser. The lexer's limit of open brackets bounds the recursion.
struct Parser {
  private var lexer: Lexer
  private var ahead: [Token] = []
  /// True if the last token was a separator. More separators are dropped, which bounds lookahead.
  private var endsInSeparator = false
  private var tokenCount = 0
  private let tokenLimit = ScriptLimits.current.tokens
  /// The nesting depth of `new R name: e` and `explain`, which parse recursively.
  var openNames = 0
  var steps: [Step] = []
  var surroundings = Surroundings.script
  var receivers: Set<String> = []
  let source: SourceText

  enum Surroundings: Equatable {
    case script
    case row
    case hook(StatementWord)
  }

  /// The statements of a text.
  /// - Throws: `syntax`, `invalidSelector` or `limitExceeded` at the first unexpected token.
  static func parse(_ source: SourceText) throws -> [Statement] {
    var receivers: Set<String> = []
    return try parse(source, after: &receivers)
  }

  /// The statements of a later part of a text. Adds their receivers to those of earlier parts.
  static func parse(_ source: SourceText, after receivers: inout Set<String>) throws -> [Statement] {
    var parser = try Parser(source)
    parser.receivers = receivers
    defer { receivers = parser.receivers }
    return try parser.parseStatements(until: nil)
  }

  /// The first token of further lines, and the brackets that are open after the lines, innermost
  /// last. `first` is `.separator` if there is no token, and `nil` if the lexer fails before one.
  /// - Parameter open: the open brackets of earlier lines.
  static func look(at source: SourceText, after open: [Sign]) -> (first: Token.Kind?, open: [Sign]) {
    guard var lexer = try? Lexer(source, after: open) else { return (nil, []) }
    var first: Token.Kind?
    do {
      while true {
        let kind = try lexer.next().kind
        if kind == .end { return (first ?? .separator, []) }
        if first == nil, kind != .separator { first = kind }
      }
    } catch {
      return (first, lexer.offset >= source.bytes.count ? lexer.open.map(\.sign) : [])
    }
  }

  private init(_ source: SourceText) throws {
    self.source = source
    lexer = try Lexer(source)
  }

  // MARK: Tokens

  mutating func peek(_ distance: Int = 0) throws -> Token {
    while ahead.count <= distance {
      let token = try lexer.next()
      let isSeparator = token.kind == .separator
      if isSeparator, endsInSeparator { continue }
      endsInSeparator = isSeparator
      tokenCount += 1
      if tokenCount > tokenLimit {
        throw error("a text of over \(tokenLimit) words and signs", .limitExceeded, at: token)
      }
      ahead.append(token)
    }
    return ahead[distance]
  }

  @discardableResult
  mutating func take() throws -> Token {
    _ = try peek()
    return ahead.removeFirst()
  }

  mutating func takes(_ sign: Sign) throws -> Bool { try takes { $0.is(sign) } }
  mutating func takes(_ word: String) throws -> Bool { try takes { $0.is(word) } }

  private mutating func takes(_ isMeant: (Token) -> Bool) throws -> Bool {
    guard try isMeant(peek()) else { return false }
    try take()
    return true
  }

  var openBrackets: Int { lexer.open.count }

  func error(
    _ evidence: String, _ code: ScriptError.Code = .syntax, at token: Token, about subject: ScriptError.Subject? = nil
  ) -> ScriptError {
    ScriptError(code, evidence, about: subject).placed(at: token.offset, of: source)
  }

  func unexpected(_ token: Token, wanted: String, about subject: ScriptError.Subject? = nil) -> ScriptError {
    var subject = subject
    switch token.kind {
    case .word(let word): subject = subject ?? .word(word)
    case .sign(.comma): subject = subject ?? .advice(Advice.comma)
    case .sign(.minus): subject = subject ?? .advice(Advice.arithmetic)
    case .sign(let sign) where Condition.comparisons.contains(sign): subject = subject ?? .advice(Advice.comparison)
    default: break
    }
    return error("wanted \(wanted), found \(token.shown)", at: token, about: subject)
  }

  @discardableResult
  mutating func take<Part>(_ wanted: @autoclosure () -> String, _ part: (Token) -> Part?) throws -> Part {
    let token = try take()
    guard let part = part(token) else { throw unexpected(token, wanted: wanted()) }
    return part
  }

  /// - Parameter wanted: the error's list of possible tokens; `nil` if only `sign` is possible.
  @discardableResult
  mutating func expect(_ sign: Sign, _ wanted: String? = nil) throws -> Token {
    try take(wanted ?? "\"\(sign.rawValue)\"") { $0.is(sign) ? $0 : nil }
  }

  mutating func expect(_ word: String, _ wanted: String? = nil) throws {
    try take(wanted ?? "\"\(word)\"") { $0.is(word) ? $0 : nil }
  }

  /// A name at a position where no statement or expression can begin, so it may be any word.
  mutating func takeName(_ what: String) throws -> String { try take(what, \.word) }

  /// A name to bind. Refuses words of the language, since no expression could use such a name.
  mutating func takeNewName(_ what: String) throws -> String {
    let token = try peek()
    let name = try takeName(what)
    guard !Parser.reservedWords.contains(name) else {
      throw error("\"\(name)\" is a word of the language and cannot be a name", at: token)
    }
    return name
  }

  mutating func takeText(_ what: String) throws -> String { try take(what, \.text) }

  mutating func skipSeparators() throws { while try peek().kind == .separator { try take() } }

  // MARK: Statements

  /// Statements up to `closing`, which is consumed, or to the end of the text.
  private mutating func parseStatements(until closing: Sign?) throws -> [Statement] {
    var statements: [Statement] = []
    while true {
      try skipSeparators()
      if try peek().kind == .end { return statements }
      if let closing, try takes(closing) { return statements }
      let statement = try parseStatement()
      statements.append(statement)
      let after = try peek()
      guard after.kind == .separator || after.kind == .end || closing.map(after.is) ?? false else {
        throw unexpected(after, wanted: "the end of the statement", about: try meaning(of: statement, before: after))
      }
    }
  }

  /// A hint for a statement that `token` cannot follow.
  private mutating func meaning(of statement: Statement, before token: Token) throws -> ScriptError.Subject? {
    if token.is(.openSend) { return .advice(Advice.list) }
    // The last step may belong to an earlier statement.
    if let last = steps.last, last.offset >= statement.offset, case .make(let receiver, false, _) = last.action {
      return .advice("new \(receiver) name: \"…\" names the object")
    }
    guard case .evaluate(let expression) = statement.kind, expression.steps.count == 1,
      case .name(let name) = expression.steps[0].action
    else { return nil }
    if token.is(.assign) { return .advice(Advice.binding) }
    if Advice.words[name] != nil { return .word(name) }
    guard token.word != nil || token.is(.openParenthesis) else { return .word(name) }
    let isMessage = try token.is(.openParenthesis) || peek(1).is(.colon) || ScriptLanguage.words(like: name).isEmpty
    return isMessage ? .advice(Advice.brackets) : .word(name)
  }

  mutating func parseBlock() throws -> [Statement] {
    try expect(.openBrace)
    return try parseStatements(until: .closeBrace)
  }

  /// Runs `parse` within `surroundings` and returns its result.
  mutating func within<Part>(_ surroundings: Surroundings, _ parse: (inout Parser) throws -> Part) throws -> Part {
    let outer = self.surroundings
    self.surroundings = surroundings
    defer { self.surroundings = outer }
    return try parse(&self)
  }
}
