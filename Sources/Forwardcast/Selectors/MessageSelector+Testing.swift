// MessageSelector+Testing.swift: what tests may ask about the name table.

extension MessageSelector {
  /// How many names the process has interned.
  package static var internedCount: Int { SelectorNames.count }
}
