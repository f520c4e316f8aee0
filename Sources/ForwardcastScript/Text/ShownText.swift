// ShownText.swift: makes text from outside safe to show.

/// Shortens text from outside and escapes control characters, for errors, traces and prompts.
package enum ShownText {
  package static let limit = 1000

  /// `text` on one line, shortened, with escapes for control and direction characters.
  /// - Complexity: O(`limit`), however long the text is.
  package static func shown(_ text: some StringProtocol, limit: Int = limit, keepsTabs: Bool = false) -> String {
    var shown = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
      if index == limit { return shown + "…" }
      let isKept = keepsTabs && scalar == "\t"
      shown += (isKept ? nil : escape(scalar)) ?? String(scalar)
    }
    return shown
  }

  /// The escape of a control, direction, separator or tag character, or U+FEFF; otherwise `nil`.
  private static func escape(_ scalar: Unicode.Scalar) -> String? {
    switch scalar.value {
    case 0x0A: "\\n"
    case 0x09: "\\t"
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000..<0xE0080:
      "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    default: nil
    }
  }

  package static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

  /// The terminal columns of a character: two for a wide character, none for a combining mark.
  package static func width(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    var width = 0
    for scalar in character.unicodeScalars {
      if isWide(scalar) || scalar.value == 0xFE0F { return 2 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format, .control: break
      default: width = 1
      }
    }
    return width
  }

  /// True if the character is wide or full width (Unicode Annex 11), or an emoji that is a picture.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }
}

/// The part of a line around an error, and a caret for the line below.
package struct CaretExcerpt {
  private static let width = 160

  /// The part of the line, with `…` where it was cut.
  package let line: String
  /// Spaces, and the tabs of the line, up to the column, then the caret.
  package let caret: String

  /// Shows the line in `bounds`, which excludes its line break, and points at the byte at `offset`.
  /// - Complexity: O(1), however long the line is.
  package init(_ bytes: [UInt8], line bounds: Range<Int>, at offset: Int) {
    let (width, offset) = (CaretExcerpt.width, min(max(offset, bounds.lowerBound), bounds.upperBound))
    // A character takes at most four bytes.
    let near = bounds.clamped(to: offset - 4 * width - 4..<offset + 4 * width + 4)
    let left = String(decoding: bytes[near.lowerBound..<offset], as: UTF8.self).unicodeScalars
    let right = String(decoding: bytes[offset..<near.upperBound], as: UTF8.self).unicodeScalars
    let after = right.prefix(width - min(left.count, width / 2))
    let before = left.suffix(width - after.count)
    let start = (before.count < left.count ? "…" : "") + ShownText.shown(String(before), keepsTabs: true)
    line = start + ShownText.shown(String(after), keepsTabs: true) + (after.count < right.count ? "…" : "")
    caret = start.map { $0 == "\t" ? "\t" : String(repeating: " ", count: ShownText.width($0)) }.joined() + "^"
  }
}
