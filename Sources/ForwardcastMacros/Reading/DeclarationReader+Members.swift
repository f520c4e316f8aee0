// DeclarationReader+Members.swift: reads the members between the braces.

extension DeclarationReader {
  /// Reads the members up to the closing brace.
  mutating func members(before closing: Int, inProtocol: Bool) -> [Item<Member>] {
    var items: [Item<Member>] = []
    while position < closing {
      let start = position
      if items.count >= Self.maximumMembers {
        refuse("there are more than \(Self.maximumMembers) members", start..<start + 1)
        break
      }
      if source.isMark(position, ";") {
        position += 1
      } else if source[position].kind == .directive {
        if let line = directive(before: closing) { items.append(.directive(line)) }
      } else {
        items += member(before: closing, inProtocol: inProtocol).map(Item.element)
      }
      if position == start { position += 1 }
    }
    position = closing + 1
    return items
  }

  /// The line of an `#if`, `#elseif`, `#else` or `#endif`; other directives are skipped.
  private mutating func directive(before closing: Int) -> String? {
    let start = position
    position += 1
    while position < closing, !source[position].beginsLine { position = min(source.after(position), closing) }
    switch source.text(start) {
    case "#if":
      if branches.count == Self.maximumConditions {
        refuse("conditions are nested too deeply here", start..<start + 1)
        position = closing
        return nil
      }
      branches.append(Branch(group: groups, index: 0))
      groups += 1
    case "#elseif", "#else":
      guard let last = branches.popLast() else { return nil }
      branches.append(Branch(group: last.group, index: last.index + 1))
    case "#endif":
      guard branches.popLast() != nil else { return nil }
      position = start + 1
    default: return nil
    }
    return source.line(start..<position)
  }

