// SourceText+Types.swift: finds the ends of types and attributes.

extension SourceText {
  static let typeSpecifiers: Set<String> = [
    "inout", "some", "any", "borrowing", "consuming", "__owned", "__shared", "isolated", "sending", "nonisolated",
    "_const", "repeat", "each",
  ]

  /// The position after the type at `start`; `nil` if no type begins there.
  func endOfType(_ start: Int, before limit: Int) -> Int? {
    var position = start
    while true {
      guard let behind = endOfSimpleType(position, before: limit) else { return nil }
      position = behind
      if position < limit, isMark(position, "&") {
        position += 1
        continue
      }
      guard let arrow = arrow(position, before: limit) else { return position }
      position = arrow + 1
    }
  }

  /// The arrow after the effects of a function type whose parameters end at `position`.
  func arrow(_ position: Int, before limit: Int) -> Int? {
    var position = position
    while position < limit {
      if isMark(position, "->") { return position }
      if isWord(position, "throws"), isMark(position + 1, "(") {
        position = after(position + 1)
      } else if isWord(position, "async") || isWord(position, "throws") || isWord(position, "rethrows") {
        position += 1
      } else {
        return nil
      }
    }
    return nil
  }

  /// The position after the attributes and keywords that precede a type.
  func endOfTypePrefix(_ start: Int, before limit: Int) -> Int {
    var position = start
    while position < limit {
      if isMark(position, "@") {
        position = endOfAttribute(position)
      } else if isMark(position, "~") {
        position += 1
      } else if self[position].kind == .word, Self.typeSpecifiers.contains(text(position)) {
        // If no type follows, the word itself is a name.
        let next = self[position + 1]
        let beginsType = next.isWord || ["(", "[", "@", "~"].contains { isMark(position + 1, $0) }
        guard beginsType, position + 1 < limit else { return position }
        position += 1
        if isMark(position, "("), isAdjacent(position), isWord(position - 1, "nonisolated") {
          position = after(position)
        }
      } else {
        break
      }
    }
    return position
  }

  private func endOfSimpleType(_ start: Int, before limit: Int) -> Int? {
    var position = endOfTypePrefix(start, before: limit)
    guard position < limit else { return nil }
    if isMark(position, "(") || isMark(position, "[") {
      guard closing(position) != nil else { return nil }
      position = after(position)
    } else if self[position].isWord {
      position = endOfGenericArguments(position + 1, before: limit)
    } else {
      return nil
    }
    while position < limit, !self[position].beginsLine || isMark(position, ".") {
      if isMark(position, "?") || isMark(position, "!") {
        position += 1
      } else if isMark(position, "."), self[position + 1].isWord {
        position = endOfGenericArguments(position + 2, before: limit)
      } else {
        break
      }
    }
    return position
  }

  /// The maximum number of tokens of generic arguments, which keeps reading linear.
  static let maximumGenericArguments = 256

  /// The position after `<…>` at `start`; `start` if no `<` is there or no matching `>` follows.
  func endOfGenericArguments(_ start: Int, before limit: Int) -> Int {
    guard isMark(start, "<"), start < limit else { return start }
    var (position, level) = (start, 0)
    while position < min(limit, start + Self.maximumGenericArguments) {
      // In an expression, `<` may be an operator. Then one of these marks or the `func` of another
      // operator precedes any `>`.
      if ["{", "}", ")", "]", "="].contains(where: { isMark(position, $0) }) || isWord(position, "func") {
        return start
      }
      level += isMark(position, "<") ? 1 : isMark(position, ">") ? -1 : 0
      position = after(position)
      if level == 0 { return position }
    }
    return start
  }

  /// The position after a token of an expression, or after the brackets or the generic arguments
  /// that it opens.
  func afterPart(_ position: Int, before limit: Int) -> Int {
    let behind = endOfGenericArguments(position, before: limit)
    return behind > position ? behind : after(position)
  }

  /// The names in an inherited type. A composition is split into its parts.
  func parts(of type: Range<Int>) -> [String] {
    line(type).split(separator: "&").map { part in
      var name = part.drop { "( ".contains($0) }
      while let last = name.last, ") ".contains(last) { name.removeLast() }
      return String(name)
    }
  }

  func endOfAttribute(_ start: Int) -> Int {
    var position = start + 1
    guard self[position].isWord else { return position }
    position += 1
    while isMark(position, "."), self[position + 1].isWord { position += 2 }
    position = endOfGenericArguments(position, before: end)
    // After these attributes, `(` begins a type. Only `@available` may have a space before its `(`.
    let name = text(start + 1)
    let isFree = ["escaping", "autoclosure", "Sendable", "MainActor", "concurrent"].contains(name)
    if isMark(position, "("), isAdjacent(position) ? !isFree : name == "available" {
      position = min(after(position), end)
    }
    return position
  }
}
