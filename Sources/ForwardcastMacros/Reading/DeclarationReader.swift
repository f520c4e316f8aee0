// DeclarationReader.swift: parses a type declaration.

/// Parses one declaration. Reports text that it cannot read, and continues after that text.
struct DeclarationReader {
  let source: SourceText
  private(set) var problems: [Problem] = []
  var position = 0
  var limit = 0
  var isInProtocol = false
  /// The `#if` branches around the position, outermost first.
  var branches: [Branch] = []
  var groups = 0

  init(_ source: SourceText) { self.source = source }

  static let maximumMembers = 4096
  static let maximumConditions = 32

  static let modifierWords: Set<String> = [
    "open", "public", "package", "internal", "fileprivate", "private", "static", "class", "final", "mutating",
    "nonmutating", "override", "required", "convenience", "dynamic", "optional", "lazy", "weak", "unowned",
    "nonisolated", "isolated", "distributed", "prefix", "postfix", "infix", "indirect", "async", "consuming",
    "borrowing", "__consuming", "_const", "sending",
  ]
  static let introducers: Set<String> = [
    "func", "var", "let", "subscript", "init", "deinit", "associatedtype", "typealias", "case", "struct", "class",
    "enum", "actor", "protocol", "extension", "macro", "operator", "import", "precedencegroup",
  ]

  mutating func refuse(_ message: String, _ positions: Range<Int>) {
    problems.append(Problem(message: message, offsets: source.offsets(positions)))
  }

  mutating func take(_ text: StaticString) -> Bool {
    guard source.isMark(position, text) || source.isWord(position, text) else { return false }
    position += 1
    return true
  }

  /// Moves past the token here or, if it opens brackets or generic arguments, past its group.
  mutating func skip() { position = min(source.afterPart(position, before: limit), limit) }

  mutating func skip(until isEnd: (SourceText, Int) -> Bool) {
    while position < limit, !isEnd(source, position) { skip() }
  }

  mutating func modifiers() -> [Modifier] {
    var found: [Modifier] = []
    while source[position].kind == .word, Self.modifierWords.contains(source.text(position)) {
      let start = position
      let word = source.text(start)
      let mayHaveDetail = word != "class" && (source.isMark(start + 1, "(") || source.isMark(start + 1, "@"))
      guard mayHaveDetail || source.isDeclarationWord(start + 1) else { break }
      position += 1
      var detail: String?
      if source.isMark(position, "(") {
        let behind = source.after(position)
        detail = source.line(position + 1..<max(behind - 1, position + 1))
        position = behind
      }
      found.append(Modifier(word: word, detail: detail, positions: start..<position))
    }
    return found
  }

  /// Reads a type and its members, or another declaration up to its keyword; `nil` after a problem.
  mutating func typeDeclaration() -> TypeDeclaration? {
    let attributes = source.attributes(&position)
    var documentation = source.documentation(before: 0)
    if documentation.isEmpty { documentation = source.documentation(before: position) }
    let modifiers = modifiers()
    guard source[position].isWord else {
      refuse("this declaration cannot be read", position..<position + 1)
      return nil
    }
    let keyword = source.text(position)
    var declaration = TypeDeclaration(
      source: source, keyword: keyword, keywordPosition: position, attributes: attributes, modifiers: modifiers,
      namePosition: position, documentation: documentation)
    guard ["protocol", "class", "actor", "struct", "enum", "extension"].contains(keyword) else { return declaration }
    position += 1
    guard source[position].isWord else {
      refuse("a name was expected here", position..<position + 1)
      return nil
    }
    (declaration.name, declaration.namePosition) = (source.text(position), position)
    position += 1
    while keyword == "extension", source.isMark(position, "."), source[position + 1].isWord { position += 2 }
    declaration.generics = generics()
    while take(declaration.inherited.isEmpty ? ":" : ","), let end = source.endOfType(position, before: source.end) {
      declaration.inherited.append(position..<end)
      position = end
    }
    let whereStart = position
    while position < source.end, !source.isMark(position, "{") { position = source.after(position) }
    if position > whereStart { declaration.whereClause = whereStart..<position }
    if keyword == "protocol" {
      for clause in source.elements(min(whereStart + 1, position)..<position)
      where source.isWord(clause.lowerBound, "Self") && source.isMark(clause.lowerBound + 1, ":") {
        declaration.inherited.append(clause.lowerBound + 2..<max(clause.upperBound, clause.lowerBound + 2))
      }
    }
    guard source.isMark(position, "{"), let closing = source.closing(position) else {
      let name = declaration.namePosition..<declaration.namePosition + 1
      refuse("the members of '\(declaration.name)' cannot be read", name)
      return nil
    }
    (position, limit, isInProtocol) = (position + 1, closing, keyword == "protocol")
    declaration.items = members()
    declaration.isMarked = (attributes + declaration.members.flatMap(\.attributes)).contains(where: \.isStatedActor)
    return declaration
  }

  mutating func generics() -> Range<Int>? {
    let behind = source.endOfGenericArguments(position, before: source.end)
    guard behind > position else { return nil }
    defer { position = behind }
    return position..<behind
  }
}

extension SourceText {
  fileprivate func isDeclarationWord(_ position: Int) -> Bool {
    guard self[position].kind == .word else { return false }
    let word = text(position)
    return DeclarationReader.modifierWords.contains(word) || DeclarationReader.introducers.contains(word)
  }

  /// True if a member begins at `position`, where an expression may have ended.
  func isMemberStart(_ position: Int) -> Bool {
    if self[position].kind == .directive { return true }
    // An attribute after one of these belongs to a type.
    if isMark(position, "@") {
      let isCast = isMark(position - 1, "?") || isMark(position - 1, "!")
      return !["=", "->", ":", ",", "&"].contains { isMark(position - 1, $0) }
        && !isWord(position - (isCast ? 2 : 1), "as")
    }
    guard self[position].kind == .word, self[position].beginsLine else { return false }
    let word = text(position)
    if word == "case" { return false }
    if DeclarationReader.introducers.contains(word) { return true }
    guard DeclarationReader.modifierWords.contains(word) else { return false }
    let next = isMark(position + 1, "(") ? after(position + 1) : position + 1
    return isDeclarationWord(next) || isMark(next, "@")
  }

  func offsets(_ positions: Range<Int>) -> Range<Int> {
    let start = self[positions.lowerBound].range.lowerBound
    return start..<(positions.isEmpty ? start : max(start, self[positions.upperBound - 1].range.upperBound))
  }
}
