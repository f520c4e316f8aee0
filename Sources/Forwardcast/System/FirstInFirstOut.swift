// FirstInFirstOut.swift: a queue in an array, and sorting by a key.

/// A queue. Adding and taking cost constant time on average.
struct FirstInFirstOut<Element> {
  private var elements: [Element?] = []
  private var start = 0

  var count: Int { elements.count - start }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ element: Element) { elements.append(element) }

  /// Adds an element before all others.
  mutating func putBack(_ element: Element) {
    if start > 0 {
      start -= 1
      elements[start] = element
    } else {
      elements.insert(element, at: 0)
    }
  }

  /// Takes the first element. An emptied queue keeps no memory.
  mutating func next() -> Element? {
    guard start < elements.count else { return nil }
    let element = elements[start]
    elements[start] = nil
    start += 1
    if start == elements.count {
      elements = []
      start = 0
    } else if start > 32, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  /// Removes the first element that satisfies `matches`, in linear time.
  mutating func remove(where matches: (Element) -> Bool) -> Element? {
    guard let index = elements[start...].firstIndex(where: { $0.map(matches) ?? false }) else { return nil }
    return elements.remove(at: index)
  }
}

/// Elements sorted by a key, such as their names.
///
/// Not specialized: that would compile the standard library's sort anew for each type of elements.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func inOrder<Element, Key: Comparable>(_ elements: [Element], by key: (Element) -> Key) -> [Element] {
  elements.sorted { key($0) < key($1) }
}
