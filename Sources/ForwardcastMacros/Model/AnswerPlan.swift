// AnswerPlan.swift: what many answers to one requirement become.

/// The rule of a requirement that answers, and what stands for nobody's answer.
struct AnswerPlan {
  enum Empty {
    /// The rule's result is an optional, as the requirement's own: nobody's answer is `nil`.
    case none
    /// The rule has an empty value of its own.
    case ofPolicy
    /// The error `nobodyResponds`.
    case thrown
    /// What `otherwise:` says.
    case stated(String)
    /// The end of the process.
    case trap
  }

  /// The rule as a return policy: `.last`, `.reduce(0, +)`.
  let policy: String
  /// Whether the policy's result is an optional of the answer.
  let isOptional: Bool
  let empty: Empty
}

/// A rule of `@Answer`, by name.
struct AnswerRuleName {
  let name: String
  /// Whether the policy's result is an optional of the answer, so that there is no empty value.
  var isOptional: Bool { ["last", "first", "min", "max"].contains(name) }

  static let all: Set<String> = [
    "last", "first", "lastValue", "firstValue", "any", "every", "sum", "min", "max", "joined", "reduce",
  ]

  /// Why the rule cannot be for a type, as far as its text tells.
  func misfit(_ type: TypeText) -> String? {
    let text = type.text.hasPrefix("Swift.") ? String(type.text.dropFirst(6)) : type.text
    let isArray = text.hasPrefix("[")
    let isTuple = text.hasPrefix("(") && !type.isFunction && !type.isOptional
    let isNumber = Self.numbers.contains(text)
    let isText = ["String", "Substring", "Character", "StaticString"].contains(text)
    let isOdd = type.isFunction || type.text.hasPrefix("any ") || isTuple
    switch name {
    case "any", "every":
      let misses = type.isOptional || isArray || isNumber || isText || isOdd
      return misses ? "'.\(name)' combines answers of type 'Bool', not of '\(type.text)'" : nil
    case "sum":
      let misses = type.isOptional || isArray || isText || text == "Bool" || isOdd
      return misses ? "'.sum' adds numbers, and '\(type.text)' is none" : nil
    case "min", "max":
      let misses = type.isOptional || isArray || text == "Bool" || isOdd
      return misses ? "'.\(name)' compares answers, and values of '\(type.text)' have no order" : nil
    case "joined":
      let misses = type.isOptional || isNumber || text == "Bool" || isOdd
      return misses ? "'.joined' puts texts and arrays one after another, and '\(type.text)' is neither" : nil
    case "lastValue", "firstValue":
      let isKnown = isNumber || isText || isArray || text == "Bool" || isOdd
      return isKnown && !type.isOptional
        ? "'.\(name)' skips answers that are nil, and '\(type.text)' is never nil" : nil
    default: return nil
    }
  }

  fileprivate static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Double", "Float", "Float16", "Float80", "CGFloat", "TimeInterval", "NSInteger", "NSUInteger",
  ]
}

/// What `@Forwarded(otherwise:)` says of requirements that say nothing themselves.
enum SilentAnswers: String {
  case refused
  case emptyValues
  case emptyValuesOrTrap
}

extension SourceText {
  /// The value without content of a type, as far as its text tells that there is one.
  func emptyValue(of type: TypeText) -> String? { type.isFunction ? nil : emptyValue(type.positions, depth: 0) }

  private func emptyValue(_ positions: Range<Int>, depth: Int) -> String? {
    var start = positions.lowerBound
    let last = positions.upperBound - 1
    guard start <= last, depth < 8 else { return nil }
    if isMark(last, "?") || isMark(last, "!") { return "nil" }
    if isWord(start, "Swift"), isMark(start + 1, ".") { start += 2 }
    if isMark(start, "["), closing(start) == last {
      return (start..<last).contains { isMark($0, ":") && isOutermost($0, in: start) } ? "[:]" : "[]"
    }
    if isMark(start, "("), closing(start) == last {
      // A tuple, or one type in brackets.
      let elements = arguments(in: start).map { ($0.label, emptyValue($0.value, depth: depth + 1)) }
      let values = elements.compactMap { label, value in value.map { (label.map { "\($0): " } ?? "") + $0 } }
      return values.count == elements.count && !values.isEmpty ? "(\(values.joined(separator: ", ")))" : nil
    }
    guard self[start].isWord else { return nil }
    let behind = endOfGenericArguments(start + 1, before: last + 1)
    guard behind == last + 1 else { return nil }
    let name = text(start)
    if behind > start + 1 { return Self.emptyGenerics[name] }
    return AnswerRuleName.numbers.contains(name) ? "0" : Self.emptyValues[name]
  }

  private static let emptyGenerics = [
    "Array": "[]", "Set": "[]", "ContiguousArray": "[]", "ArraySlice": "[]", "Dictionary": "[:]", "Optional": "nil",
  ]
  private static let emptyValues = [
    "Bool": "false", "String": "\"\"", "Substring": "\"\"", "CGSize": ".zero", "CGPoint": ".zero", "CGRect": ".zero",
    "NSSize": ".zero", "NSPoint": ".zero", "NSRect": ".zero", "UIEdgeInsets": ".zero", "CMTime": ".zero",
    "Duration": ".zero", "Data": "Data()", "IndexSet": "IndexSet()", "NSAttributedString": "NSAttributedString()",
    "AttributedString": "AttributedString()",
  ]

  /// Whether no bracket inside of the one at `start` is around the token.
  private func isOutermost(_ position: Int, in start: Int) -> Bool {
    var next = start + 1
    while next < position { next = after(next) }
    return next == position
  }
}
