// SelectorChecker.swift: selectors that two messages share.
// Part of the macro program: Checking. See DESIGN.md, "The attributes".

/// Looks at all messages of a declaration together.
struct SelectorChecker {
  let source: SourceText

  func problems(of entries: [Entry]) -> [Problem] {
    var problems: [Problem] = []
    var known: [String: [Entry]] = [:]
    for entry in entries {
      let member = entry.member
      func refuse(_ message: String) {
        problems.append(Problem(message: message, offsets: source.offsets(member.namePositions)))
      }
      if entry.selector.utf8.count > SelectorName.maximumLength {
        refuse(
          "the selector of '\(member.name)' is longer than \(SelectorName.maximumLength) bytes; name it with '@Message(\"…\")'"
        )
      }
      if let other = known[entry.selector]?.first(where: { $0.member.canStandBeside(member) }) {
        let colons = String(repeating: "name:", count: member.parameters.count)
        refuse(
          "'\(entry.selector)' is already the selector of '\(other.member.name)'; name this one with '@Message(\"\(colons.isEmpty ? "name" : colons)\")'"
        )
      }
      known[entry.selector, default: []].append(entry)
    }
    return problems
  }
}
