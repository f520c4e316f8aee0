// DeclarationReader+Members.swift: reads the members between the braces.

extension DeclarationReader {
  mutating func members() -> [Item<Member>] {
    var items: [Item<Member>] = []
    while position < limit {
      let start = position
      if items.count >= Self.maximumMembers {
        refuse("there are more than \(Self.maximumMembers) members; split the declaration", start..<start + 1)
        break
      }
      if source[position].kind == .directive, source.endOfAttributes(position) == nil {
        if let line = directive() { items.append(.directive(line)) }
      } else if !take(";") {
        items += member().map(Item.element)
      }
      if position == start { position += 1 }
    }
    position = limit + 1
    return items
  }

  /// The line of an `#if`, `#elseif`, `#else` or `#endif`; other directives are skipped.
  private mutating func directive() -> String? {
    let start = position
    position += 1
    skip { $0[$1].beginsLine }
    switch source.text(start) {
    case "#if":
      if branches.count == Self.maximumConditions {
        refuse("'#if' is nested more than \(Self.maximumConditions) deep; nest fewer", start..<start + 1)
        position = limit
        return nil
      }
      branches.append(Branch(group: groups, index: 0))
      groups += 1
    case "#elseif" where !branches.isEmpty, "#else" where !branches.isEmpty: branches[branches.count - 1].index += 1
    case "#endif" where branches.popLast() != nil: position = start + 1
    default: return nil
    }
    return source.line(start..<position)
  }

  private mutating func member() -> [Member] {
    let start = position
    let attributes = source.attributes(&position)
    let modifiers = modifiers()
    var documentation = source.documentation(before: start)
    if documentation.isEmpty { documentation = source.documentation(before: position) }
    var member = Member(
      kind: .method, attributes: attributes, modifiers: modifiers, name: "", namePositions: position..<position + 1,
      documentation: documentation, branches: branches, positions: start..<position)
    let word = source[position].kind == .word ? source.text(position) : ""
    switch word {
    case "func": method(&member)
    case "var", "let": return properties(member)
    case "subscript": subscripted(&member)
    case _ where Self.introducers.contains(word):
      (member.kind, member.name) = (.other(word), word)
      skipOther()
      if word == "associatedtype" || word == "typealias" {
        member.namedType = namedType(member.namePositions.upperBound)
      }
    default:
      if position < limit {
        refuse("this cannot be read as a member", position..<position + 1)
        skip()
        skip { $0.isMemberStart($1) }
      }
      return []
    }
    member.positions = start..<position
    return [member]
  }

  /// Reads `Name: Constraint = Default where Requirements` up to the current position.
  private func namedType(_ start: Int) -> NamedType? {
    guard source[start].isWord, start < position else { return nil }
    let clause = (start..<position).first { source.isWord($0, "where") } ?? position
    let head = start + 1..<max(clause, start + 1)
    let end = head.first { source.isMark($0, "=") } ?? head.upperBound
    return NamedType(
      name: source.text(start), isAssociated: source.isWord(start - 1, "associatedtype"), position: start,
      constraint: source.isMark(start + 1, ":") ? composition(start + 2..<max(end, start + 2)) : nil,
      isFunction: end + 1 < head.upperBound && source.typeText(end + 1..<head.upperBound).isFunction,
      hasDefault: end < head.upperBound, requirements: clause + 1 < position ? source.line(clause + 1..<position) : nil)
  }

  /// Joins types that are separated by commas into a composition.
  private func composition(_ positions: Range<Int>) -> String? {
    var (types, position) = ([String](), positions.lowerBound)
    while let end = source.endOfType(position, before: positions.upperBound) {
      types.append(source.line(position..<end))
      guard source.isMark(end, ",") else { break }
      position = end + 1
    }
    return types.isEmpty ? nil : types.joined(separator: " & ")
  }

  /// Skips a declaration that cannot be a message, with its body.
  private mutating func skipOther() {
    position += 1
    var hasBody = false
    skip { source, here in
      defer { hasBody = hasBody || source.isMark(here, "{") }
      return source.isMark(here, ";") || source.isMemberStart(here)
        || hasBody && source[here].beginsLine && source[here].isWord
    }
  }

