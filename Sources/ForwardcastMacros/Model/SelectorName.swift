// SelectorName.swift: selectors of Swift names, and whether a text is one.

/// The library's rule for selectors, for a program that cannot link the library. How words are joined is compiled into both.
enum SelectorName {
  static let maximumLength = 1024

  /// The selector of a method of that base name and those labels; `nil` for an unlabelled parameter.
  static func method(_ base: String, _ labels: [String?]) -> String {
    guard let first = labels.first else { return base }
    return ObjectiveCName.joined(base, first ?? "") + ":" + labels.dropFirst().map { ($0 ?? "") + ":" }.joined()
  }

  /// The selector of a setter.
  static func setter(_ name: String) -> String { "set" + ObjectiveCName.capitalized(name) + ":" }

  /// How many colons a selector has; `nil` when the text is none.
  static func numberOfArguments(_ name: String) -> Int? {
    guard !name.isEmpty, name.utf8.count <= maximumLength else { return nil }
    var (colons, isAtStart, isOpen) = (0, true, false)
    for scalar in name.unicodeScalars {
      if scalar == ":" {
        colons += 1
        isAtStart = true
        isOpen = false
      } else {
        guard isAtStart ? scalar.beginsIdentifier : scalar.continuesIdentifier else { return nil }
        isAtStart = false
        isOpen = true
      }
    }
    return colons > 0 && isOpen ? nil : colons
  }

  /// The parts of a selector as one word in camel case.
  static func camelCase(_ words: [String]) -> String {
    let words = words.filter { !$0.isEmpty }
    guard let first = words.first else { return "" }
    return first + words.dropFirst().map(ObjectiveCName.capitalized).joined()
  }
}
