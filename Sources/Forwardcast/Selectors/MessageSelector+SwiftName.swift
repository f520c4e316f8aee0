// MessageSelector+SwiftName.swift: selectors from Swift names, as the compiler forms them.

extension MessageSelector {
  /// The selector that the compiler gives to a Swift method, initializer or property. Write the
  /// name as in `#function` or `#selector(…)`.
  ///
  ///     try MessageSelector(swiftName: "onAddMsg(_:msgData:)")   // onAddMsg:msgData:
  ///     try MessageSelector(swiftName: "insert(object:at:)")     // insertWithObject:at:
  ///     try MessageSelector(swiftName: "move(to:)")              // moveTo:
  ///     try MessageSelector(swiftName: "ping()")                 // ping
  ///
  /// The first label is capitalized and appended to the base name. The word `With` is inserted
  /// between them, unless the label begins with a preposition or the base name ends with a
  /// preposition. `AndReturnError:` and `completionHandler:` are not added, since a name does not
  /// show `throws` or `async`.
  ///
  /// - Throws: ``MessageSelectorError`` with the offset of the error. Operators and subscripts are
  ///   errors too.
  /// - Complexity: O(*n*) in the length of `swiftName`; takes the name table's lock.
  public init(swiftName: String) throws(MessageSelectorError) {
    try self.init(Self.name(ofSwiftName: swiftName))
  }

  /// The selector's name, without interning it.
  package static func name(ofSwiftName swiftName: String) throws(MessageSelectorError) -> String {
    var reader = SwiftNameReader(swiftName)
    let name = try reader.selectorName()
    guard name.utf8.count <= maximumLength else {
      throw MessageSelectorError(.tooLong, in: swiftName, at: min(maximumLength, swiftName.utf8.count))
    }
    return name
  }
}

/// Reads `base` or `base(label:label:)`; each word is an identifier, possibly in backticks.
private struct SwiftNameReader {
  private let name: String
  private var rest: Substring.UnicodeScalarView

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
    let word = rest.prefix { $0.continuesIdentifier }
    rest = rest[word.endIndex...]
    if isQuoted {
      guard rest.first == "`" else { throw unexpected() }
      skip()
    }
    return String(word)
  }

  @inline(never) private mutating func skip() { rest.removeFirst() }

  private func unexpected() -> MessageSelectorError {
    MessageSelectorError(
      rest.isEmpty ? .unexpectedEnd : .unexpectedCharacter, in: name, at: name.utf8.count - Substring(rest).utf8.count)
  }
}
