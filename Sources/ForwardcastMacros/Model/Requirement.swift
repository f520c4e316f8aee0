// Requirement.swift: a member that is carried, with its selectors, keys and isolation.

/// On which actor a member runs.
enum Isolation: Equatable {
  case nonisolated
  case mainActor
  /// A global actor, as its attribute names it.
  case global(String)
  /// The actor that the member belongs to.
  case instance
  /// Whatever a refined protocol says, which the text does not tell: the compiler gives it to class and functions.
  case inherited

  /// What is on a global actor of that name.
  init(actor: String) { self = actor == "MainActor" ? .mainActor : .global(actor) }

  /// What the words before a declaration say, if anything.
  init?(_ modifiers: [Modifier], _ attributes: [Attribute]) {
    if modifiers.contains(where: { $0.word == "nonisolated" }) {
      self = .nonisolated
    } else if let attribute = attributes.first(where: \.isGlobalActor) {
      self = attribute.shortName == "MainActor" ? .mainActor : .global(attribute.name)
    } else {
      return nil
    }
  }

  /// The global actor before a declaration, with a blank; nothing where there is none.
  var attribute: String {
    switch self {
    case .mainActor: "@MainActor "
    case .global(let actor): "@\(actor) "
    default: ""
    }
  }
}

/// One message of a protocol or a receiver: a method, a getter or a setter.
struct Entry {
  enum Role { case method, getter, setter }

  let role: Role
  let member: Member
  let selector: String
  var key = ""

  /// The words that name the key where the first one is not enough.
  var words: [String] {
    if let stated = member.statedSelector, !stated.isEmpty {
      let stated = role == .setter ? SelectorName.setter(stated) : stated
      return stated.split(separator: ":").map(String.init)
    }
    let labels = member.parameters.compactMap(\.label).map(\.withoutBackticks)
    return [base] + labels
  }

  /// The name in Swift, behind the key where that is not its base name; `nil` where the selector tells both.
  var swiftName: String? {
    guard member.statedSelector == nil, role != .setter else { return nil }
    let before = key == member.plainName ? "" : "\(key)="
    switch member.kind {
    case .property: return before + member.plainName
    case .method:
      let labels = member.parameters.map { $0.label?.withoutBackticks }
      guard !before.isEmpty || labels.first ?? nil != nil else { return nil }
      return "\(before)\(member.plainName)(\(labels.map { "\($0 ?? "_"):" }.joined()))"
    case .subscripted, .other: return nil
    }
  }

  var base: String { role == .setter ? "set" + ObjectiveCName.capitalized(member.plainName) : member.plainName }
}

extension Member {
  /// The selector that `@Message` states.
  var statedSelector: String? { attribute("Message")?.literal }

  /// The messages of the member with their selectors.
  var entries: [Entry] {
    if case .other = kind { return [] }
    let labels = parameters.map { $0.label?.withoutBackticks }
    let selector = statedSelector ?? SelectorName.method(plainName, labels)
    let entry = Entry(role: kind == .method ? .method : .getter, member: self, selector: selector)
    guard isSettable else { return [entry] }
    let setter =
      kind == .property
      ? SelectorName.setter(selector)
      : statedSelector.map(SelectorName.subscriptSetter) ?? SelectorName.method("setSubscript", [nil] + labels)
    return [entry, Entry(role: .setter, member: self, selector: setter)]
  }
}

extension SelectorName {
  /// The setter's selector of a subscript whose getter was named by the user: the new value comes first.
  static func subscriptSetter(_ getter: String) -> String {
    let first = getter.prefix { $0 != ":" }
    return "set\(ObjectiveCName.capitalized(String(first))):\(getter.dropFirst(first.count))"
  }
}

/// What a writer goes through: messages and lines of `#if`.
enum EntryItem {
  case entry(Entry)
  case directive(String)

  var entry: Entry? { if case .entry(let entry) = self { entry } else { nil } }
}

extension TypeDeclaration {
  /// Messages of the declaration in their places between the lines of `#if`.
  func items(of entries: [Entry]) -> [EntryItem] {
    let entries = Dictionary(grouping: entries, by: \.member.positions)
    return items.flatMap { item -> [EntryItem] in
      switch item {
      case .directive(let line): [.directive(line)]
      case .member(let member): (entries[member.positions] ?? []).map(EntryItem.entry)
      }
    }
  }
}

extension Array where Element == Entry {
  /// Gives each message the name of its key: its base name where only one has it, else all parts in camel case.
  mutating func nameKeys() {
    var taken: [String: [Member]] = [:]
    func isFree(_ name: String, for member: Member) -> Bool {
      !(taken[name] ?? []).contains { $0.canStandBeside(member) }
    }
    let bases = map { SelectorName.key($0.base) }
    var namesakes: [String: [Int]] = [:]
    for (index, base) in bases.enumerated() { namesakes[base, default: []].append(index) }
    for index in indices {
      let member = self[index].member
      let isAlone = !(namesakes[bases[index]] ?? []).contains { other in
        other != index && self[other].member.canStandBeside(member)
      }
      let camel = SelectorName.key(SelectorName.camelCase(self[index].words))
      var candidates = isAlone ? [bases[index]] : []
      candidates += [camel, "\(camel)\(self[index].selector.utf8.count { $0 == UInt8(ascii: ":") })"]
      var number = 2
      while let first = candidates.first, !isFree(first, for: member) {
        candidates.removeFirst()
        if candidates.isEmpty {
          candidates.append("\(camel)_\(number)")
          number += 1
        }
      }
      self[index].key = candidates[0]
      taken[candidates[0], default: []].append(member)
    }
  }
}

extension SelectorName {
  /// A name for a key that Swift takes as the name of a static property.
  static func key(_ name: String) -> String {
    let letters = String(String.UnicodeScalarView(name.unicodeScalars.filter(\.continuesSwiftIdentifier)))
    guard let first = letters.unicodeScalars.first else { return "message" }
    let name = first.beginsSwiftIdentifier ? letters : "message" + letters
    if name == "_" { return "Message" }
    return ["Type", "Protocol", "self", "Self", "init"].contains(name) ? name + "Message" : name
  }
}

extension String {
  var withoutBackticks: String { hasPrefix("`") && count > 1 ? String(dropFirst().dropLast()) : self }

  /// The name as a label of an argument, where hardly any word needs backticks.
  var asLabel: String {
    let plain = withoutBackticks
    return ["inout", "var", "let", "_"].contains(plain) || !plain.unicodeScalars.allSatisfy(\.continuesSwiftIdentifier)
      ? "`\(plain)`" : plain
  }

  /// The name in backticks where Swift wants them.
  var quotedIfKeyword: String { SwiftKeywords.reserved.contains(self) ? "`\(self)`" : self }
}

/// Words that cannot stand as names without backticks.
enum SwiftKeywords {
  static let reserved: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
    "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else",
    "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as",
    "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "_",
  ]
}
