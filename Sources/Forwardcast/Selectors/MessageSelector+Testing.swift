// MessageSelector+Testing.swift: what tests may ask about the name table.
// Layer: Selectors. See DESIGN.md, "The life of a typed message".

extension MessageSelector {
  /// How many names the process has interned.
  package static var internedCount: Int { SelectorNames.count }
}
