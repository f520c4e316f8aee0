// NameOrder.swift: elements in an order.

/// Elements in the order of what a key says of each, such as their names.
///
/// Not specialized: the standard library's sort would be compiled anew for each type of elements.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func inOrder<Element, Key: Comparable>(_ elements: [Element], by key: (Element) -> Key) -> [Element] {
  elements.sorted { key($0) < key($1) }
}
