// Interpreter+Comparison.swift: comparisons, charged by the size of what they compare.

import Forwardcast

extension Interpreter {
  func holds(_ left: ScriptValue, _ comparison: Sign, _ right: ScriptValue, at offset: Int) throws -> Bool {
    try at(offset) {
      switch comparison {
      case .equal: try areEqual(left, right)
      case .notEqual: try !areEqual(left, right)
      case .less: try left.isLess(than: right)
      case .greater: try right.isLess(than: left)
      case .lessOrEqual: try left.isLess(than: right) || left == right
      default: try right.isLess(than: left) || left == right
      }
    }
  }

  /// `==` that charges while it compares, so it ends when the run's work is exhausted.
  private func areEqual(_ left: ScriptValue, _ right: ScriptValue) throws -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)):
      guard left.count == right.count else { return false }
      for (left, right) in zip(left, right) {
        try run.charge(Work.pass)
        guard try areEqual(left, right) else { return false }
      }
      return true
    case (.dictionary(let left), .dictionary(let right)):
      guard left.count == right.count else { return false }
      for (key, value) in left {
        try run.charge(Work.pass + Work.text(key))
        guard let other = right[key], try areEqual(value, other) else { return false }
      }
      return true
    case (.string(let left), .string(let right)):
      let (least, most) = (min(left.utf8.count, right.utf8.count), max(left.utf8.count, right.utf8.count))
      // The lengths of canonically equal texts differ at most by a factor of 3.5: U+0390 has two
      // bytes, and U+1FBE U+0308 U+0301 has seven.
      guard most <= 4 * least else { return false }
      try run.charge(Work.byte * least)
      if least == most, left.utf8.elementsEqual(right.utf8) { return true }
      try run.charge(Work.text(left) + Work.text(right))
      return left == right
    case (.signature(let left), .signature(let right)):
      guard left.numberOfArguments == right.numberOfArguments else { return false }
      try run.charge(2 * Work.look * left.description.utf8.count)
      return left == right
    default: return left == right
    }
  }

  func text(_ text: String, beginsWith beginning: String) throws -> Bool {
    try run.charge(Work.byte * beginning.utf8.count)
    if text.utf8.starts(with: beginning.utf8) { return true }
    // A canonically equal prefix is at most four times as long as `beginning`.
    let head = String(decoding: text.utf8.prefix(4 * beginning.utf8.count + 4), as: UTF8.self)
    try run.charge(Work.text(beginning) + Work.text(head))
    return head.hasPrefix(beginning)
  }
}
