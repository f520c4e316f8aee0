// IdentityTable.swift: a hash table by identity. It is a value and has no lock.

protocol Identified: AnyObject, SendableMetatype {
  /// The address of an object: a target, or a selector's record.
  var identity: UInt { get }
}

/// A hash table of unretained objects, one for each identity. Remove an object before releasing it.
struct IdentityTable<Element: Identified> {
  /// Each word is an element's address or one of two marks. The number of words is a power of two.
  private var words: ContiguousArray<UInt> = []
  private var free: UInt32 = 0
  private var count: UInt32 = 0

  var isInUse: Bool { !words.isEmpty }

  private static var freeMark: UInt { 0 }
  /// Marks a removed element. A search continues past it.
  private static var leftMark: UInt { 1 }

  func find(_ identity: UInt) -> Unmanaged<Element>? { place(of: identity).map { Self.unmanaged(words[$0]) } }

  var all: [Unmanaged<Element>] { words.filter { $0 > Self.leftMark }.map(Self.unmanaged) }

  /// Adds `element`. If the table already has an element with this identity, adds nothing and
  /// returns the existing element.
  mutating func enter(_ element: Element) -> Unmanaged<Element>? {
    // Keeps at least three of eight words free, so that a search ends soon.
    if Int(free) * 8 <= words.count * 3 { rebuild() }
    var place = home(of: element.identity)
    var left: Int?
    while words[place] != Self.freeMark {
      if words[place] == Self.leftMark {
        if left == nil { left = place }
      } else if Self.identity(words[place]) == element.identity {
        return Self.unmanaged(words[place])
      }
      place = next(place)
    }
    if left == nil { free -= 1 }
    words[left ?? place] = Self.word(element)
    count += 1
    return nil
  }

  mutating func replace(with element: Element) {
    if let place = place(of: element.identity) { words[place] = Self.word(element) }
  }

  /// Removes an element, unless its identity now belongs to another element.
  mutating func remove(_ element: Element) {
    guard var place = place(of: element.identity), words[place] == Self.word(element) else { return }
    count -= 1
    if words[next(place)] == Self.freeMark {
      // Searches end at the next word, so this word and removed words before it become free.
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

  // MARK: - Slots

  private func place(of identity: UInt) -> Int? {
    guard count > 0 else { return nil }
    var place = home(of: identity)
    while true {
      let word = words[place]
      if word == Self.freeMark { return nil }
      if word != Self.leftMark, Self.identity(word) == identity { return place }
      place = next(place)
    }
  }

  private func next(_ place: Int) -> Int { (place &+ 1) & (words.count - 1) }

  /// The first place for an identity, by Fibonacci hashing.
  private func home(of identity: UInt) -> Int {
    let mixed = UInt64(identity) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> UInt64(64 &- words.count.trailingZeroBitCount)) & (words.count - 1)
  }

  private static func word(_ element: Element) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(element).toOpaque())
  }

  private static func identity(_ word: UInt) -> UInt { unmanaged(word)._withUnsafeGuaranteedRef { $0.identity } }

  @inline(__always)
  private static func unmanaged(_ word: UInt) -> Unmanaged<Element> {
    guard let address = UnsafeRawPointer(bitPattern: word) else {
      preconditionFailure("internal error: an empty slot of the identity table was read")
    }
    return .fromOpaque(address)
  }

  private mutating func rebuild() {
    let old = words
    var size = 8
    // The new table is at most half full, so short-lived targets do not cause a rebuild each time.
    while (Int(count) + 1) * 2 > size { size *= 2 }
    words = ContiguousArray(repeating: Self.freeMark, count: size)
    free = UInt32(size) - count
    for word in old where word > Self.leftMark {
      var place = home(of: Self.identity(word))
      while words[place] != Self.freeMark { place = next(place) }
      words[place] = word
    }
  }
}
