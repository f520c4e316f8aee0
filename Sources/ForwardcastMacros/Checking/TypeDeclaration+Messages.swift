// TypeDeclaration+Messages.swift: the messages of a class, and selectors that clash.

extension TypeDeclaration {
  /// The messages of a class. A member that is marked `@Message` but cannot be a message causes an
  /// error. Without the mark, it causes a warning.
  func messages(takesAll: Bool, _ settings: ModuleSettings) -> (entries: [Entry], problems: [Problem]) {
    var (entries, problems) = ([Entry](), [Problem]())
    for member in members {
      let mark = member.attributes.first { source.mayState("Message", $0) }
      if let answer = member.attribute("Answer") {
        let message = "'@Answer' has no effect in a receiver; remove it"
        problems.append(Problem(severity: .warning, message: message, offsets: source.offsets(answer.positions)))
      }
      guard mark != nil || takesAll && member.isOpenToAll && !source.isUnavailable(member) else { continue }
      let found = MemberChecker(member, in: self, settings).problems
      if found.isEmpty {
        entries += member.entries.filter { $0.role != .setter || !member.hasOwnSetter }
      } else if mark != nil {
        problems += found
      } else {
        problems += found.map {
          Problem(severity: .warning, message: "'\(member.name)' is left out: \($0.message)", offsets: $0.offsets)
        }
      }
    }
    return (entries, problems + selectorProblems(of: entries))
  }

  // MARK: Selectors

  /// Problems of selectors that are too long or that two messages share.
  func selectorProblems(of entries: [Entry]) -> [Problem] {
    var problems: [Problem] = []
    var known: [String: [Entry]] = [:]
    var taken = Set(entries.map(\.selector))
    for entry in entries {
      let member = entry.member
      func refuse(_ message: String, fixes: [Problem.Fix] = []) {
        problems.append(Problem(message: message, offsets: source.offsets(member.namePositions), fixes: fixes))
      }
      if entry.isTooLong {
        refuse(
          "the selector of '\(member.name)' is longer than \(SelectorName.maximumLength) bytes; name it with '@Message(\"…\")'"
        )
      }
      if let other = known[entry.selector]?.first(where: { $0.member.canStandBeside(member) }) {
        let free = freeSelector(for: member, number: (known[entry.selector]?.count ?? 0) + 1, taken: &taken)
        refuse(
          "'\(entry.selector)' is already the selector of '\(other.member.name)'; name this one with '@Message(\"\(free)\")'",
          fixes: [fix(member, free)])
      }
      known[entry.selector, default: []].append(entry)
    }
    return problems
  }

  /// An unused selector: the member's selector plus a number or the type of the first argument.
  private func freeSelector(for member: Member, number: Int, taken: inout Set<String>) -> String {
    let getter = member.entries.first?.selector ?? ""
    let first = getter.prefix { $0 != ":" }
    let rest = getter.dropFirst(first.count)
    let type = String(
      String.UnicodeScalarView(
        (member.parameters.first?.type.keyed ?? "").unicodeScalars.filter(\.continuesSwiftIdentifier)))
    var number = number
    var name = type.isEmpty ? "\(first)\(number)" : first + ObjectiveCName.capitalized(type)
    func isTaken(_ name: String) -> Bool {
      taken.contains(name + rest) || member.isSettable && taken.contains(SelectorName.setter(name))
    }
    while isTaken(name) {
      name = "\(first)\(number)"
      number += 1
    }
    taken.insert(name + rest)
    return name + rest
  }

  private func fix(_ member: Member, _ selector: String) -> Problem.Fix {
    let title = "name it '\(selector)'"
    guard let attribute = member.attribute("Message") else {
      let start = source[member.positions.lowerBound].range.lowerBound
      return .init(title: title, offsets: start..<start, text: "@Message(\"\(selector)\") ")
    }
    guard let argument = attribute.arguments.first else {
      let end = source.offsets(attribute.namePositions).upperBound
      let attributeEnd = source.offsets(attribute.positions).upperBound
      return .init(title: title, offsets: end..<attributeEnd, text: "(\"\(selector)\")")
    }
    return .init(title: title, offsets: source.offsets(argument.value), text: "\"\(selector)\"")
  }
}

extension Member {
  fileprivate var isOpenToAll: Bool {
    if case .other = kind { return false }
    let hidden: Set<String> = ["private", "fileprivate", "static", "class"]
    return !modifiers.contains { hidden.contains($0.word) && $0.detail == nil }
  }

  fileprivate var hasOwnSetter: Bool {
    modifiers.contains { $0.detail == "set" && ["private", "fileprivate"].contains($0.word) }
  }
}
