// ProtocolChecker.swift: checks whether a protocol can be forwarded, and plans its answers.

struct ProtocolChecker {
  let declaration: TypeDeclaration
  let settings: ModuleSettings
  let silence: SilentAnswers
  private(set) var problems: [Problem] = []
  /// The messages of members without `@NotForwarded` that have no problem or only a harmless one.
  private(set) var entries: [Entry] = []
  /// True if the protocol itself or one of its associated types was refused.
  private(set) var isHeadRefused = false

  private var source: SourceText { declaration.source }

  private mutating func refuse(_ message: String, _ positions: Range<Int>, fixes: [Problem.Fix] = []) {
    problems.append(Problem(message: message, offsets: source.offsets(positions), fixes: fixes))
  }

  init(_ declaration: TypeDeclaration, _ settings: ModuleSettings, _ silence: SilentAnswers) {
    (self.declaration, self.settings, self.silence) = (declaration, settings, silence)
    checkHead()
    // Only Objective-C protocols may have unavailable requirements. No target implements them.
    let isObjectiveC = declaration.isObjectiveC
    for var member in declaration.members
    where member.attribute("NotForwarded") == nil && !(isObjectiveC && source.isUnavailable(member)) {
      let before = problems.count
      if case .other(let word) = member.kind {
        refuseOther(member, word)
        if word == "associatedtype", problems.count > before { isHeadRefused = true }
        continue
      }
      let found = MemberChecker(member, in: declaration, settings).problems
      problems += found
      if found.isEmpty { checkAnswer(&member) }
      if member.kind == .property, member.plainName == "multicast" {
        refuse("'multicast' is also a property of the generated class; rename it", member.namePositions)
      }
      if problems[before...].allSatisfy(\.isHarmless) { entries += member.entries }
    }
    problems += declaration.selectorProblems(of: entries)
  }

  // MARK: The protocol

  private mutating func checkHead() {
    let protocolsForActors: Set = ["Actor", "AnyActor", "DistributedActor", "GlobalActor"]
    for type in declaration.inherited {
      if source.parts(of: type).contains(where: { protocolsForActors.contains($0.lastName) }) {
        refuse(
          "a protocol for actors cannot be forwarded, because the generated class is not an actor; inherit 'Sendable', and let actors conform to the protocol",
          type)
      }
    }
    if let problem = declaration.conditionalProblem { problems.append(problem) }
    if let modifier = declaration.modifiers.first(where: { $0.word == "distributed" }) {
      refuse("a distributed protocol cannot be forwarded; remove 'distributed'", modifier.positions)
    }
    isHeadRefused = !problems.isEmpty
  }

  // MARK: Members

  private mutating func refuseOther(_ member: Member, _ word: String) {
    switch word {
    case "associatedtype": checkAssociated(member)
    case "init":
      refuse(
        "an initializer cannot be forwarded; move it to an extension or another protocol\(declaration.orByHand)",
        member.namePositions)
    case "operator":
      refuse(
        "an operator cannot be forwarded; use a named method, or mark it '@NotForwarded' and implement it in an extension of '\(declaration.name)'",
        member.namePositions)
    case "pattern":
      refuse("a pattern of several variables cannot be forwarded; declare each by itself", member.namePositions)
    case "typealias": break
    default: refuse("'\(word)' cannot be forwarded; move it out of the protocol", member.namePositions)
    }
  }

  /// Refuses an associated type that `any P<T>` cannot name: the class cannot be generic over it.
  private mutating func checkAssociated(_ member: Member) {
    guard let type = member.namedType else { return }
    let position = type.position..<type.position + 1
    let said = SourceText([type.constraint, type.requirements].compactMap(\.self).joined(separator: " "))
    if (0..<said.end).contains(where: { said.isWord($0, "Self") }) {
      refuse("'Self' differs for each target, so '\(type.name)' cannot depend on it; remove that requirement", position)
    }
    if declaration.primaryTypes.contains(type.name) || type.hasDefault && !isUsed(type, by: member) { return }
    let clause = declaration.generics
    let offset = source.offsets(clause ?? declaration.namePosition..<declaration.namePosition + 1).upperBound
    let text = clause == nil ? "<\(type.name)>" : ", \(type.name)"
    let place = clause == nil ? offset : offset - 1
    refuse(
      "'any \(declaration.name)' does not specify '\(type.name)'; make it a primary associated type: 'protocol \(declaration.name)<\((declaration.primaryTypes + [type.name]).joined(separator: ", "))>'",
      position, fixes: [.init(title: "make '\(type.name)' primary", offsets: place..<place, text: text)])
  }

  /// True if the protocol uses the type in another member, so the class has to name the type.
  private func isUsed(_ type: NamedType, by declaring: Member) -> Bool {
    let places = [declaration.whereClause].compactMap(\.self) + declaration.members.map(\.positions)
    return places.joined().contains { !declaring.positions.contains($0) && source.text($0) == type.name }
  }

  // MARK: Answers

