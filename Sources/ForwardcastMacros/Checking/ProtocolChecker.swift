// ProtocolChecker.swift: what a protocol has that cannot be carried, and how many answers become one.
// Part of the macro program: Checking. See DESIGN.md, "The attributes".

/// Goes through a protocol once. Says at the word to blame why something cannot be carried, and what to write instead.
struct ProtocolChecker {
  let declaration: TypeDeclaration
  let source: SourceText
  private(set) var problems: [Problem] = []
  /// The plan of each member that answers, by where the member begins.
  private(set) var plans: [Int: AnswerPlan] = [:]

  init(_ declaration: TypeDeclaration, source: SourceText) {
    (self.declaration, self.source) = (declaration, source)
  }

  mutating func refuse(_ message: String, _ positions: Range<Int>, fixes: [Problem.Fix] = []) {
    problems.append(Problem(message: message, offsets: source.offsets(positions), fixes: fixes))
  }

  mutating func check() {
    checkHead()
    var carried: [Entry] = []
    for member in declaration.members {
      let before = problems.count
      if case .other(let word) = member.kind {
        refuseOther(member, word)
        continue
      }
      checkModifiers(member)
      checkName(member)
      checkParameters(member)
      checkResult(member)
      checkAnswer(member)
      if problems.count == before { carried += member.entries }
    }
    checkSelectors(carried)
  }

  // MARK: The protocol

