// FirstInFirstOut.swift: a queue in an array, and sorting by a key.

/// A queue whose elements can also be removed by number, in logarithmic time.
struct FirstInFirstOut<Element> {
  /// Sorted by number. An element is `nil` once removed.
  private var elements: [(number: Int, element: Element?)] = []
  private var start = 0
  private var last = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Adds an element and returns its number for ``remove(_:)``. Numbers begin with 1.
  @discardableResult
  mutating func append(_ element: Element) -> Int {
    last += 1
    count += 1
    elements.append((last, element))
    return last
  }

  /// Adds an element before all other elements.
  mutating func putBack(_ element: Element) {
    count += 1
    if start > 0 {
      start -= 1
      elements[start].element = element
    } else {
      elements.insert((elements.first.map { $0.number - 1 } ?? last, element), at: 0)
    }
  }

  /// Removes the first element. An empty queue retains no memory.
  mutating func next() -> Element? {
    while start < elements.count {
      start += 1
      if let element = exchange(&elements[start - 1].element, with: nil) { return left(element) }
    }
    return nil
  }

  /// Removes the element with this number. Returns `nil` if it was already removed.
  mutating func remove(_ number: Int) -> Element? {
    let index = elements.partitioningIndex { $0.number >= number }
    guard index < elements.count, elements[index].number == number else { return nil }
    return exchange(&elements[index].element, with: nil).map { left($0) }
  }

  func filter(_ isMeant: (Element) -> Bool) -> [Element] {
    elements.compactMap { $0.element.flatMap { isMeant($0) ? $0 : nil } }
  }

  /// Compacts a queue of more than 32 slots once removed elements are the majority.
  private mutating func left(_ element: Element) -> Element {
    count -= 1
    if count == 0 || elements.count > 32 && elements.count > count * 2 {
      elements = count == 0 ? [] : elements.filter { $0.element != nil }
      start = 0
    }
    return element
  }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}

extension Array {
  /// The first index whose element satisfies `belongs`. The array must be partitioned by `belongs`.
  func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Elements sorted by a key. Not specialized, so that sorting is not compiled for each type.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func inOrder<Element, Key: Comparable>(_ elements: [Element], by key: (Element) -> Key) -> [Element] {
  elements.sorted { key($0) < key($1) }
}

/// The value of a key. Not specialized, to keep clients small.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func rareValue<Key: Hashable, Value>(of key: Key, in values: [Key: Value]) -> Value? { values[key] }

/// Sets or removes the value of a key. Not specialized, to keep clients small.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func setRareValue<Key: Hashable, Value>(_ value: Value?, of key: Key, in values: inout [Key: Value]) {
  values[key] = value
}