  private mutating func method(_ member: inout Member) {
    position += 1
    let nameStart = position
    if source[position].isWord {
      member.name = source.text(position)
      position += 1
    } else {
      let end = (nameStart..<limit).first {
        source[$0].kind != .mark || source.isMark($0, "(") || $0 > nameStart && !source.isAdjacent($0)
      }
      position = end ?? limit
      member.name = source.text(nameStart..<position)
      member.kind = .other("operator")
    }
    member.namePositions = nameStart..<max(position, nameStart + 1)
    let requirements = signature(&member)
    if source.isMark(position, "{") { skip() }
    openGenerics(&member, requirements)
  }

  /// Reads `func a<T: P>(_ x: T)` as `func a(_ x: some P)`, if `T` occurs nowhere else.
  private func openGenerics(_ member: inout Member, _ requirements: Range<Int>) {
    guard let clause = member.generics, source.isMark(clause.lowerBound, "<") else { return }
    let declared = clause.lowerBound + 1..<clause.upperBound - 1
    var constraints: [String: Range<Int>] = [:]
    var uses: [String: Int] = [:]
    for list in [declared, requirements] {
      var position = list.lowerBound
      while position < list.upperBound {
        let name = source.text(position)
        let isConstrained = source.isMark(position + 1, ":")
        guard let end = isConstrained ? source.endOfType(position + 2, before: list.upperBound) : position + 1,
          end == list.upperBound || source.isMark(end, ","), constraints[name]?.isEmpty ?? (list == declared)
        else { return }
        constraints[name] = (isConstrained ? position + 2 : end)..<end
        uses[name, default: 1] += 1
        position = end + 1
      }
    }
    var parameters = member.parameters
    for (name, constraint) in constraints {
      let own = parameters.indices.filter {
        parameters[$0].type.positions.count == 1 && parameters[$0].type.text == name
      }
      let count = (member.positions.lowerBound..<position).count { source.text($0) == name }
      guard own.count == 1, count == uses[name] else { return }
      parameters[own[0]].type = source.opaqueType(constraint)
    }
    (member.parameters, member.generics) = (parameters, nil)
  }

  /// Reads the text after a method's name or `subscript`. Returns the tokens after `where`.
  private mutating func signature(_ member: inout Member) -> Range<Int> {
    let isMethod = member.kind != .subscripted
    member.generics = generics()
    if source.isMark(position, "("), let closing = source.closing(position) {
      member.parameters = parameters(before: closing, labeled: isMethod)
    } else {
      let name = isMethod ? "'\(member.name)'" : "the subscript"
      refuse("the parameters of \(name) cannot be read", member.namePositions)
    }
    if isMethod { (member.effects, member.rethrowsPosition) = effects() }
    if take("->") { result(&member) }
    let start = position
    guard take("where") else { return start..<start }
    skip { $0.isMark($1, "{") || $0.isMark($1, ";") || $0.isMemberStart($1) }
    if member.generics == nil { member.generics = start..<position }
    return start + 1..<position
  }

  private mutating func effects() -> (Effects, rethrowsPosition: Int?) {
    var (effects, rethrowsPosition) = (Effects(), Int?.none)
    while true {
      if take("async") || take("reasync") {
        effects.isAsync = true
      } else if take("throws") {
        effects.throwing = .untyped
        guard source.isMark(position, "("), let closing = source.closing(position) else { continue }
        let type = source.line(position + 1..<closing)
        let isUntyped = ["any Error", "any Swift.Error"].contains(type)
        effects.throwing = ["Never", "Swift.Never"].contains(type) ? .never : isUntyped ? .untyped : .typed(type)
        position = closing + 1
      } else if take("rethrows") {
        rethrowsPosition = position - 1
      } else {
        return (effects, rethrowsPosition)
      }
    }
  }

  private mutating func result(_ member: inout Member) {
    guard let behind = source.endOfType(position, before: limit) else {
      refuse("the type of '\(member.name)' cannot be read", position..<position + 1)
      return
    }
    member.type = source.typeText(position..<behind)
    position = behind
  }

