// AnswerPlan.swift: what many answers to one requirement become.
// Part of the macro program: Model. See DESIGN.md, "The attributes".

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

  private static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Double", "Float", "Float16", "Float80", "CGFloat", "TimeInterval",
  ]
}
