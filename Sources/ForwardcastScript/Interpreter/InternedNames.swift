// InternedNames.swift: how much the texts of all sessions have added to the process's selectors.
// Layer: Script, Interpreter. See the article "How the script works".

import Synchronization

/// The names that scripts have interned. They are never freed, so all sessions of a process share one bound.
enum InternedNames {
  /// What the names may take together, each with what is kept beside its text. A test lowers it.
  static let limit = Atomic<Int>(16 << 20)
  private static let weightOfRecord = 128
  private static let used = Atomic<Int>(0)

  /// Counts a name that is about to be interned.
  ///
  /// - Throws: `limit exceeded` when there would be too many.
  static func makeRoom(for name: String) throws(ScriptFault) {
    let limit = limit.load(ordering: .relaxed)
    let weight = name.utf8.count + weightOfRecord
    if used.wrappingAdd(weight, ordering: .relaxed).newValue > limit {
      used.wrappingSubtract(weight, ordering: .relaxed)
      throw ScriptFault(.limitExceeded, "selectors of over \(limit >> 20) MiB in the process")
    }
  }
}
