// MessageSelector.swift: the interned name of a message.

/// The name of a message, compared and hashed by identity.
///
/// The name of a message without arguments is a Swift identifier. Any other name has one part for
/// each argument: an identifier, which may be missing, and a colon.
///
///     let selector: MessageSelector = "onAddMsg:msgData:"
///     selector.numberOfArguments      // 2
///     selector.parts                  // ["onAddMsg", "msgData"]
///
/// Names are interned and never freed, so comparing and hashing take constant time. Canonically
/// equivalent spellings are one selector. For untrusted text, use ``init(known:)``.
public struct MessageSelector: Hashable, Sendable {
  /// The longest name, in bytes of UTF-8.
  public static let maximumLength = 1024

  /// The record is immutable and never freed, so it needs no guard.
  @usableFromInline
  nonisolated(unsafe) let record: UnsafePointer<SelectorRecord>

  /// A selector that cannot be spelled, so no receiver responds to it.
  static let ofNobody = MessageSelector(record: .init(SelectorRecord.make(name: "", hash: 0, arity: 0)))

  init(record: UnsafePointer<SelectorRecord>) {
    self.record = record
  }

  /// Interns `name` for the lifetime of the process.
  ///
  /// For a literal, as in `MessageSelector("a:b:")`, the compiler calls ``init(stringLiteral:)``
  /// instead, which traps if the literal is malformed. ``init(parsing:)`` throws for such a
  /// literal.
  ///
  /// - Throws: ``MessageSelectorError`` with the offset of the first byte that breaks the grammar.
  /// - Complexity: O(*n*) in the length of `name`; takes the name table's lock.
  @inline(never) public init(_ name: String) throws(MessageSelectorError) {
    self = SelectorNames.intern(name, arity: try Self.numberOfArguments(inName: name))
  }

  /// Like ``init(_:)``, but throws ``MessageSelectorError`` for a malformed literal too.
  public init(parsing name: String) throws(MessageSelectorError) { try self.init(name) }

  /// The selector interned under `name`, or `nil`. Interns nothing, so use it for untrusted text.
  ///
  /// A table interns its names on first use. So before you look up a name, read the
  /// ``MessageReceiver/selectorTable`` of each class that could respond.
  public init?(known name: String) {
    guard let known = SelectorNames.find(name) else { return nil }
    self = known
  }

  /// Checks `name` against the grammar and counts its colons, without interning it.
  ///
  /// - Throws: ``MessageSelectorError`` with the offset of the first byte that breaks the grammar.
  public static func numberOfArguments(inName name: String) throws(MessageSelectorError) -> Int {
    let length = name.utf8.count
    if length == 0 { throw MessageSelectorError(.empty, in: name, at: 0) }
    if length > maximumLength { throw MessageSelectorError(.tooLong, in: name, at: maximumLength) }
    var arity = 0
    var offset = 0
    var partStart = 0
    for scalar in name.unicodeScalars {
      if scalar == ":" {
        arity += 1
        partStart = offset + 1
      } else if !(offset == partStart ? scalar.beginsIdentifier : scalar.continuesIdentifier) {
        throw MessageSelectorError(.unexpectedCharacter, in: name, at: offset)
      }
      offset += UTF8.width(scalar)
    }
    if arity > 0, partStart < offset { throw MessageSelectorError(.textAfterLastColon, in: name, at: partStart) }
    return arity
  }

  /// The name as it was first interned; a new string each time.
  public var name: String { record.name }

  /// The number of arguments, which is the number of colons.
  public var numberOfArguments: Int { Int(record.pointee.arity) }

  /// The word before each colon, possibly `""`. For a name without colons, the name itself.
  public var parts: [String] {
    if numberOfArguments == 0 { return [name] }
    var (parts, start): ([String], Int) = ([], 0)
    // Splits the bytes. In a split of characters, a colon and a combining scalar after it would be
    // one `Character`.
    for (index, byte) in record.text.enumerated() where byte == UInt8(ascii: ":") {
      parts.append(String(decoding: UnsafeRawBufferPointer(rebasing: record.text[start..<index]), as: UTF8.self))
      start = index + 1
    }
    return parts
  }

  var identity: UInt { UInt(bitPattern: record) }

  /// The hash of the name, for the package's own tables.
  var placement: Int { record.pointee.hash }
}

extension MessageSelector: ExpressibleByStringLiteral {
  /// A selector written in source. A malformed literal **traps** with the error of ``init(_:)``.
  ///
  /// Usually only the first evaluation of a literal takes the name table's lock.
  public init(stringLiteral name: StaticString) {
    self = SelectorLiterals.selector(of: name)
  }
}

extension MessageSelector: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
