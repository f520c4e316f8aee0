// ObjectiveCName.swift: joins a base name and a label. Compiled into the macro program too.

/// Joins a base name and a first label as the compiler does. Like the compiler, it knows only ASCII
/// capitals.
enum ObjectiveCName {
  static func joined(_ base: String, _ label: String) -> String {
    if label.isEmpty { return base }
    let needsWith = !isPreposition(firstWord(Array(label.utf8))) && !isPreposition(lastWord(Array(base.utf8)))
    return base + (needsWith ? "With" : "") + capitalized(label)
  }

  static func capitalized(_ word: String) -> String {
    var bytes = Array(word.utf8)
    guard let first = bytes.first, isLower(first) else { return word }
    bytes[0] = first - 0x20
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The first word: `to` of `toURL`, `URL` of `URLString`, `at` of `at_x`. The last of several
  /// capitals begins the next word if a small letter follows.
  private static func firstWord(_ text: [UInt8]) -> ArraySlice<UInt8> {
    var end = 0
    while end < text.count, isUpper(text[end]) { end += 1 }
    if end > 1 { return text[..<(end < text.count && isLower(text[end]) ? end - 1 : end)] }
    while end < text.count, isInside(text[end]) { end += 1 }
    return text[..<end]
  }

  /// The last word, split by the rules of ``firstWord(_:)``.
  private static func lastWord(_ text: [UInt8]) -> ArraySlice<UInt8> {
    var start = text.count
    while start > 0, isInside(text[start - 1]) { start -= 1 }
    if start == text.count {
      while start > 0, isUpper(text[start - 1]) { start -= 1 }
    } else if start > 0, isLower(text[start]), isUpper(text[start - 1]) {
      start -= 1
    }
    return text[start...]
  }

  private static func isInside(_ byte: UInt8) -> Bool { !isUpper(byte) && byte != 0x5F }
  private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
  private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private static func isPreposition(_ word: ArraySlice<UInt8>) -> Bool {
    word.count <= 9 && prepositions.contains(String(decoding: word, as: UTF8.self).lowercased())
  }

  /// The prepositions that the compiler knows.
  private static let prepositions = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from", "given",
    "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since", "to", "until",
    "using", "via", "when", "with", "within",
  ]
}
