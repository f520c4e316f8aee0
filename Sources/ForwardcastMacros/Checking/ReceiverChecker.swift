// ReceiverChecker.swift: which members of a class are messages, and which cannot be.

/// Chooses the messages of a class. A marked member that cannot be one is an error, of all members a warning.
struct ReceiverChecker {
  let declaration: TypeDeclaration
  let source: SourceText
  let settings: ModuleSettings
  let takesAll: Bool
  private(set) var problems: [Problem] = []
  private(set) var entries: [Entry] = []

  init(_ declaration: TypeDeclaration, source: SourceText, settings: ModuleSettings, takesAll: Bool) {
    (self.declaration, self.source, self.settings, self.takesAll) = (declaration, source, settings, takesAll)
  }

  mutating func check() {
    for member in declaration.members {
      let mark = member.attribute("Message")
      if let answer = member.attribute("Answer") {
        let message = "'@Answer' says nothing in a receiver: who asks many says how answers become one"
        problems.append(Problem(severity: .warning, message: message, offsets: source.offsets(answer.positions)))
      }
      guard mark != nil || takesAll && isOpenToAll(member) else { continue }
      var checker = MemberChecker(member, in: declaration, source: source, settings: settings)
      checker.check()
      if checker.problems.isEmpty {
        entries += reachable(member.entries)
      } else if mark != nil {
        problems += checker.problems
      } else {
        problems += checker.problems.map {
          Problem(severity: .warning, message: "'\(member.name)' is left out: \($0.message)", offsets: $0.offsets)
        }
      }
    }
    problems += SelectorChecker(source: source).problems(of: entries)
  }

  private func isOpenToAll(_ member: Member) -> Bool {
    if case .other = member.kind { return false }
    let hidden: Set<String> = ["private", "fileprivate", "static", "class"]
    return !member.modifiers.contains { hidden.contains($0.word) && $0.detail == nil }
  }

  /// Without a setter that only the class itself may call.
  private func reachable(_ entries: [Entry]) -> [Entry] {
    entries.filter { entry in
      guard entry.role == .setter else { return true }
      return !entry.member.modifiers.contains { $0.detail == "set" && ["private", "fileprivate"].contains($0.word) }
    }
  }
}
