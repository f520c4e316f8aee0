// IdentityTable.swift: from a target's identity to its registration; a value without locks.

/// A hash table of the first registration of each target, a word for each. It does not retain them: whoever enters one takes it out
/// before releasing it.
struct IdentityTable {
  /// Addresses of registrations, or one of the two marks. The count is a power of two.
  private var words: ContiguousArray<UInt> = []
  private var free: UInt32 = 0
  private var count: UInt32 = 0

  var isInUse: Bool { !words.isEmpty }

  private static let freeMark: UInt = 0
  /// A removed registration; searches continue behind it.
  private static let leftMark: UInt = 1

  func find(_ key: ObjectIdentifier) -> Unmanaged<Registration>? { place(of: key).map { Self.unmanaged(words[$0]) } }

  /// Enters a registration, or returns the one that its target already has.
  mutating func enter(_ registration: Registration) -> Unmanaged<Registration>? {
    // A search has to meet a free word soon: at least three of eight are free.
    if Int(free) * 8 <= words.count * 3 { rebuild() }
    var place = home(of: registration.key)
    var left: Int?
    while words[place] != Self.freeMark {
      if words[place] == Self.leftMark {
        if left == nil { left = place }
      } else if Self.key(words[place]) == registration.key {
        return Self.unmanaged(words[place])
      }
      place = next(place)
    }
    if left == nil { free -= 1 }
    words[left ?? place] = Self.word(registration)
    count += 1
    return nil
  }

  /// Replaces the registration of a target, which may have died.
  mutating func replace(with registration: Registration) {
    if let place = place(of: registration.key) { words[place] = Self.word(registration) }
  }

  /// Removes a registration, unless its target's address has another one.
  mutating func remove(_ registration: Registration) {
    guard var place = place(of: registration.key), words[place] == Self.word(registration) else { return }
    count -= 1
    if words[next(place)] == Self.freeMark {
      // No search passes through here: this word, and removed ones before it, become free.
      repeat {
        words[place] = Self.freeMark
        free += 1
        place = (place &- 1) & (words.count - 1)
      } while words[place] == Self.leftMark
    } else {
      words[place] = Self.leftMark
    }
    if Int(count) * 8 < words.count, words.count > 64 { rebuild() }
  }

  // MARK: Places

  private func place(of key: ObjectIdentifier) -> Int? {
    guard count > 0 else { return nil }
    var place = home(of: key)
    while true {
      let word = words[place]
      if word == Self.freeMark { return nil }
      if word != Self.leftMark, Self.key(word) == key { return place }
      place = next(place)
    }
  }

  private func next(_ place: Int) -> Int { (place &+ 1) & (words.count - 1) }

  /// Where the search for a target begins: the upper bits of its address times 2⁶⁴ over the golden ratio.
  private func home(of key: ObjectIdentifier) -> Int {
    let mixed = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> UInt64(64 &- words.count.trailingZeroBitCount)) & (words.count - 1)
  }

  private static func word(_ registration: Registration) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(registration).toOpaque())
  }

  private static func key(_ word: UInt) -> ObjectIdentifier { unmanaged(word)._withUnsafeGuaranteedRef { $0.key } }

  @inline(__always)
  private static func unmanaged(_ word: UInt) -> Unmanaged<Registration> {
    guard let address = UnsafeRawPointer(bitPattern: word) else {
      preconditionFailure("a free word has no registration")
    }
    return .fromOpaque(address)
  }

  /// Resizes the table and drops removed words.
  private mutating func rebuild() {
    let old = words
    var size = 8
    // Half full at most, so that targets which come and go do not cause a rebuild each time.
    while (Int(count) + 1) * 2 > size { size *= 2 }
    words = ContiguousArray(repeating: Self.freeMark, count: size)
    free = UInt32(size) - count
    for word in old where word > Self.leftMark {
      var place = home(of: Self.key(word))
      while words[place] != Self.freeMark { place = next(place) }
      words[place] = word
    }
  }
}
