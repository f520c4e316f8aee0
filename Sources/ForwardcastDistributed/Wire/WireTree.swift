// WireTree.swift: the items of a text from another process.

/// One item: its position, and the position of its next sibling.
struct WireNode {
  enum Kind: UInt8 {
    case null, yes, no, integer, real, text, bytes, list, record
  }
  let kind: Kind
  /// The start of the item's own bytes: digits, text or base64. A list or record has none.
  let start: UInt32
  let end: UInt32
  /// The index after this node and its contents.
  var next: UInt32
}

/// A text split into items, in one array in the order of the text. Nothing is decoded yet.
struct WireTree {
  let bytes: [UInt8]
  let nodes: [WireNode]

  /// Splits the text from `start` on into items. Refuses invalid syntax and texts beyond a limit.
  init(_ text: [UInt8], from start: Int, limits: MessageLimits) throws(WireRefusal) {
    var scanner = WireScanner(text, from: start, limits: limits)
    nodes = try scanner.scan()
    bytes = text
  }

  /// The nodes of the list at `index`, or the keys and values of the record.
  func children(of index: Int) -> [Int] {
    var children: [Int] = []
    children.reserveCapacity(8)
    var child = index + 1
    let end = Int(nodes[index].next)
    while child < end {
      children.append(child)
      child = Int(nodes[child].next)
    }
    return children
  }

  /// The values of the record at `index` by key. The first of equal keys is used.
  func fields(of index: Int) -> [WireName: Int] {
    let items = children(of: index)
    let fields = stride(from: 0, to: items.count, by: 2).map { (WireName(text(items[$0])), items[$0 + 1]) }
    return Dictionary(fields) { first, _ in first }
  }

  /// The value of a key in the record at `index`. The first of equal keys is used.
  func field(_ name: some Sequence<UInt8>, of index: Int) -> Int? {
    var key = index + 1
    while key < nodes[index].next {
      let value = Int(nodes[key].next)
      if bytes(of: key).elementsEqual(name) { return value }
      key = Int(nodes[value].next)
    }
    return nil
  }

  func bytes(of index: Int) -> ArraySlice<UInt8> { bytes[Int(nodes[index].start)..<Int(nodes[index].end)] }

  func text(_ index: Int) -> String { String(decoding: bytes(of: index), as: UTF8.self) }

  func bool(_ index: Int) -> Bool? { kind(index) == .yes ? true : kind(index) == .no ? false : nil }

  func kind(_ index: Int) -> WireNode.Kind { nodes[index].kind }
}

/// A name from another process, compared by bytes, because canonical comparison of strings takes
/// quadratic time for a run of combining marks.
struct WireName: Hashable, Comparable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (one: WireName, other: WireName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
  static func < (one: WireName, other: WireName) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The evidence against a key for which ``isStreamSafe(_:)`` is false.
  static let unsafeKey = "a key with more than 30 combining marks in a row"

  /// True if no run of combining marks exceeds the limit of Unicode's stream-safe text, so that
  /// comparing and hashing are cheap.
  static func isStreamSafe(_ bytes: ArraySlice<UInt8>) -> Bool {
    if bytes.allSatisfy({ $0 < 0x80 }) { return true }
    var marks = 0
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
      if marks > 30 { return false }
    }
    return true
  }
}

/// Splits a text into items, without recursion.
private struct WireScanner {
  private let bytes: [UInt8]
  private var position: Int
  private let limits: MessageLimits
  private var nodes: [WireNode] = []
  /// The enclosing list or record, and whether a key is expected next. `node` is -1 at the top.
  private var around: (node: Int, isRecord: Bool, wantsKey: Bool) = (-1, false, false)
  /// The lists and records around the enclosing list or record.
  private var outer: [(node: Int, isRecord: Bool, wantsKey: Bool)] = []

  init(_ bytes: [UInt8], from start: Int, limits: MessageLimits) {
    (self.bytes, position, self.limits) = (bytes, start, limits)
    nodes.reserveCapacity(32)
    outer.reserveCapacity(8)
  }

