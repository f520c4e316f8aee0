// SelectorNames.swift: the process's one table of names.
// Layer: Selectors. See DESIGN.md, "The life of a typed message".

/// What is known about one interned name. Written once, before anyone can see it, and never freed.
@usableFromInline
struct SelectorRecord {
  /// The name as it was first interned.
  let name: String
  /// The number of colons.
  let arity: Int
  /// The name's UTF-8 text, in memory of its own: a literal's may be unloaded with its library.
  let bytes: UnsafeRawBufferPointer
  /// The name's hash, taken once. Seeded for each process, as every `Hashable` is.
  let hash: Int

  /// Makes an immortal record; the caller holds the name table's lock, and has read the grammar.
  static func make(name: String, arity: Int) -> UnsafePointer<SelectorRecord> {
    var name = name
    name.makeContiguousUTF8()
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 8)
    bytes.copyBytes(from: name.utf8)
    let record = UnsafeMutablePointer<SelectorRecord>.allocate(capacity: 1)
    record.initialize(
      to: SelectorRecord(name: name, arity: arity, bytes: UnsafeRawBufferPointer(bytes), hash: name.hashValue))
    return UnsafePointer(record)
  }
}

/// Every name of the process, found by its text.
enum SelectorNames {
  private static let table = Guarded<[String: MessageSelector]>(.init())

  /// The selector of `name`, which `SelectorGrammar` has read.
  static func intern(_ name: String, _ reading: SelectorGrammar.Reading) -> MessageSelector {
    table.withLock { table in
      if let known = table[name] { return known }
      let selector = MessageSelector(record: SelectorRecord.make(name: name, arity: reading.arity))
      table[selector.name] = selector
      return selector
    }
  }

  /// The selector of `name`, if it has one. An overlong text is not even hashed.
  static func find(_ name: String) -> MessageSelector? {
    guard name.utf8.count <= MessageSelector.maximumLength else { return nil }
    return table.withLock { $0[name] }
  }

  /// How many names there are.
  static var count: Int { table.withLock { $0.count } }
}
