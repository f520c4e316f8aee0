// ValueMessages.swift: messages that numbers, texts, lists and dictionaries answer.

enum ValueMessages {
  static func responds(_ value: ScriptValue, to selector: String) -> Bool {
    switch value {
    case .integer, .floating: ["add:", "subtract:", "multiply:", "divide:", "negated"].contains(selector)
    case .string: ["length", "uppercased", "appending:"].contains(selector)
    case .list: ["count", "at:", "first", "last", "adding:"].contains(selector)
    case .dictionary: ["count", "at:"].contains(selector)
    default: false
    }
  }

  /// - Throws: `unrecognized selector`, `type mismatch`, or an error of arithmetic or of an index.
  static func answer(_ value: ScriptValue, _ selector: String, _ argument: ScriptValue) throws -> ScriptValue {
    switch (value, selector) {
    case (.floating(let number), "negated"): return .floating(-number)
    case (.integer, "negated"): return try arithmetic(.integer(0), "subtract:", value)
    case (.integer, _) where responds(value, to: selector), (.floating, _) where responds(value, to: selector):
      return try arithmetic(value, selector, argument)
    case (.string(let text), "length"): return .integer(text.count)
    case (.string(let text), "uppercased"): return .string(text.uppercased())
    case (.string(let text), "appending:"):
      return .string(text + (try argument.wanted("\"appending:\" takes a text, not", \.text)))
    case (.list(let list), "count"): return .integer(list.count)
    case (.list(let list), "at:"):
      let index = try argument.wanted("\"at:\" of a list takes an integer, not", \.integer)
      if list.indices.contains(index) { return list[index] }
      let size = list.count == 1 ? "1 element" : "\(list.count) elements"
      throw ScriptError(.thrown, "index \(index) is outside a list of \(size)")
    case (.list(let list), "first"): return list.first ?? .null
    case (.list(let list), "last"): return list.last ?? .null
    case (.list(let list), "adding:"): return .list(list + [argument])
    case (.dictionary(let entries), "count"): return .integer(entries.count)
    case (.dictionary(let entries), "at:"):
      return entries[try argument.wanted("\"at:\" of a dictionary takes a text, not", \.text)] ?? .null
    default:
      throw ScriptError(
        .unrecognizedSelector, whole: "\(ScriptError.Code.unrecognizedSelector) '\(selector)' of \(value.kind)",
        about: .selector(selector))
    }
  }

  /// An operation on two numbers. The result is an integer if both numbers are integers.
  private static func arithmetic(_ left: ScriptValue, _ selector: String, _ right: ScriptValue) throws -> ScriptValue {
    let left = try left.wanted("", \.number)
    let right = try right.wanted("\"\(selector)\" takes a number, not", \.number)
    let (integers, floats): ((Int) -> (Int) -> (partialValue: Int, overflow: Bool), (Double, Double) -> Double) =
      switch selector {
      case "add:": (Int.addingReportingOverflow, +)
      case "subtract:": (Int.subtractingReportingOverflow, -)
      case "multiply:": (Int.multipliedReportingOverflow, *)
      default: (Int.dividedReportingOverflow, /)
      }
    guard let one = left.integer, let other = right.integer else {
      return .floating(floats(left.floating, right.floating))
    }
    if other == 0, selector == "divide:" { throw ScriptError(.thrown, "division by zero") }
    let (result, isOver) = integers(one)(other)
    if isOver { throw ScriptError(.thrown, "overflow: the result does not fit 64 bits") }
    return .integer(result)
  }
}
