// SwiftIdentifier.swift: the characters of a Swift identifier. Compiled into the macro program too.

extension Unicode.Scalar {
  /// True if a Swift identifier may begin with this scalar: *identifier-head* of [The Swift
  /// Programming Language, "Summary of the Grammar"][grammar].
  ///
  /// [grammar]: https://docs.swift.org/swift-book/documentation/the-swift-programming-language/summaryofthegrammar
  var beginsSwiftIdentifier: Bool {
    switch value {
    case 0x41...0x5A, 0x61...0x7A, 0x5F: true
    case 0...0x7F: false
    case 0xA8, 0xAA, 0xAD, 0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE: true
    case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x02FF: true
    case 0x0370...0x167F, 0x1681...0x180D, 0x180F...0x1DBF, 0x1E00...0x1FFF: true
    case 0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040, 0x2054, 0x2060...0x20CF: true
    case 0x2100...0x218F, 0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF: true
    case 0x3004...0x3007, 0x3021...0x302F, 0x3031...0xD7FF: true
    case 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F, 0xFE30...0xFE44, 0xFE47...0xFFFD: true
    case 0x1_0000...0xE_FFFF: value & 0xFFFF <= 0xFFFD
    default: false
    }
  }

  /// True if a Swift identifier may continue with this scalar (*identifier-character*).
  var continuesSwiftIdentifier: Bool {
    switch value {
    case 0x30...0x39, 0x0300...0x036F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    default: beginsSwiftIdentifier
    }
  }

  /// True if a selector may begin with this scalar: a scalar that begins a Swift identifier, except
  /// U+037E and U+1FEF, which are canonically equivalent to `;` and to the backtick.
  var beginsIdentifier: Bool { beginsSwiftIdentifier && !isPunctuationElsewhere }

  var continuesIdentifier: Bool { continuesSwiftIdentifier && !isPunctuationElsewhere }

  private var isPunctuationElsewhere: Bool { value == 0x037E || value == 0x1FEF }
}
