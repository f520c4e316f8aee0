// AnswerPlan.swift: how the results of a requirement are combined.

/// The rule that combines the results of a requirement, and its result if no target responds.
struct AnswerPlan {
  enum Empty {
    /// The answer is `nil`, because both the rule and the requirement return optionals.
    case none
    case ofPolicy
    case thrown
    case stated(String)
    case trap
  }

  /// The expression of the return policy: `.last`, `.reduce(0, +)`.
  let policy: String
  let isOptional: Bool
  let empty: Empty
}

enum AnswerRuleName: String, CaseIterable {
  case last, first, lastValue, firstValue, any, every, sum, min, max, joined, reduce

  /// The rule as an attribute names it.
  var spelling: String { ".\(rawValue)" + (self == .reduce ? "(…)" : "") }

  /// True if the policy has no empty value and therefore returns an optional of the answer.
  var isOptional: Bool { [.last, .first, .min, .max].contains(self) }

  /// Why the rule does not fit a type, and a fix; `nil` if it may fit. Sees only the type's text.
  func misfit(_ type: TypeText, _ hasArguments: Bool) -> String? {
    guard let kind = kind(type) else { return nil }
    let canJoin = [.text, .array].contains(kind)
    let (fitting, reason): ([Kind], String) =
      switch self {
      case .any, .every:
        ([.bool], "needs 'Bool' results, and '\(type.text)' is not 'Bool'; use another rule, such as '.reduce(…)'")
      case .sum:
        (
          [.number],
          "needs numbers, and '\(type.text)' is not one; use \(canJoin ? "'.joined' or " : "")'.reduce(…)'"
        )
      case .min, .max:
        (
          [.number, .text, .character],
          "compares results, and values of '\(type.text)' have no order; use '.reduce(…)'"
        )
      case .joined where hasArguments && !["String", "Swift.String"].contains(type.text):
        (
          [],
          "with a separator needs 'String' results, and '\(type.text)' is not 'String'; use '.joined' or '.reduce(…)'"
        )
      case .joined:
        (
          [.text, .array],
          "needs strings or arrays, and '\(type.text)' is neither; use \(kind == .number ? "'.sum' or " : "")'.reduce(…)'"
        )
      case .lastValue, .firstValue:
        (
          [.optional, .other],
          "skips results that are nil, and '\(type.text)' is never nil; use '.last' or '.first'"
        )
      case .last, .first, .reduce: (Kind.allCases, "")
      }
    return fitting.contains(kind) ? nil : "'.\(self)' \(reason)"
  }

  private enum Kind: CaseIterable { case optional, array, number, text, character, bool, other }

  private func kind(_ type: TypeText) -> Kind? {
    let text = type.text.hasPrefix("Swift.") ? String(type.text.dropFirst(6)) : type.text
    if type.isOptional { return .optional }
    if type.isFunction || type.text.hasPrefix("any ") || text.hasPrefix("(") || text == "StaticString" { return .other }
    if text.hasPrefix("[") { return .array }
    if ["String", "Substring"].contains(text) { return .text }
    if text == "Character" { return .character }
    return text == "Bool" ? .bool : Self.numbers.contains(text) ? .number : nil
  }

  fileprivate static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Double", "Float", "Float16", "Float80", "CGFloat", "TimeInterval", "NSInteger", "NSUInteger",
  ]
}

/// The values of `@Forwarded(otherwise:)`; without this argument, `refused`.
enum SilentAnswers: String {
  case refused
  case emptyValues
  case emptyValuesOrTrap
}

extension SourceText {
  /// The empty value of a type, if its text shows one.
  func emptyValue(of type: TypeText) -> String? { type.isFunction ? nil : emptyValue(type.positions, depth: 0) }

  private func emptyValue(_ positions: Range<Int>, depth: Int) -> String? {
    var start = positions.lowerBound
    let last = positions.upperBound - 1
    guard start <= last, depth < 8 else { return nil }
    if isMark(last, "?") || isMark(last, "!") { return "nil" }
    if isWord(start, "Swift"), isMark(start + 1, ".") { start += 2 }
    if isMark(start, "["), closing(start) == last {
      // `[3 of Int]` is an inline array, which has no empty value.
      if isWord(start + 2, "of") { return nil }
      return colon(in: start) == nil ? "[]" : "[:]"
    }
    if isMark(start, "("), closing(start) == last {
      // A tuple, or a type in parentheses.
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
    "Duration": ".zero", "Data": "Data()", "IndexSet": "IndexSet()",
    "NSAttributedString": "NSAttributedString(string: \"\")", "AttributedString": "AttributedString()",
  ]

  /// The first colon directly within the bracket at a position.
  func colon(in bracket: Int) -> Int? {
    var position = bracket + 1
    while position < closing(bracket) ?? 0 {
      if isMark(position, ":") { return position }
      position = after(position)
    }
    return nil
  }
}