  mutating func scan() throws(WireRefusal) -> [WireNode] {
    repeat { try step() } while !outer.isEmpty
    guard position == bytes.count else { throw error("text after the end") }
    return nodes
  }

  /// Reads one item, or the end of a container.
  private mutating func step() throws(WireRefusal) {
    guard position < bytes.count else { throw error("an unexpected end") }
    let letter = bytes[position]
    if !outer.isEmpty, letter == (around.isRecord ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      guard !around.isRecord || around.wantsKey else { throw error("a key without a value") }
      position += 1
      nodes[around.node].next = UInt32(nodes.count)
      around = outer.removeLast()
      around.wantsKey.toggle()
      return
    }
    let isText = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter)
    let isKey = around.isRecord && around.wantsKey
    if isKey, !isText { throw error("a key that is not text") }
    guard nodes.count < limits.items else { throw WireRefusal(.malformed, "more than \(limits.items) items") }
    if isText {
      try text(.text)
      guard isKey, let key = nodes.last, !WireName.isStreamSafe(bytes[Int(key.start)..<Int(key.end)]) else { return }
      throw error(WireName.unsafeKey)
    }
    position += 1
    switch letter {
    case UInt8(ascii: "n"): add(.null, position..<position)
    case UInt8(ascii: "t"): add(.yes, position..<position)
    case UInt8(ascii: "f"): add(.no, position..<position)
    case UInt8(ascii: "i"): try number(.integer)
    case UInt8(ascii: "d"): try number(.real)
    case UInt8(ascii: "b"): try text(.bytes)
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      guard outer.count < limits.depth else { throw WireRefusal(.malformed, "more than \(limits.depth) levels") }
      outer.append(around)
      around = (nodes.count, letter == UInt8(ascii: "{"), true)
      nodes.append(WireNode(kind: around.isRecord ? .record : .list, start: 0, end: 0, next: 0))
    default:
      position -= 1
      throw error("not an item")
    }
  }

  private mutating func add(_ kind: WireNode.Kind, _ range: Range<Int>) {
    nodes.append(
      WireNode(
        kind: kind, start: UInt32(range.lowerBound), end: UInt32(range.upperBound), next: UInt32(nodes.count + 1)))
    around.wantsKey.toggle()
  }

  /// Reads a number such as `42;`, of at most 48 characters. Decoding interprets the digits later.
  private mutating func number(_ kind: WireNode.Kind) throws(WireRefusal) {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: ";") {
      let isAllowed =
        switch bytes[position] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        case UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "a")...UInt8(ascii: "z"): kind == .real
        default: false
        }
      guard isAllowed, position - start < 48 else { throw error("not a number") }
      position += 1
    }
    guard position < bytes.count, position > start else { throw error("not a number") }
    add(kind, start..<position)
    position += 1
  }

  /// Reads `5:alice`: a length, and that many bytes of whole characters.
  private mutating func text(_ kind: WireNode.Kind) throws(WireRefusal) {
    var length = 0
    let digits = position
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
      length = length * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      guard length <= limits.bytes else { throw error("a length beyond the limit") }
      position += 1
    }
    guard position > digits, position - digits <= 10, position < bytes.count, bytes[position] == UInt8(ascii: ":")
    else { throw error("not a length") }
    position += 1
    let end = position + length
    guard end <= bytes.count else { throw error("a length past the end of the input") }
    func isWithinCharacter(_ edge: Int) -> Bool { edge < bytes.count && bytes[edge] & 0b1100_0000 == 0b1000_0000 }
    if isWithinCharacter(position) || isWithinCharacter(end) { throw error("a length that splits a UTF-8 character") }
    add(kind, position..<end)
    position = end
  }

  private func error(_ what: String) -> WireRefusal { WireRefusal(.malformed, "\(what) at byte \(position)") }
}
