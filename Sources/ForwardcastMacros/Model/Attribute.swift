// Attribute.swift: one attribute and its arguments.

/// `@name(arguments)` in front of a declaration, or `#if` around attributes.
struct Attribute {
  struct Argument {
    let label: String?
    let value: Range<Int>
  }

  /// The name as written, modules included; `#if` for attributes in `#if`.
  let name: String
  let positions: Range<Int>
  let namePositions: Range<Int>
  let arguments: [Argument]
  /// True if parentheses were written, even empty parentheses.
  let hasArguments: Bool
  /// The text of the first argument, if it is a plain string literal without a label.
  let literal: String?
  let isStatedActor: Bool

  var shortName: String { name.lastName }

  static let conditional = "#if"

  /// Whether the generated code depends on this attribute, so that it may not be inside `#if`.
  fileprivate var isNeeded: Bool {
    mayBeActor || isStatedActor
      || ["available", "objc", "discardableResult", "Message", "Answer", "NotForwarded"].contains(shortName)
  }

  func isOurs(_ short: String) -> Bool { name == short || name == "Forwardcast.\(short)" }

  /// True if the attribute is a global actor: its name ends in `Actor`, or `isolatedTo:` states it.
  var isGlobalActor: Bool { isStatedActor || mayBeActor && shortName.hasSuffix("Actor") }

  /// True if the attribute may be a global actor. It may still be a macro or a property wrapper.
  var mayBeActor: Bool {
    !hasArguments && shortName.first?.isUppercase == true
      && !["Sendable", "Forwarded", "Message", "Answer", "NotForwarded"].contains(shortName)
  }
}

extension SourceText {
  /// Reads the attributes at `position` and moves past them.
  func attributes(_ position: inout Int) -> [Attribute] {
    var found: [Attribute] = []
    while let behind = endOfAttributes(position) {
      let range = position..<behind
      if isMark(position, "@") {
        found.append(attribute(range))
      } else if range.contains(where: { isAttribute($0) && attribute($0..<endOfAttribute($0)).isNeeded }) {
        found.append(
          Attribute(
            name: Attribute.conditional, positions: range, namePositions: position..<position + 1, arguments: [],
            hasArguments: true, literal: nil, isStatedActor: false))
      }
      position = behind
    }
    return found
  }

  /// True for the library's attribute of this name, and for `#if` around such an attribute.
  func mayState(_ short: String, _ attribute: Attribute) -> Bool {
    if attribute.name != Attribute.conditional { return attribute.isOurs(short) }
    return attribute.positions.contains {
      isAttribute($0) && self.attribute($0..<endOfAttribute($0)).isOurs(short)
    }
  }

  private func isAttribute(_ position: Int) -> Bool { isMark(position, "@") && self[position + 1].isWord }

  private func attribute(_ positions: Range<Int>) -> Attribute {
    let behind = positions.upperBound
    var nameEnd = positions.lowerBound + 2
    while nameEnd < behind, isMark(nameEnd, "."), self[nameEnd + 1].isWord { nameEnd += 2 }
    let name = positions.lowerBound + 1..<nameEnd
    let behindTypes = endOfGenericArguments(nameEnd, before: behind)
    let bracket = isMark(behind - 1, ")") ? (behindTypes..<behind).first { isMark($0, "(") } : nil
    let arguments = bracket.map { self.arguments(in: $0) } ?? []
    let isStatedActor = bracket == nil && statedActor.map { [line(name), text(nameEnd - 1)].contains($0) } ?? false
    return Attribute(
      name: line(name), positions: positions, namePositions: name, arguments: arguments, hasArguments: bracket != nil,
      literal: arguments.first.flatMap { $0.label == nil ? literal($0.value) : nil }, isStatedActor: isStatedActor)
  }

  /// The position after an attribute, or after `#if` … `#endif` if it encloses only attributes.
  func endOfAttributes(_ start: Int) -> Int? {
    var (position, level) = (start, 0)
    repeat {
      let word = self[position].kind == .directive ? text(position) : ""
      if isAttribute(position) {
        position = endOfAttribute(position)
        continue
      }
      guard ["#if", "#endif"].contains(word) || level > 0 && ["#elseif", "#else"].contains(word) else { return nil }
      level += word == "#if" ? 1 : word == "#endif" ? -1 : 0
      position += 1
      while word != "#endif", position < end, !self[position].beginsLine { position = after(position) }
    } while level > 0
    return level < 0 || !(start..<position).contains(where: isAttribute) ? nil : position
  }

  /// The text of a string literal; `nil` if it is multiline or raw or has a backslash.
  private func literal(_ positions: Range<Int>) -> String? {
    guard positions.count == 1, self[positions.lowerBound].kind == .string else { return nil }
    let text = text(positions.lowerBound)
    guard text.hasPrefix("\""), !text.hasPrefix("\"\"\""), !text.contains("\\") else { return nil }
    return String(text.dropFirst().dropLast())
  }

  func arguments(in bracket: Int) -> [Attribute.Argument] {
    guard let closing = closing(bracket) else { return [] }
    var found: [Attribute.Argument] = []
    var position = bracket + 1
    while position < closing {
      var label: String?
      if self[position].isWord, isMark(position + 1, ":") {
        label = text(position)
        position += 2
      }
      let value = position..<endOfElement(position, before: closing)
      found.append(.init(label: label, value: value))
      position = value.upperBound + 1
    }
    return found
  }

  func elements(_ positions: Range<Int>) -> [Range<Int>] {
    var (found, start) = ([Range<Int>](), positions.lowerBound)
    while start < positions.upperBound {
      found.append(start..<endOfElement(start, before: positions.upperBound))
      start = found[found.count - 1].upperBound + 1
    }
    return found
  }

  /// The position of the next comma outside of brackets.
  private func endOfElement(_ start: Int, before limit: Int) -> Int {
    var position = start
    while position < limit, !isMark(position, ",") { position = afterPart(position, before: limit) }
    return min(position, limit)
  }
}
