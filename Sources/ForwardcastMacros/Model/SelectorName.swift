// SelectorName.swift: selectors of Swift names, and whether a text is one.
// Part of the macro program: Model. See the article "How the attributes work".

/// The library's rule for selectors, for a program that cannot link the library. A test compares the two.
enum SelectorName {
  static let maximumLength = 1024

  /// The selector of a method of that base name and those labels; `nil` for an unlabelled parameter.
  static func method(_ base: String, _ labels: [String?]) -> String {
    guard let first = labels.first else { return base }
    return joined(base, first ?? "") + ":" + labels.dropFirst().map { ($0 ?? "") + ":" }.joined()
  }

  /// The selector of a setter.
  static func setter(_ name: String) -> String { "set" + capitalized(name) + ":" }

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
        guard isAtStart ? scalar.beginsSwiftIdentifier : scalar.continuesSwiftIdentifier, scalar.value != 0x037E,
          scalar.value != 0x1FEF
        else { return nil }
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
    return first + words.dropFirst().map(capitalized).joined()
  }

  static func joined(_ base: String, _ label: String) -> String {
    if label.isEmpty { return base }
    let needsWith = !isPreposition(firstWord(label)) && !isPreposition(lastWord(base))
    return base + (needsWith ? "With" : "") + capitalized(label)
  }

  static func capitalized(_ word: String) -> String {
    guard let first = word.utf8.first, isLower(first) else { return word }
    return String(UnicodeScalar(first - 0x20)) + String(String.UnicodeScalarView(word.unicodeScalars.dropFirst()))
  }

  private static func firstWord(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let capitals = bytes.prefix(while: isUpper)
    let rest = bytes[capitals.endIndex...]
    if capitals.count > 1 {
      return String(decoding: rest.first.map(isLower) == true ? capitals.dropLast() : capitals, as: UTF8.self)
    }
    return String(decoding: bytes[..<rest.prefix(while: isInside).endIndex], as: UTF8.self)
  }

  private static func lastWord(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let start = (bytes.lastIndex { !isInside($0) } ?? -1) + 1
    let tail = bytes[start...]
    let before = bytes[..<start]
    guard let first = tail.first else {
      return String(decoding: bytes[((bytes.lastIndex { !isUpper($0) } ?? -1) + 1)...], as: UTF8.self)
    }
    guard isLower(first), let capital = before.last, isUpper(capital) else {
      return String(decoding: tail, as: UTF8.self)
    }
    return String(decoding: bytes[(start - 1)...], as: UTF8.self)
  }

  private static func isInside(_ byte: UInt8) -> Bool { !isUpper(byte) && byte != 0x5F }
  private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
  private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private static func isPreposition(_ word: String) -> Bool {
    word.utf8.count <= 9 && prepositions.contains(word.lowercased())
  }

  private static let prepositions: Set<String> = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from", "given",
    "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since", "to", "until",
    "using", "via", "when", "with", "within",
  ]
}
