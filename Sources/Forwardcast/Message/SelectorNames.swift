// SelectorNames.swift: the process's one table of names.
// Layer: Message. See DESIGN.md, "Selectors".

import Synchronization

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

/// Every name of the process, found by its text; and, for literals, by the place they stand at.
enum SelectorNames {
  private static let table = Mutex<[String: MessageSelector]>([:])

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

  /// The selector of a literal: found by the literal's address without a lock, from the second time on.
  static func intern(literal: StaticString) -> MessageSelector {
    guard literal.hasPointerRepresentation else { return internSlowly(String(literal.unicodeScalar)) }
    let start = UnsafeRawPointer(literal.utf8Start)
    let count = literal.utf8CodeUnitCount
    let way = LiteralCache.firstWay(of: start)
    if let record = LiteralCache.record(in: way), record.pointee.bytes.holds(start, count) {
      return MessageSelector(record: record)
    }
    if let record = LiteralCache.record(in: way ^ 1), record.pointee.bytes.holds(start, count) {
      return MessageSelector(record: record)
    }
    let text = UnsafeBufferPointer(start: literal.utf8Start, count: count)
    let selector = internSlowly(String(decoding: text, as: UTF8.self))
    LiteralCache.keep(selector.record, in: way)
    return selector
  }

  @inline(never)
  private static func internSlowly(_ name: String) -> MessageSelector {
    do {
      return try MessageSelector(name)
    } catch {
      fatalError("\(error)")
    }
  }
}

/// Records by the address of a literal: 1,024 sets of two ways, each a word that is replaced whole.
///
/// A slot is only a hint. A literal at a reused address finds another name's record there, so the bytes
/// are compared each time; a slot that lost its record to another literal costs one look into the name table.
private enum LiteralCache {
  private static let setBits = 10

  /// Never freed, and every word of it is atomic: nothing else has to protect it.
  nonisolated(unsafe) private static let slots: UnsafeMutablePointer<Atomic<UInt>> = {
    let count = 2 << setBits
    let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Atomic(0)) }
    return slots
  }()

  /// The first slot of the set for `address`; the other one is `^ 1`. The multiplication spreads addresses
  /// that differ in few bits (2⁶⁴ divided by the golden ratio, or 2³² where a word is that short).
  static func firstWay(of address: UnsafeRawPointer) -> Int {
    let factor = UInt(truncatingIfNeeded: UInt64(0x9E37_79B9_7F4A_7C15) >> UInt64(UInt64.bitWidth - UInt.bitWidth))
    let mixed = UInt(bitPattern: address) &* (factor | 1)
    return Int(mixed >> UInt(UInt.bitWidth - setBits)) << 1
  }

  static func record(in slot: Int) -> UnsafePointer<SelectorRecord>? {
    UnsafePointer(bitPattern: slots[slot].load(ordering: .acquiring))
  }

  /// Puts `record` into `slot`, and what was there into the other way of the set.
  static func keep(_ record: UnsafePointer<SelectorRecord>, in slot: Int) {
    let previous = slots[slot].exchange(UInt(bitPattern: record), ordering: .acquiringAndReleasing)
    if previous != 0 { slots[slot ^ 1].store(previous, ordering: .releasing) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the `otherCount` bytes from `other` on are these bytes.
  fileprivate func holds(_ other: UnsafeRawPointer, _ otherCount: Int) -> Bool {
    guard otherCount == count, let start = baseAddress else { return false }
    if start == other { return true }
    var offset = 0
    while offset &+ 8 <= otherCount {
      let (left, right) = (
        start.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      if left != right { return false }
      offset &+= 8
    }
    while offset < otherCount {
      if start.load(fromByteOffset: offset, as: UInt8.self) != other.load(fromByteOffset: offset, as: UInt8.self) {
        return false
      }
      offset &+= 1
    }
    return true
  }
}
