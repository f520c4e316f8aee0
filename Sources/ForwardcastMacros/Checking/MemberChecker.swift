// MemberChecker.swift: reports why a member cannot be forwarded.

/// Checks one member. Each problem marks the offending tokens and suggests a fix.
struct MemberChecker {
  let member: Member
  let declaration: TypeDeclaration
  let settings: ModuleSettings
  private(set) var problems: [Problem] = []
  private var source: SourceText { declaration.source }

  init(_ member: Member, in declaration: TypeDeclaration, _ settings: ModuleSettings) {
    (self.member, self.declaration, self.settings) = (member, declaration, settings)
    if case .other("pattern") = member.kind {
      refuse("a pattern of several variables cannot be forwarded; declare each by itself", member.namePositions)
    } else if case .other(let word) = member.kind {
      refuse("'\(word)' cannot be forwarded\(declaration.byHand)", member.namePositions)
    } else {
      checkModifiers()
      checkName()
      checkParameters()
      checkResult()
    }
  }

  private mutating func refuse(
    _ message: String, _ positions: Range<Int>?, if isWrong: Bool = true, fixes: [Problem.Fix] = []
  ) {
    guard isWrong, let positions else { return }
    problems.append(Problem(message: message, offsets: source.offsets(positions), fixes: fixes))
  }

  private mutating func refuse(_ word: String, of type: TypeText, _ message: String) {
    guard type.specifiers.contains(word) else { return }
    let position =
      type.positions.first { source[$0].kind == .word && source.text($0) == word } ?? type.positions.lowerBound
    refuse(message, position..<position + 1)
  }

  private mutating func checkModifiers() {
    refuse(
      "the attributes in '#if' cannot be evaluated; write '#if' around the whole member",
      member.attribute(Attribute.conditional)?.positions)
    for modifier in member.modifiers {
      let message: String? =
        switch modifier.word {
        case "static", "class":
          declaration.keyword == "protocol"
            ? "a static member cannot be forwarded, because messages go to objects; move it to an extension or another protocol\(declaration.orByHand)"
            : "a static member cannot be forwarded, because messages go to objects; remove '@Message', or make it an instance member"
        case "optional" where !declaration.isObjectiveC && !member.attributes.contains { $0.name == "objc" }:
          "a Swift protocol has no optional requirements; write a default implementation in an extension, and let targets conform to 'PartialTarget'"
        case "mutating":
          "a message cannot change a target that is a value; inherit 'AnyObject' and remove 'mutating'"
        case "isolated", "distributed", "prefix", "postfix", "infix", "consuming", "__consuming":
          "'\(modifier.word)' cannot be forwarded; remove it\(declaration.orByHand)"
        default: nil
        }
      if let message {
        refuse(message, modifier.positions)
      } else if modifier.word == "optional", member.kind == .subscripted {
        refuse(
          "an optional subscript cannot be forwarded, because no selector tells whether a target implements it; write a method",
          member.namePositions)
      } else if modifier.word == "optional", member.isSettable {
        refuse("an optional property cannot be set through its protocol; write '{ get }'", member.namePositions)
      }
    }
  }

  private mutating func checkName() {
    if let message = member.attribute("Message") { checkStatedSelector(message) }
    refuse(
      "an unavailable member cannot be forwarded, since nobody may call it; remove \(declaration.keyword == "protocol" ? "the requirement, or mark it '@NotForwarded'" : "'@Message'")",
      member.namePositions, if: source.isUnavailable(member))
    let selector = member.parameters.isEmpty ? "name" : String(repeating: "name:", count: member.parameters.count)
    refuse(
      "no selector can be made from the name; write one, such as '@Message(\"\(selector)\")'", member.namePositions,
      if: member.statedSelector == nil
        && member.entries.contains { !$0.isTooLong && SelectorName.numberOfArguments($0.selector) == nil })
    refuse(
      "a generic member can be forwarded only if each type parameter is the type of exactly one argument; use concrete types\(declaration.orByHand)",
      member.generics)
    refuse(
      "'rethrows' needs a non-escaping closure, which cannot be forwarded; write 'throws'",
      member.rethrowsPosition.map { $0..<$0 + 1 })
  }

  private mutating func checkStatedSelector(_ message: Attribute) {
    guard let value = message.arguments.first?.value else { return }
    guard let selector = message.literal else {
      refuse("the selector is not a plain literal; write it as in '@Message(\"select:or:\")'", value)
      return
    }
    guard selector.utf8.count <= SelectorName.maximumLength else {
      refuse("the selector is longer than \(SelectorName.maximumLength) bytes; shorten it", value)
      return
    }
    guard let count = SelectorName.numberOfArguments(selector) else {
      refuse("'\(selector)' is not a selector; write a name, or parts that each end in a colon", value)
      return
    }
    let wanted = member.parameters.count
    if count != wanted {
      let colons = count == 1 ? "1 colon" : "\(count) colons"
      let arguments = wanted == 1 ? "1 argument" : "\(wanted) arguments"
      refuse("'\(selector)' has \(colons) for \(arguments); write a colon for each argument", value)
    }
  }