  private mutating func member(before closing: Int, inProtocol: Bool) -> [Member] {
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
    case "func": method(&member, before: closing)
    case "var", "let": return properties(member, before: closing, inProtocol: inProtocol)
    case "subscript": subscripted(&member, before: closing)
    case _ where Self.introducers.contains(word):
      member.kind = .other(word)
      member.name = word
      if word == "associatedtype" || word == "typealias" {
        namedType(&member, before: closing)
      } else {
        skipOther(before: closing)
      }
    default:
      if position < closing {
        refuse("this cannot be read as a member", position..<position + 1)
        position = min(source.after(position), closing)
        while position < closing, !isMemberStart(position) { position = min(source.after(position), closing) }
      }
      return []
    }
    member.positions = start..<position
    return [member]
  }

  /// `associatedtype Name: Constraint = Default where Requirements`, or a `typealias`.
  private mutating func namedType(_ member: inout Member, before closing: Int) {
    let start = position + 1
    skipOther(before: closing)
    guard source[start].isWord, start < position else { return }
    let isWhere = { source.isWord($0, "where") }
    let requirements = (start..<position).first(where: isWhere)
    let head = start + 1..<max(requirements ?? position, start + 1)
    let end = head.first { source.isMark($0, "=") } ?? head.upperBound
    func text(_ positions: Range<Int>) -> String? { positions.isEmpty ? nil : source.line(positions) }
    member.namedType = NamedType(
      name: source.text(start), position: start,
      constraint: source.isMark(start + 1, ":") ? composition(start + 2..<max(end, start + 2)) : nil,
      hasDefault: end < head.upperBound, requirements: requirements.flatMap { text($0 + 1..<max(position, $0 + 1)) })
  }

  /// The composition of types that commas separate.
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
  private mutating func skipOther(before closing: Int) {
    position += 1
    var hasBody = false
    while position < closing, !source.isMark(position, ";"), !isMemberStart(position) {
      if hasBody, source[position].beginsLine, source[position].isWord { break }
      hasBody = hasBody || source.isMark(position, "{")
      position = min(source.after(position), closing)
    }
  }

  private mutating func method(_ member: inout Member, before closing: Int) {
    position += 1
    let nameStart = position
    if source[position].isWord {
      member.name = source.text(position)
      member.isRawName = source[position].kind == .quotedWord(isRaw: true)
      position += 1
    } else {
      while position < closing, source[position].kind == .mark, !source.isMark(position, "("),
        position == nameStart || source.isAdjacent(position)
      {
        position += 1
      }
      member.name = source.text(nameStart..<position)
      member.kind = .other("operator")
    }
    member.namePositions = nameStart..<max(position, nameStart + 1)
    signature(&member, before: closing)
    let requirements = source.isWord(position, "where") ? position + 1 : nil
    whereClause(&member, before: closing)
    if source.isMark(position, "{"), position < closing { position = min(source.after(position), closing) }
    openGenerics(&member, requirements.map { $0..<max($0, position) } ?? position..<position)
  }

  /// Reads `func a<T: P>(_ x: T)` as `func a(_ x: some P)`, if each type is that of one parameter and is used nowhere else.
  ///
  /// - Parameter requirements: the tokens after `where`.
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

  /// Reads what follows the name of a method, or `subscript`, up to a `where`.
  private mutating func signature(_ member: inout Member, before closing: Int) {
    let isMethod = member.kind != .subscripted
    member.generics = generics()
    if source.isMark(position, "("), source.closing(position) != nil {
      member.parameters = parameters(labelled: isMethod)
    } else {
      let name = isMethod ? "'\(member.name)'" : "the subscript"
      refuse("the parameters of \(name) cannot be read", member.namePositions)
    }
    if isMethod { effects(&member) }
    if source.isMark(position, "->") {
      position += 1
      result(&member, before: closing)
    }
  }

  private mutating func effects(_ member: inout Member) {
    while true {
      if source.isWord(position, "async") || source.isWord(position, "reasync") {
        member.effects.isAsync = true
        position += 1
      } else if source.isWord(position, "throws") {
        position += 1
        member.effects.throwing = .untyped
        if source.isMark(position, "("), let closing = source.closing(position) {
          let type = source.line(position + 1..<closing)
          if type == "Never" || type == "Swift.Never" {
            member.effects.throwing = .never
          } else if type != "any Error" && type != "any Swift.Error" {
            member.effects.throwing = .typed(type)
          }
          position = closing + 1
        }
      } else if source.isWord(position, "rethrows") {
        member.rethrowsPosition = position
        position += 1
      } else {
        return
      }
    }
  }

  private mutating func result(_ member: inout Member, before closing: Int) {
    guard let behind = source.endOfType(position, before: closing) else {
      refuse("the type of '\(member.name)' cannot be read", position..<position + 1)
      return
    }
    member.type = source.typeText(position..<behind)
    position = behind
  }

  private mutating func whereClause(_ member: inout Member, before closing: Int) {
    guard source.isWord(position, "where") else { return }
    let start = position
    while position < closing, !source.isMark(position, "{"), !source.isMark(position, ";"), !isMemberStart(position) {
      position = min(source.after(position), closing)
    }
    if member.generics == nil { member.generics = start..<position }
  }

  /// Reads a parameter list and moves behind it.
  ///
  /// - Parameter labelled: whether a single name is also the label, as in methods and unlike in subscripts.
  private mutating func parameters(labelled: Bool) -> [Parameter] {
    guard let closing = source.closing(position) else { return [] }
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
      let label = names.count == 2 || labelled ? first : "_"
      found.append(
        Parameter(
          label: label == "_" ? nil : label, name: names.last ?? first,
          attributes: attributes.map { source.line($0.positions) }.joined(separator: " "), type: type,
          isVariadic: isVariadic, positions: start..<position))
      while position < closing, !source.isMark(position, ",") { position = min(source.after(position), closing) }
      position += 1
    }
    return found
  }

  private mutating func subscripted(_ member: inout Member, before closing: Int) {
    member.kind = .subscripted
    member.name = "subscript"
    member.namePositions = position..<position + 1
    position += 1
    signature(&member, before: closing)
    whereClause(&member, before: closing)
    accessors(&member, before: closing, isStored: false)
  }

  private mutating func properties(_ member: Member, before closing: Int, inProtocol: Bool) -> [Member] {
    let isConstant = source.isWord(position, "let")
    let start = member.positions.lowerBound
    var found: [Member] = []
    repeat {
      position += 1
      var next = member
      next.kind = .property
      next.isConstant = isConstant
      next.namePositions = position..<position + 1
      guard source[position].isWord else {
        // A pattern such as `var (a, b) = …` cannot be a message.
        next.kind = .other("pattern")
        next.name = source.text(position)
        skipOther(before: closing)
        next.positions = start..<position
        return found + [next]
      }
      next.name = source.text(position)
      next.isRawName = source[position].kind == .quotedWord(isRaw: true)
      position += 1
      if source.isMark(position, ":") {
        position += 1
        result(&next, before: closing)
      }
      var isStored = !inProtocol
      if source.isMark(position, "=") {
        let start = position + 1
        initialValue(before: closing)
        if next.type == nil { next.type = source.literalType(start..<position) }
      } else if source.isMark(position, "{") {
        isStored = false
      }
      accessors(&next, before: closing, isStored: isStored && !isConstant)
      next.positions = start..<position
      found.append(next)
    } while position < closing && source.isMark(position, ",")
    return found
  }

  /// Skips `= expression`.
  private mutating func initialValue(before closing: Int) {
    position += 1
    while position < closing, !source.isMark(position, ","), !source.isMark(position, ";"), !isMemberStart(position) {
      if source.isMark(position, "{"), beginsObservers(position) { return }
      position = min(source.after(position), closing)
    }
  }

  private func beginsObservers(_ position: Int) -> Bool {
    source.isWord(position + 1, "didSet") || source.isWord(position + 1, "willSet")
  }

  /// Reads `{ get set }`, or the accessors with bodies of a class.
  private mutating func accessors(_ member: inout Member, before closing: Int, isStored: Bool) {
    guard source.isMark(position, "{"), let end = source.closing(position) else {
      member.isSettable = isStored
      return
    }
    if isStored || beginsObservers(position) { member.isSettable = true }
    position += 1
    while position < end {
      if source.isMark(position, "@") {
        position = min(source.endOfAttribute(position), end)
        continue
      }
      let word = source[position].kind == .word ? source.text(position) : ""
      switch word {
      case "get", "_read", "read":
        position += 1
        var getter = Member(kind: .property, name: "", namePositions: 0..<0, positions: 0..<0)
        effects(&getter)
        member.effects = getter.effects
        if source.isMark(position, "{") { position = min(source.after(position), end) }
      case "nonmutating":
        position += 1
        if source.isWord(position, "set") { member.setterIsNonmutating = true }
      case "set", "_modify", "modify", "mutating", "didSet", "willSet", "unsafeAddress", "init", "borrow", "mutate":
        position += 1
        if ["set", "_modify", "modify"].contains(word) { member.isSettable = true }
        if source.isMark(position, "(") { position = min(source.after(position), end) }
        if source.isMark(position, "{") { position = min(source.after(position), end) }
      default:
        // The body of a getter without `get`.
        position = end
      }
    }
    position = end + 1
  }
}