  private mutating func checkAnswer(_ member: inout Member) {
    let attribute = member.attribute("Answer")
    guard let type = member.type, !type.isVoid else {
      guard let attribute else { return }
      return refuse(
        "'\(member.name)' returns nothing to combine; remove '@Answer'", attribute.positions)
    }
    var policy = (name: AnswerRuleName.last, text: ".last", positions: type.positions)
    var otherwise: Range<Int>?
    for argument in attribute?.arguments ?? [] {
      if argument.label == "otherwise" {
        otherwise = argument.value
      } else if let (name, start) = rule(argument.value) {
        policy = (name, source.text(start..<argument.value.upperBound), argument.value)
      } else {
        return refuse(
          "this rule is not known; write one of \(AnswerRuleName.allCases.map(\.spelling).joined(separator: ", ")); other policies are chosen in the call, with 'returning:'",
          argument.value)
      }
    }
    let hasArguments = source.isMark(policy.positions.upperBound - 1, ")")
    if let misfit = policy.name.misfit(type, hasArguments) { return refuse(misfit, policy.positions) }
    let empty: AnswerPlan.Empty
    if let otherwise {
      // In parentheses, because `??` binds more tightly than most operators.
      let text = source.text(otherwise)
      empty = .stated(otherwise.count > 2 ? "(\(text))" : text)
    } else if !policy.name.isOptional {
      empty = .ofPolicy
    } else if type.isOptional {
      empty = .none
    } else if member.effects.throwing == .untyped {
      empty = .thrown
    } else if silence != .refused, let value = source.emptyValue(of: type) {
      empty = .stated(value)
    } else if silence == .emptyValuesOrTrap {
      empty = .trap
    } else {
      refuseSilence(member, type, attribute, policy.name)
      problems[problems.count - 1].isHarmless = true
      empty = .trap
    }
    member.plan = AnswerPlan(policy: policy.text, isOptional: policy.name.isOptional, empty: empty)
  }

  /// The name of a rule such as `.sum` or `AnswerRule.sum`, and the position of its dot.
  private func rule(_ positions: Range<Int>) -> (name: AnswerRuleName, start: Int)? {
    var start = positions.lowerBound
    if source.isWord(start, "Forwardcast"), source.isMark(start + 1, ".") { start += 2 }
    if source.isWord(start, "AnswerRule") { start += 1 }
    guard source.isMark(start, "."), start + 1 < positions.upperBound else { return nil }
    return AnswerRuleName(rawValue: source.text(start + 1)).map { ($0, start) }
  }

  private mutating func refuseSilence(
    _ member: Member, _ type: TypeText, _ attribute: Attribute?, _ rule: AnswerRuleName
  ) {
    // The fix states `@Answer<Type>`, so that the value can begin with a dot. There is no such fix
    // for an associated type, because attributes cannot name associated types.
    let associated = declaration.associatedTypes.map(\.name)
    let isOwn = type.positions.contains { source[$0].isWord && associated.contains(source.text($0)) }
    let isKnown = type.isFunction || type.text.hasPrefix("any ") || source.emptyValue(of: type) != nil
    let name = isKnown ? "Answer" : "Answer<\(type.keyed)>"
    let fix: Problem.Fix
    if let attribute {
      let (last, hasMore) = (source[attribute.positions.upperBound - 1].range, attribute.hasArguments)
      let offset = hasMore ? last.lowerBound : last.upperBound
      let text = hasMore ? ", otherwise: <#value#>" : "(otherwise: <#value#>)"
      fix = .init(title: "add 'otherwise:'", offsets: offset..<offset, text: text)
    } else {
      let offset = source[member.positions.lowerBound].range.lowerBound
      fix = .init(
        title: "insert '@Answer(otherwise:)'", offsets: offset..<offset, text: "@\(name)(otherwise: <#value#>) ")
    }
    var reason = "'\(member.name)' returns '\(type.text)', but there may be no target to return it"
    if case .typed(let error) = member.effects.throwing {
      reason += ", and '\(member.name)' can throw only '\(error)', not 'nobodyResponds'"
    }
    let all: SilentAnswers = source.emptyValue(of: type) == nil ? .emptyValuesOrTrap : .emptyValues
    let stated = attribute?.arguments.first.map { source.text($0.value) + ", " } ?? ""
    var choices = isOwn ? [] : ["'@\(name)(\(stated)otherwise: …)'"]
    choices.append("'@Forwarded(otherwise: .\(all))'")
    if !type.isFunction, rule != .min, rule != .max { choices.append("'\(type.keyed.asOptional)'") }
    if member.effects.throwing == .never { choices.append("'throws'") }
    let last = choices.removeLast()
    let others = choices.joined(separator: ", ")
    refuse(
      "\(reason); write \(others.isEmpty ? last : "\(others) or \(last)")", type.positions,
      fixes: isOwn ? [] : [fix])
  }
}

extension ForwardedInterface {
  /// Problems of members that are not on the protocol's actor and so cannot call its targets.
  var isolationProblems: [Problem] {
    guard ![.nonisolated, .inherited].contains(isolation), !isVisiblySendable else { return [] }
    let isOnMainActorByDefault = !declaration.attributes.contains(where: \.isGlobalActor)
    let advice = isOnMainActorByDefault ? ", or declare the protocol 'nonisolated'" : ""
    return declaration.members.compactMap { member in
      if case .other = member.kind { return nil }
      guard isolation(of: member) != isolation else { return nil }
      let blame =
        member.modifier("nonisolated")?.positions ?? member.attributes.first(where: \.isGlobalActor)?.positions
        ?? member.namePositions
      return Problem(
        message:
          "targets are isolated to the protocol's actor, so '\(member.name)' cannot reach them from outside; inherit 'Sendable'\(advice)",
        offsets: source.offsets(blame))
    }
  }
}
