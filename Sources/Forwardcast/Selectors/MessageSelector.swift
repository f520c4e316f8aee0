// MessageSelector.swift: the interned name of a message.

/// The name of a message: one word, compared and hashed by identity.
///
/// A unary name is a Swift identifier of any script. Any other name is made of parts, each an
/// optional identifier and a colon; there are as many arguments as colons.
///
///     let selector: MessageSelector = "onAddMsg:msgData:"
///     selector.numberOfArguments      // 2
///     selector.parts                  // ["onAddMsg", "msgData"]
///
/// Names are interned for the life of the process and never freed. Canonically equivalent spellings
/// are one selector, as they are one `String`. A name that comes from untrusted text is best looked up
/// with ``init(known:)``, which never grows the table.
public struct MessageSelector: Hashable, Sendable {
  /// The longest name there can be, in bytes of UTF-8.
  public static let maximumLength = 1024

  /// A record that is never written again and never freed: nothing has to protect it.
  @usableFromInline
  nonisolated(unsafe) let record: UnsafePointer<SelectorRecord>

  /// A selector that no text reads as: a question that nobody answers and nothing is asked for.
  static let ofNobody = MessageSelector(record: .init(SelectorRecord.make(name: "", hash: 0, arity: 0)))

  init(record: UnsafePointer<SelectorRecord>) {
    self.record = record
  }

  /// Interns `name`.
  ///
  /// Given a literal, `MessageSelector("a:b:")`, the compiler takes ``init(stringLiteral:)`` instead, which
  /// traps where this throws.
  ///
  /// - Parameter name: the text; it is kept until the process ends.
  /// - Throws: ``MessageSelectorError`` with the offset of the first byte that breaks the grammar.
  /// - Complexity: O(*n*) in the length of `name`; takes the name table's lock.
  @inline(never) public init(_ name: String) throws(MessageSelectorError) {
    self = SelectorNames.intern(name, arity: try SelectorGrammar.arity(of: name))
  }

  /// The selector already interned under `name`, or `nil` when there is none.
  ///
  /// This is the door for names met in untrusted input: a program that is asked for a million different
  /// names keeps none of them. A table makes its names known when it is first used: read ``MessageReceiver/selectorTable`` of
  /// the classes that may answer before.
  public init?(known name: String) {
    guard let known = SelectorNames.find(name) else { return nil }
    self = known
  }

  /// Checks `name` against the grammar and counts its colons, without interning it.
  ///
  /// - Throws: ``MessageSelectorError`` with the offset of the first byte that breaks the grammar.
  public static func numberOfArguments(inName name: String) throws(MessageSelectorError) -> Int {
    try SelectorGrammar.arity(of: name)
  }

  /// The name as it was first interned: a new string each time.
  public var name: String { record.name }

  /// How many arguments the sender passes: the number of colons.
  public var numberOfArguments: Int { Int(record.pointee.arity) }

  /// The words before each colon, `""` where there is none; a unary selector has its one name.
  public var parts: [String] {
    if numberOfArguments == 0 { return [name] }
    var (parts, start): ([String], Int) = ([], 0)
    // By bytes, since a colon and a joiner after it would be one `Character`.
    for (index, byte) in record.text.enumerated() where byte == UInt8(ascii: ":") {
      parts.append(String(decoding: UnsafeRawBufferPointer(rebasing: record.text[start..<index]), as: UTF8.self))
      start = index + 1
    }
    return parts
  }

  /// Whether both are the same name: one comparison of a pointer.
  public static func == (left: Self, right: Self) -> Bool {
    left.record == right.record
  }

  /// Where hash tables of the package begin to look for the selector.
  var placement: Int { record.pointee.hash }

  /// Hashes the name, in constant time.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(UInt(bitPattern: record))
  }
}

extension MessageSelector: ExpressibleByStringLiteral {
  /// A selector written in source.
  ///
  /// A malformed literal is a slip of the programmer and **traps**, with the text that
  /// ``init(_:)`` would have thrown. The name table is searched when a literal is first met; later
  /// evaluations compare bytes and take no lock, except where the literal spells a name otherwise than it
  /// was first interned, or shares its place in a cache of 2,048 with others in use.
  public init(stringLiteral name: StaticString) {
    self = SelectorLiterals.selector(of: name)
  }
}

extension MessageSelector: CustomStringConvertible {
  public var description: String { name }
}