  /// Reads a parameter list. If it is `labeled`, a single name is also the label, as in methods.
  private mutating func parameters(before closing: Int, labeled: Bool) -> [Parameter] {
    defer { position = closing + 1 }
    var found: [Parameter] = []
    position += 1
    while position < closing {
      let attributes = source.attributes(&position)
      let start = position
      var names: [String] = []
      while source[position].isWord, names.count < 2, position < closing {
        names.append(source.text(position))
        position += 1
      }
      guard let first = names.first, source.isMark(position, ":"),
        let behind = source.endOfType(position + 1, before: closing)
      else {
        refuse("this parameter cannot be read", start..<start + 1)
        return found
      }
      let type = source.typeText(position + 1..<behind)
      position = behind
      let isVariadic = (position..<position + 3).allSatisfy { source.isMark($0, ".") }
      if isVariadic { position += 3 }
      let label = names.count == 2 || labeled ? first : "_"
      found.append(
        Parameter(
          label: label == "_" ? nil : label, name: names.last ?? first,
          attributes: attributes.map { source.line($0.positions) }, type: type, isVariadic: isVariadic,
          positions: start..<position))
      while position < closing, !source.isMark(position, ",") {
        position = min(source.afterPart(position, before: closing), closing)
      }
      position += 1
    }
    return found
  }

  private mutating func subscripted(_ member: inout Member) {
    (member.kind, member.name) = (.subscripted, "subscript")
    position += 1
    _ = signature(&member)
    accessors(&member, isStored: false)
  }

  private mutating func properties(_ member: Member) -> [Member] {
    let isConstant = source.isWord(position, "let")
    let start = member.positions.lowerBound
    var found: [Member] = []
    repeat {
      position += 1
      var next = member
      next.kind = .property
      next.isConstant = isConstant
      next.namePositions = position..<position + 1
      next.name = source.text(position)
      guard source[position].isWord else {
        // A pattern such as `var (a, b) = …` cannot be a message.
        next.kind = .other("pattern")
        skipOther()
        next.positions = start..<position
        return found + [next]
      }
      position += 1
      if take(":") {
        result(&next)
        // In `var a, b: Int`, a name without a type or value has the type of the next name.
        for index in found.indices.reversed() {
          guard found[index].type == nil, found[index].positions.upperBound == found[index].namePositions.upperBound
          else { break }
          found[index].type = next.type
        }
      }
      let isStored = !isInProtocol && !source.isMark(position, "{")
      let value = position + 1
      if take("=") {
        skip {
          $0.isMark($1, ",") || $0.isMark($1, ";") || $0.isMemberStart($1)
            || $0.isMark($1, "{") && $0.beginsObservers($1)
        }
        if next.type == nil { next.type = source.literalType(value..<position) }
      }
      accessors(&next, isStored: isStored && !isConstant)
      next.positions = start..<position
      found.append(next)
    } while position < limit && source.isMark(position, ",")
    return found
  }

  /// Reads `{ get set }`, or the accessors of a class with their bodies.
  private mutating func accessors(_ member: inout Member, isStored: Bool) {
    guard source.isMark(position, "{"), let end = source.closing(position) else {
      member.isSettable = isStored
      return
    }
    if isStored || source.beginsObservers(position) { member.isSettable = true }
    position += 1
    while position < end {
      if source.isMark(position, "@") {
        position = min(source.endOfAttribute(position), end)
        continue
      }
      let word = source[position].kind == .word ? source.text(position) : ""
      position += 1
      switch word {
      case "get", "_read", "read": member.effects = effects().0
      case "mutating" where source.isWord(position, "get"):
        member.modifiers.append(Modifier(word: word, detail: nil, positions: position - 1..<position))
      case "nonmutating": member.setterIsNonmutating = member.setterIsNonmutating || source.isWord(position, "set")
      case "set", "_modify", "modify": member.isSettable = true
      case "mutating", "didSet", "willSet", "unsafeAddress", "init", "borrow", "mutate": break
      default: position = end
      }
      if source.isMark(position, "(") { position = min(source.after(position), end) }
      if source.isMark(position, "{") { position = min(source.after(position), end) }
    }
    position = end + 1
  }
}

extension SourceText {
  fileprivate func beginsObservers(_ position: Int) -> Bool {
    isWord(position + 1, "didSet") || isWord(position + 1, "willSet")
  }
}
