// SelectorName.swift: selectors and keys of Swift names.

/// Forwardcast's selector grammar, for the macros, which cannot link Forwardcast.
enum SelectorName {
  static let maximumLength = 1024

  /// The selector of a method; a label is `nil` for an unlabeled parameter.
  static func method(_ base: String, _ labels: [String?]) -> String {
    guard let first = labels.first else { return base }
    return ObjectiveCName.joined(base, first ?? "") + ":" + labels.dropFirst().map { ($0 ?? "") + ":" }.joined()
  }

  static func setter(_ name: String) -> String { "set" + ObjectiveCName.capitalized(name) + ":" }

  /// The number of colons of a selector; `nil` if the text is not a selector.
  static func numberOfArguments(_ name: String) -> Int? {
    guard !name.isEmpty, name.utf8.count <= maximumLength else { return nil }
    var (colons, isAtStart) = (0, true)
    for scalar in name.unicodeScalars {
      let isColon = scalar == ":"
      guard isColon || (isAtStart ? scalar.beginsIdentifier : scalar.continuesIdentifier) else { return nil }
      if isColon { colons += 1 }
      isAtStart = isColon
    }
    return colons > 0 && !isAtStart ? nil : colons
  }

  static func camelCase(_ words: [String]) -> String {
    let words = words.filter { !$0.isEmpty }
    guard let first = words.first else { return "" }
    return first + words.dropFirst().map(ObjectiveCName.capitalized).joined()
  }

  /// A subscript setter's selector, derived from the getter's stated selector. The new value is the
  /// first argument.
  static func subscriptSetter(_ getter: String) -> String {
    let first = getter.prefix { $0 != ":" }
    return "set\(ObjectiveCName.capitalized(String(first))):\(getter.dropFirst(first.count))"
  }

  /// A valid name of a static property, for a key.
  static func key(_ name: String) -> String {
    let letters = String(String.UnicodeScalarView(name.unicodeScalars.filter(\.continuesSwiftIdentifier)))
    guard let first = letters.unicodeScalars.first else { return "message" }
    let name = first.beginsSwiftIdentifier ? letters : "message" + letters
    if name == "_" { return "Message" }
    return ["Type", "Protocol", "self", "Self", "init"].contains(name) ? name + "Message" : name
  }
}
