// TypeDeclaration+Messages.swift: which members of a class are messages, and which cannot be.

extension TypeDeclaration {
  /// Chooses the messages of a class. A marked member that cannot be one is an error, of all members a warning.
  func messages(takesAll: Bool, _ settings: ModuleSettings) -> (entries: [Entry], problems: [Problem]) {
    var (entries, problems) = ([Entry](), [Problem]())
    for member in members {
      let mark = member.attribute("Message")
      if let answer = member.attribute("Answer") {
        let message = "'@Answer' says nothing in a receiver: who asks many says how answers become one"
        problems.append(Problem(severity: .warning, message: message, offsets: source.offsets(answer.positions)))
      }
      guard mark != nil || takesAll && member.isOpenToAll else { continue }
      let found = MemberChecker.problems(of: member, in: self, settings)
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
}

extension Member {
  fileprivate var isOpenToAll: Bool {
    if case .other = kind { return false }
    let hidden: Set<String> = ["private", "fileprivate", "static", "class"]
    return !modifiers.contains { hidden.contains($0.word) && $0.detail == nil }
  }

  /// Whether only the class itself may call the setter.
  fileprivate var hasOwnSetter: Bool {
    modifiers.contains { $0.detail == "set" && ["private", "fileprivate"].contains($0.word) }
  }
}
