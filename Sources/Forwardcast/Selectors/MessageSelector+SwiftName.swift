// MessageSelector+SwiftName.swift: selectors from Swift names, as the compiler forms them.

extension MessageSelector {
  /// The selector that the compiler would give to a method, an initializer or a property of this Swift name.
  ///
  /// Reads what `#function` holds, or the text inside `#selector(…)`:
  ///
  ///     try MessageSelector(swiftName: "onAddMsg(_:msgData:)")   // onAddMsg:msgData:
  ///     try MessageSelector(swiftName: "insert(object:at:)")     // insertWithObject:at:
  ///     try MessageSelector(swiftName: "move(to:)")              // moveTo:
  ///     try MessageSelector(swiftName: "ping()")                 // ping
  ///
  /// The first label joins the base name, with a capital and, unless it begins with a preposition or the base
  /// name ends with one, after the word `With`. The other labels stay as they are. A name does not tell that a
  /// method is `throws` or `async`: nothing is added for that (`AndReturnError:`, `completionHandler:`).
  ///
  /// - Throws: ``MessageSelectorError`` with the offset into `swiftName`; so for operators, and for subscripts,
  ///   whose selector depends on the type of their index.
  /// - Complexity: O(*n*) in the length of `swiftName`; takes the name table's lock.
  public init(swiftName: String) throws(MessageSelectorError) {
    try self.init(Self.name(ofSwiftName: swiftName))
  }

  /// The name of that selector, which is not interned.
  package static func name(ofSwiftName swiftName: String) throws(MessageSelectorError) -> String {
    var reader = SwiftNameReader(swiftName)
    let name = try reader.selectorName()
    guard name.utf8.count <= maximumLength else {
      throw MessageSelectorError(.tooLong, in: swiftName, at: min(maximumLength, swiftName.utf8.count))
    }
    return name
  }
}

/// Reads `base` or `base(label:label:)`, each word an identifier, in backticks or not.
private struct SwiftNameReader {
  private let name: String
  private var rest: Substring.UnicodeScalarView
  private var offset = 0

  init(_ name: String) {
    self.name = name
    rest = Substring(name).unicodeScalars
  }

  mutating func selectorName() throws(MessageSelectorError) -> String {
    if rest.isEmpty { throw MessageSelectorError(.empty, in: name, at: 0) }
    let base = try word()
    guard let next = rest.first else { return base == "deinit" ? "dealloc" : base }
    guard next == "(" else { throw unexpected() }
    if base == "subscript" { throw MessageSelectorError(.subscripting, in: name, at: 0) }
    skip()
    var labels: [String] = []
    while rest.first != ")" {
      let label = try word()
      guard rest.first == ":" else { throw unexpected() }
      skip()
      labels.append(label == "_" ? "" : label)
    }
    skip()
    guard rest.isEmpty else { throw unexpected() }
    guard let first = labels.first else { return base }
    return ObjectiveCName.joined(base, first) + ":" + labels.dropFirst().map { $0 + ":" }.joined()
  }

  private mutating func word() throws(MessageSelectorError) -> String {
    let isQuoted = rest.first == "`"
    if isQuoted { skip() }
    guard rest.first?.beginsIdentifier == true else { throw unexpected() }
    var word = String.UnicodeScalarView()
    while let scalar = rest.first, scalar.continuesIdentifier {
      word.append(scalar)
      skip()
    }
    if isQuoted {
      guard rest.first == "`" else { throw unexpected() }
      skip()
    }
    return String(word)
  }

  private mutating func skip() {
    offset += UTF8.width(rest.removeFirst())
  }

  private func unexpected() -> MessageSelectorError {
    MessageSelectorError(rest.isEmpty ? .unexpectedEnd : .unexpectedCharacter, in: name, at: offset)
  }
}

/// How the compiler joins a base name and a first label. Words are found in ASCII, as it finds them.
private enum ObjectiveCName {
  static func joined(_ base: String, _ label: String) -> String {
    if label.isEmpty { return base }
    let needsWith = !isPreposition(firstWord(of: label)) && !isPreposition(lastWord(of: base))
    return base + (needsWith ? "With" : "") + capitalized(label)
  }

  private static func capitalized(_ word: String) -> String {
    guard let first = word.utf8.first, isLower(first) else { return word }
    return String(UnicodeScalar(first - 0x20)) + word.dropFirstScalar()
  }

  /// `to` of `toURL`, `URL` of `URLString`, `at` of `at_x`: a word ends before a capital that does not follow
  /// another, before the last of a row of capitals that a small letter follows, and before an underscore.
  private static func firstWord(of text: String) -> Substring.UTF8View {
    let bytes = text.utf8
    let capitals = bytes.prefix(while: isUpper)
    let rest = bytes[capitals.endIndex...]
    if capitals.count > 1 {
      return rest.first.map(isLower) == true ? capitals.dropLast() : capitals
    }
    return bytes[..<rest.prefix(while: isInside).endIndex]
  }

  /// The same from the end; a capital belongs to the small letter after it.
  private static func lastWord(of text: String) -> Substring.UTF8View {
    let bytes = text.utf8
    let tail = bytes.suffix(while: isInside)
    let before = bytes[..<tail.startIndex]
    guard let first = tail.first else { return bytes.suffix(while: isUpper) }
    guard isLower(first), let capital = before.last, isUpper(capital) else { return tail }
    return bytes[before.index(before: before.endIndex)...]
  }

  private static func isInside(_ byte: UInt8) -> Bool { !isUpper(byte) && byte != 0x5F }
  private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
  private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private static func isPreposition(_ word: Substring.UTF8View) -> Bool {
    guard word.count <= 9, let text = String(word) else { return false }
    return prepositions.contains(text.lowercased())
  }

  /// The prepositions that the compiler knows.
  private static let prepositions = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from", "given",
    "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since", "to", "until",
    "using", "via", "when", "with", "within",
  ]
}

extension String {
  fileprivate func dropFirstScalar() -> String { String(String.UnicodeScalarView(unicodeScalars.dropFirst())) }
}

extension BidirectionalCollection {
  /// The longest tail of elements that satisfy `condition`.
  fileprivate func suffix(while condition: (Element) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, condition(self[index(before: start)]) { formIndex(before: &start) }
    return self[start...]
  }
}