  private mutating func checkParameters() {
    for parameter in member.parameters {
      let type = parameter.type
      let name = "'\(parameter.name)'"
      refuse(
        "a variadic argument cannot be forwarded; write an array: '[\(type.text)]'", parameter.positions,
        if: parameter.isVariadic)
      refuse(
        "inout", of: type,
        "\(name) cannot be 'inout', because every target receives its own copy; return the new value\(declaration.orByHand)"
      )
      refuse(
        "isolated", of: type,
        "\(name) cannot be 'isolated', because each target runs where its registration says; put the \(declaration.keyword == "protocol" ? "requirement" : "method") on a global actor"
      )
      refuse(
        "sending", of: type,
        "an argument cannot be 'sending', because several targets receive it; remove 'sending', and make its type Sendable"
      )
      if refuseBlock(type, mayEscape: type.isFunction) { continue }
      if let attribute = prefixAttribute(type, "autoclosure") {
        refuse(
          "an '@autoclosure' would be evaluated once for all targets; write '@escaping () -> …' or the value", attribute
        )
      } else if type.isNonescapingFunction || declaration.isFunction(type.text) {
        let start = type.positions.lowerBound
        let offset = source[start].range.lowerBound
        refuse(
          "a non-escaping closure cannot be forwarded; write '@escaping'", type.positions,
          fixes: [.init(title: "insert '@escaping '", offsets: offset..<offset, text: "@escaping ")])
      }
      refuse(
        "'some' can be forwarded only as the whole type of an argument; write 'any'",
        type.positions, if: type.hasInnerSome)
      refuse(
        "in Swift 5 every target would receive \(name) as '\(type.keyed)'; write that type, or enable the upcoming feature 'ImplicitOpenExistentials'\(declaration.orByHand)",
        parameter.positions, if: type.isSome && type.isSelfConforming && !settings.opensAll)
      checkType(type)
    }
  }

  /// Refuses a block, because a block in a parameter pack crashes at its first call.
  private mutating func refuseBlock(_ type: TypeText, mayEscape: Bool) -> Bool {
    let block = type.positions.first {
      source.isMark($0, "@") && source.isWord($0 + 1, "convention") && source.isWord($0 + 3, "block")
    }
    guard let block else { return false }
    let cure = mayEscape ? ": '@escaping' instead of '@convention(block)'" : ", without '@convention(block)'"
    refuse("a block cannot be forwarded; write a Swift closure\(cure)", block..<source.endOfAttribute(block))
    return true
  }

  private mutating func checkType(_ type: TypeText) {
    if let position = type.positions.first(where: { source.isWord($0, "Self") }) { refuseSelf(position) }
    for position in type.positions where source[position].kind == .word || source.isMark(position, "~") {
      checkToken(position)
    }
  }

  private mutating func refuseSelf(_ position: Int) {
    if source.isMark(position + 1, "."), declaration.hasType(source.text(position + 2)) {
      let start = source[position].range.lowerBound
      let fix = Problem.Fix(title: "remove 'Self.'", offsets: start..<source[position + 2].range.lowerBound, text: "")
      refuse(
        "'Self' differs for each target and cannot be forwarded; write '\(source.text(position + 2))' without 'Self.'",
        position..<position + 3, fixes: [fix])
    } else {
      refuse(
        "'Self' differs for each target and cannot be forwarded; write '\(declaration.keyword == "protocol" ? "any " : "")\(declaration.name)'\(declaration.orByHand)",
        position..<position + 1)
    }
  }

  /// Refuses noncopyable types, views into memory, and names that the generated class declares.
  private mutating func checkToken(_ position: Int) {
    let name = source.text(position)
    let isMember = source.isMark(position - 1, ".")
    if source.isMark(position, "~"), source.isWord(position + 1, "Copyable") {
      refuse(
        "a noncopyable value cannot be forwarded, because every target receives a copy; wrap it in a class",
        position..<position + 2)
    } else if source.isMark(position, "~"), source.isWord(position + 1, "Escapable") {
      refuse(
        "a nonescapable value cannot be forwarded, because a queued target would receive it after the call; remove '~Escapable'",
        position..<position + 2)
    } else if Self.spans.contains(name), isMember ? source.isWord(position - 2, "Swift") : isSpan(position) {
      refuse(
        "a '\(name)' cannot be forwarded, because its memory is valid only during the call; write an array",
        position..<position + 1)
    } else if declaration.keyword == "protocol", !isMember, ["Messages", "Forwarding", "Interface"].contains(name) {
      refuse(
        "'\(name)' is also a type in the generated class; write the name with its module", position..<position + 1)
    }
  }

  private static let spans: Set<String> = [
    "Span", "RawSpan", "MutableSpan", "MutableRawSpan", "OutputSpan", "OutputRawSpan", "UTF8Span",
  ]

  /// True for a span of the standard library: a generic span, a raw span or `UTF8Span`.
  private func isSpan(_ position: Int) -> Bool {
    source.isMark(position + 1, "<") || !["Span", "MutableSpan", "OutputSpan"].contains(source.text(position))
  }

  private mutating func checkResult() {
    guard let type = member.type else {
      if member.kind != .method {
        refuse("a macro cannot infer the type of '\(member.name)'; write it", member.namePositions)
      }
      return
    }
    if refuseBlock(type, mayEscape: false) { return }
    checkType(type)
    refuse(
      "each target may return a different type; write 'any' instead of 'some'", type.positions,
      if: type.isSome || type.hasInnerSome)
    refuse(
      "sending", of: type,
      "a result that is combined with others cannot be 'sending'; remove 'sending', and make its type Sendable")
  }

  private func prefixAttribute(_ type: TypeText, _ name: String) -> Range<Int>? {
    var position = type.positions.lowerBound
    return source.attributes(&position).first { $0.name == name }?.positions
  }
}

extension TypeDeclaration {
  /// Offers `@NotForwarded` as an alternative fix; empty for classes, which cannot use it.
  var orByHand: String {
    keyword == "protocol"
      ? ", or mark the requirement '@NotForwarded' and implement it in an extension of '\(plainName)Proxy'" : ""
  }

  /// Offers `@NotForwarded` as the only fix. For classes, offers to remove `@Message`.
  var byHand: String { keyword == "protocol" ? "; \(orByHand.dropFirst(5))" : "; remove '@Message'" }
}
