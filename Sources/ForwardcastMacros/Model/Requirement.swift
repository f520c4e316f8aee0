// Requirement.swift: a forwarded member's messages, with selectors, keys and isolation.

enum Isolation: Equatable {
  case nonisolated
  case mainActor
  /// A global actor, as its attribute names it.
  case global(String)
  case instance
  /// The isolation of a refined protocol, which the compiler infers and the macro cannot see.
  case inherited

  init(actor: String) { self = actor == "MainActor" ? .mainActor : .global(actor) }

  init?(_ modifiers: [Modifier], _ attributes: [Attribute]) {
    if modifiers.contains(where: { $0.word == "nonisolated" }) {
      self = .nonisolated
    } else if let attribute = attributes.first(where: \.isGlobalActor) {
      self = attribute.shortName == "MainActor" ? .mainActor : .global(attribute.name)
    } else {
      return nil
    }
  }

  /// The attribute of the global actor and a space; empty if there is none.
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
  /// A shorter name of the key, if no other message has it.
  var alias: String?

  var words: [String] {
    if let stated = member.statedSelector {
      let stated = role == .setter ? SelectorName.setter(stated) : stated
      return stated.split(separator: ":").map(String.init)
    }
    let labels = member.parameters.compactMap(\.label).map(\.withoutBackticks)
    return [base] + labels
  }

  /// The Swift name, as in `key=move(to:)`, or `move(to:)` if the shortest key is `move`. `nil` if
  /// the selector implies the name, and for setters, subscripts and stated selectors.
  var swiftName: String? {
    guard member.statedSelector == nil, role != .setter else { return nil }
    let key = alias ?? key
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

  func aliasLines(_ availability: [String], _ head: String, _ type: String) -> [String] {
    alias.map { availability + ["\(head)static var \($0.quotedIfKeyword): \(type) { \(key.quotedIfKeyword) }"] } ?? []
  }

  var isTooLong: Bool { selector.utf8.count > SelectorName.maximumLength }

  var base: String { role == .setter ? "set" + ObjectiveCName.capitalized(member.plainName) : member.plainName }
}

extension Member {
  var statedSelector: String? { attribute("Message")?.literal }

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

extension TypeDeclaration {
  /// The messages in the order of their members, with the `#if` lines of the members, and with
  /// lines for members that are unavailable on some platforms.
  func items(of entries: [Entry]) -> [Item<Entry>] {
    let entries = Dictionary(grouping: entries, by: \.member.positions)
    return items.flatMap { item -> [Item<Entry>] in
      switch item {
      case .directive(let line): return [.directive(line)]
      case .element(let member):
        guard let entries = entries[member.positions] else { return [] }
        guard let condition = source.condition(of: member) else { return entries.map(Item.element) }
        return [.directive("#if \(condition)")] + entries.map(Item.element) + [.directive("#endif")]
      }
    }
  }
}

extension Array where Element == Entry {
  /// Names each key after the whole Swift name in camel case, so that adding a message changes no
  /// other key. The name without labels is an alias while only one message has it.
  mutating func nameKeys() {
    var taken: [String: [Member]] = [:]
    /// The next numbers to try. Members of the same branches use all lower numbers.
    var numbers: [[Branch]: [String: Int]] = [:]
    func isFree(_ name: String, for member: Member) -> Bool {
      !(taken[name] ?? []).contains { $0.canStandBeside(member) }
    }
    let bases = map { SelectorName.key($0.base) }
    let names = map { SelectorName.key(SelectorName.camelCase($0.words)) }
    // Names without labels come first. A name with labels that spells the same key gets a number.
    for index in indices.filter({ names[$0] == bases[$0] }) + indices.filter({ names[$0] != bases[$0] }) {
      let (member, name) = (self[index].member, names[index])
      var key = name
      if !isFree(key, for: member) { key += "\(self[index].selector.utf8.count { $0 == UInt8(ascii: ":") })" }
      while !isFree(key, for: member) {
        let number = numbers[member.branches]?[name] ?? 2
        key = "\(name)_\(number)"
        numbers[member.branches, default: [:]][name] = number + 1
      }
      self[index].key = key
      taken[key, default: []].append(member)
    }
    let namesakes = Dictionary(grouping: indices) { bases[$0] }
    for index in indices where self[index].key != bases[index] {
      let member = self[index].member
      let isAlone = !(namesakes[bases[index]] ?? []).contains { other in
        other != index && self[other].member.canStandBeside(member)
      }
      if isAlone, isFree(bases[index], for: member) { self[index].alias = bases[index] }
    }
  }
}

extension String {
  var withoutBackticks: String { hasPrefix("`") && count > 1 ? String(dropFirst().dropLast()) : self }

  /// The name as an argument label; few keywords need backticks in a label.
  var asLabel: String {
    let plain = withoutBackticks
    let isRaw =
      plain.unicodeScalars.first?.beginsSwiftIdentifier != true
      || !plain.unicodeScalars.allSatisfy(\.continuesSwiftIdentifier)
    return isRaw || ["inout", "var", "let", "_"].contains(plain) ? "`\(plain)`" : plain
  }

  var quotedIfKeyword: String { SwiftKeywords.reserved.contains(self) ? "`\(self)`" : self }
}

/// Words that are names only in backticks.
enum SwiftKeywords {
  static let reserved: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
    "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else",
    "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as",
    "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "_",
  ]
}
