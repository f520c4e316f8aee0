// SelectorLiterals.swift: selectors of string literals, without a lock.

import Synchronization

/// Caches selectors by the address of a literal. The cache has 1,024 sets of two slots, and slots
/// are written atomically. Typed keys are computed properties, so a literal is evaluated for each
/// message. Bytes are always compared, since a literal of an unloaded library might have had the
/// same address.
enum SelectorLiterals {
  static func selector(of literal: StaticString) -> MessageSelector {
    if literal.hasPointerRepresentation, let slots {
      let slot = slots + firstWay(of: UInt(bitPattern: literal.utf8Start))
      if let record = slot.pointee.record, record.isSpelled(literal.utf8Start, literal.utf8CodeUnitCount) {
        return MessageSelector(record: record)
      }
    }
    return search(literal)
  }

  /// Searches both slots and the name table. A literal of one scalar has no address, so the scalar
  /// is used.
  @inline(never)
  private static func search(_ literal: StaticString) -> MessageSelector {
    let place =
      literal.hasPointerRepresentation
      ? UInt(bitPattern: literal.utf8Start) : UInt(literal.unicodeScalar.value)
    return literal.withUTF8Buffer { text in
      let slots = madeSlots
      let first = firstWay(of: place)
      for other in 0...1 {
        if let record = slots[first ^ other].record, let start = text.baseAddress,
          record.isSpelled(start, text.count)
        {
          return MessageSelector(record: record)
        }
      }
      let selector = intern(String(decoding: text, as: UTF8.self))
      let previous = slots[first].word.exchange(UInt(bitPattern: selector.record), ordering: .acquiringAndReleasing)
      if previous != 0 { slots[first ^ 1].word.store(previous, ordering: .releasing) }
      return selector
    }
  }

  private static func intern(_ name: String) -> MessageSelector {
    do { return try MessageSelector(name) } catch { fatalError("\(error)") }
  }

  // MARK: Slots

  private struct Slot: ~Copyable {
    /// The bits of a record's address, or 0.
    let word = Atomic<UInt>(0)

    var record: UnsafePointer<SelectorRecord>? { UnsafePointer(bitPattern: word.load(ordering: .acquiring)) }
  }

  private static let setBits = 10

  /// The address of the first slot, or 0. A lazy `static let` would cost a call on each evaluation.
  private static let slotsAddress = Atomic<UInt>(0)

  private static var slots: UnsafeMutablePointer<Slot>? {
    UnsafeMutablePointer(bitPattern: slotsAddress.load(ordering: .acquiring))
  }

  /// The slots are never freed, and each slot is atomic.
  private nonisolated(unsafe) static let madeSlots: UnsafeMutablePointer<Slot> = {
    let made = UnsafeMutablePointer<Slot>.allocate(capacity: 2 << setBits)
    for index in 0..<2 << setBits { (made + index).initialize(to: Slot()) }
    slotsAddress.store(UInt(bitPattern: made), ordering: .releasing)
    return made
  }()

  /// The index of the first slot for `place`, by Fibonacci hashing. The second slot is at `^ 1`.
  private static func firstWay(of place: UInt) -> Int {
    let mixed = UInt32(truncatingIfNeeded: place) &* 0x9E37_79B9
    return Int(mixed >> UInt32(32 - setBits)) << 1
  }
}

extension UnsafePointer<SelectorRecord> {
  /// True if the `count` bytes at `text` are exactly the bytes of the name.
  @inline(__always)
  fileprivate func isSpelled(_ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count == Int(pointee.count) else { return false }
    let left = UnsafeRawPointer(self) + MemoryLayout<SelectorRecord>.size
    let right = UnsafeRawPointer(text)
    func differ<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Word.Type) -> Bool {
      left.loadUnaligned(fromByteOffset: offset, as: Word.self)
        != right.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }
    if count >= 8 {
      // Whole words are compared, then the last eight bytes, which may overlap the words.
      var offset = 0
      while offset < count &- 8 {
        if differ(offset, as: UInt64.self) { return false }
        offset &+= 8
      }
      return !differ(count &- 8, as: UInt64.self)
    }
    if count >= 4 { return !differ(0, as: UInt32.self) && !differ(count &- 4, as: UInt32.self) }
    for offset in 0..<count where differ(offset, as: UInt8.self) { return false }
    return true
  }
}