  private mutating func checkHead() {
    if let generics = declaration.generics {
      refuse(
        "a protocol with associated types cannot be forwarded: 'any \(declaration.name)' does not say what they are; write the types",
        generics)
    }
    for type in declaration.inherited {
      let name = source.line(type)
      let last = name.split(separator: ".").last.map(String.init) ?? name
      if ["Actor", "AnyActor", "DistributedActor", "GlobalActor"].contains(last) {
        refuse(
          "a protocol that only actors adopt cannot be forwarded: the written class is no actor; inherit 'Sendable' and let actors adopt it",
          type)
      }
    }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      refuse("a distributed protocol cannot be forwarded", modifier.positions)
    }
  }

  // MARK: Members

  private mutating func refuseOther(_ member: Member, _ word: String) {
    switch word {
    case "associatedtype":
      refuse(
        "a protocol with associated types cannot be forwarded: 'any \(declaration.name)' does not say what they are; write the types",
        member.namePositions)
    case "init":
      refuse(
        "an initialiser is no message to a target; write it in an extension or in another protocol",
        member.namePositions)
    case "operator":
      refuse("an operator is no message to a target; write a method with a name", member.namePositions)
    case "typealias": break
    default: refuse("'\(word)' cannot be carried by a message", member.namePositions)
    }
  }

  private mutating func checkModifiers(_ member: Member) {
    for modifier in member.modifiers {
      switch modifier.word {
      case "static", "class":
        refuse(
          "a static member belongs to a type, and a message goes to objects; write it in an extension or in another protocol",
          modifier.positions)
      case "optional":
        refuse(
          "a Swift class must have every requirement; give a default implementation in an extension instead of 'optional'",
          modifier.positions)
      case "mutating":
        refuse(
          "a message cannot change a value that is a target; inherit 'AnyObject', or make the method not 'mutating'",
          modifier.positions)
      case "isolated", "distributed", "prefix", "postfix", "infix", "consuming", "__consuming":
        refuse("'\(modifier.word)' cannot be carried by a message", modifier.positions)
      default: break
      }
    }
    if let attribute = member.attributes.first(where: { $0.name == "objc" && !$0.hasArguments }),
      member.modifier("optional") != nil
    {
      _ = attribute
    }
  }

  private mutating func checkName(_ member: Member) {
    if let message = member.attribute("Message") { checkStatedSelector(member, message) }
    if member.statedSelector == nil {
      if member.isRawName {
        refuse(
          "a selector has no such characters; name it with '@Message(\"\(String(repeating: "name:", count: max(1, member.parameters.count)))\")'",
          member.namePositions)
      }
    }
    if let generics = member.generics {
      refuse(
        "a generic member cannot be forwarded: the types of a message are known when it is written; write 'some P' for an argument, or the types",
        generics)
    }
    if let position = member.rethrowsPosition {
      refuse(
        "a closure that does not escape cannot travel, so nothing can be rethrown; write 'throws'",
        position..<position + 1)
    }
  }

  private mutating func checkStatedSelector(_ member: Member, _ message: Attribute) {
    guard !message.arguments.isEmpty else { return }
    let value = message.arguments[0].value
    guard let selector = message.literal else {
      refuse("a selector is written as a plain literal: @Message(\"select:or:\")", value)
      return
    }
    if selector.isEmpty { return }
    guard let count = SelectorName.numberOfArguments(selector) else {
      refuse("'\(selector)' is no selector: write a name, or parts that each end in a colon", value)
      return
    }
    let wanted = member.parameters.count
    if count != wanted {
      let colons = wanted == 1 ? "1 colon" : "\(wanted) colons"
      refuse("'\(selector)' has \(count == 0 ? "no colon" : "\(count)") where the arguments need \(colons)", value)
    }
  }

  private mutating func checkParameters(_ member: Member) {
    for parameter in member.parameters {
      let type = parameter.type
      let name = "'\(parameter.name)'"
      if parameter.isVariadic {
        refuse("a variadic argument cannot be passed on; write an array: '[\(type.text)]'", parameter.positions)
      }
      for word in ["inout", "isolated", "sending"] where type.specifiers.contains(word) {
        let reason =
          switch word {
          case "inout": "every target gets its own copy, so \(name) cannot be 'inout'; answer the new value instead"
          case "isolated":
            "a message runs where its target says, so \(name) cannot be 'isolated'; put the requirement on a global actor"
          default: "an argument that goes to many targets cannot be 'sending'; make its type Sendable"
          }
        refuse(reason, prefixPositions(type, word))
      }
      if let attribute = prefixAttribute(type, "autoclosure") {
        refuse(
          "an '@autoclosure' would be evaluated for the message; write '@escaping () -> …' or the value", attribute)
      } else if type.isNonescapingFunction {
        let start = type.positions.lowerBound
        let offset = source[start].range.lowerBound
        refuse(
          "a closure that does not escape cannot travel in a message; write '@escaping'", type.positions,
          fixes: [.init(title: "insert '@escaping '", offsets: offset..<offset, text: "@escaping ")])
      }
      if type.hasInnerSome {
        refuse(
          "a generic member cannot be forwarded: 'some' may only be the whole type of an argument; write 'any'",
          type.positions)
      }
      checkSelf(type)
    }
  }

  private mutating func checkSelf(_ type: TypeText) {
    if let position = type.selfPosition {
      refuse(
        "'Self' is another type in each target, so a message cannot name it; write 'any \(declaration.name)'",
        position..<position + 1)
    }
  }

  private mutating func checkResult(_ member: Member) {
    guard let type = member.type else {
      if member.kind != .method {
        refuse("the type of '\(member.name)' is not written", member.namePositions)
      }
      return
    }
    checkSelf(type)
    if type.specifiers.contains("some") || type.hasInnerSome {
      refuse("each target may answer another type; write 'any' instead of 'some'", type.positions)
    }
    if type.specifiers.contains("sending") {
      refuse(
        "an answer that is combined with others cannot be 'sending'; make its type Sendable",
        prefixPositions(type, "sending"))
    }
  }

  private func prefixPositions(_ type: TypeText, _ word: String) -> Range<Int> {
    let position =
      type.positions.first { source[$0].kind == .word && source.text($0) == word } ?? type.positions.lowerBound
    return position..<position + 1
  }

  private func prefixAttribute(_ type: TypeText, _ name: String) -> Range<Int>? {
    var position = type.positions.lowerBound
    while position < type.positions.upperBound, source.isMark(position, "@") {
      let end = source.endOfAttribute(position)
      if source.text(position + 1) == name { return position..<end }
      position = end
    }
    return nil
  }

  // MARK: Answers

  private mutating func checkAnswer(_ member: Member) {
    let attribute = member.attribute("Answer")
    guard let type = member.type, !type.isVoid else {
      if let attribute {
        refuse(
          "'\(member.name)' answers nothing, so there is nothing to combine; remove '@Answer'", attribute.positions)
      }
      return
    }
    var policy = (name: AnswerRuleName(name: "last"), text: ".last", positions: type.positions)
    var otherwise: String?
    for argument in attribute?.arguments ?? [] {
      if argument.label == "otherwise" {
        otherwise = source.line(argument.value)
      } else if let found = rule(argument.value) {
        policy = found
      } else {
        refuse(
          "this rule is not known; write one of .last, .first, .lastValue, .firstValue, .any, .every, .sum, .min, .max, .joined, .reduce(…)",
          argument.value)
        return
      }
    }
    if let misfit = policy.name.misfit(type) {
      refuse(misfit, policy.positions)
      return
    }
    let empty: AnswerPlan.Empty
    if let otherwise {
      empty = .stated(otherwise.count > 40 || otherwise.contains(" ") ? "(\(otherwise))" : otherwise)
    } else if !policy.name.isOptional {
      empty = .ofPolicy
    } else if type.isOptional {
      empty = .none
    } else if member.effects.throwing == .untyped {
      empty = .thrown
    } else {
      refuseSilence(member, type, attribute)
      return
    }
    plans[member.positions.lowerBound] = AnswerPlan(
      policy: policy.text, isOptional: policy.name.isOptional, empty: empty)
  }

  private func rule(_ positions: Range<Int>) -> (name: AnswerRuleName, text: String, positions: Range<Int>)? {
    var start = positions.lowerBound
    if source.isWord(start, "Forwardcast"), source.isMark(start + 1, ".") { start += 2 }
    if source.isWord(start, "AnswerRule") { start += 1 }
    guard source.isMark(start, "."), start + 1 < positions.upperBound else { return nil }
    let name = source.text(start + 1)
    guard AnswerRuleName.all.contains(name) else { return nil }
    return (AnswerRuleName(name: name), source.text(start..<positions.upperBound), positions)
  }

  private mutating func refuseSilence(_ member: Member, _ type: TypeText, _ attribute: Attribute?) {
    let fix: Problem.Fix
    if let attribute, attribute.hasArguments {
      let offset = source[attribute.positions.upperBound - 1].range.lowerBound
      fix = .init(title: "add 'otherwise:'", offsets: offset..<offset, text: ", otherwise: <#value#>")
    } else if let attribute {
      let offset = source[attribute.positions.upperBound - 1].range.upperBound
      fix = .init(title: "add 'otherwise:'", offsets: offset..<offset, text: "(otherwise: <#value#>)")
    } else {
      let offset = source[member.positions.lowerBound].range.lowerBound
      fix = .init(
        title: "insert '@Answer(otherwise:)'", offsets: offset..<offset, text: "@Answer(otherwise: <#value#>) ")
    }
    let reason =
      if case .typed(let error) = member.effects.throwing {
        "when nobody answers '\(member.name)' there is no '\(type.text)', and the error 'nobodyResponds' is no '\(error)'"
      } else {
        "when nobody answers '\(member.name)' there is no '\(type.text)'"
      }
    let optional = type.isFunction ? "" : ", answer '\(type.text)?'"
    let throwing = member.effects.throwing == .never ? ", or let it throw" : ""
    refuse("\(reason); say '@Answer(otherwise: …)'\(optional)\(throwing)", type.positions, fixes: [fix])
  }

  // MARK: Selectors

  private mutating func checkSelectors(_ entries: [Entry]) {
    var known: [String: [Entry]] = [:]
    for entry in entries {
      if entry.selector.utf8.count > SelectorName.maximumLength {
        refuse(
          "the selector of '\(entry.member.name)' is longer than \(SelectorName.maximumLength) bytes; name it with '@Message(\"…\")'",
          entry.member.namePositions)
      }
      if let other = known[entry.selector]?.first(where: { $0.member.canStandBeside(entry.member) }) {
        let colons = String(repeating: "name:", count: entry.member.parameters.count)
        refuse(
          "'\(entry.selector)' is already the selector of '\(other.member.name)'; name this one with '@Message(\"\(colons.isEmpty ? "name" : colons)\")'",
          entry.member.namePositions)
      }
      known[entry.selector, default: []].append(entry)
    }
    for name in ["multicast"] {
      for entry in entries
      where entry.role == .getter && entry.member.kind == .property && entry.member.plainName == name {
        refuse(
          "'\(name)' is the written class's own member; give the property another name", entry.member.namePositions)
      }
    }
  }
}
