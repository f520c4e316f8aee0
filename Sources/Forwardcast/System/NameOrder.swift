// NameOrder.swift: elements in the order of their names.

/// Elements in the order of their names.
///
/// The standard library's sort is compiled anew for each type of elements: here for one, a name and a number.
func inOrder<Element>(_ elements: [Element], by name: (Element) -> String) -> [Element] {
  let names = elements.indices.map { (name: name(elements[$0]), index: $0) }
  return names.sorted { $0.name < $1.name }.map { elements[$0.index] }
}
