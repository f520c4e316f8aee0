// ValueMessages.swift: the messages that numbers, texts, lists and dictionaries answer.
// Layer: Script, Values. See the article "How the script works".

/// The tables of the values that are no objects.
enum ValueMessages {
  /// Whether `value` answers `selector`.
  static func responds(_ value: ScriptValue, to selector: String) -> Bool { selectors(of: value).contains(selector) }

  private enum Owner { case number, text, list, dictionary }

  private static let rows: [(owner: Owner, selector: String, form: String, meaning: String)] = [
    (.number, "add:", "[1 add: 2]", "The sum; an overflow of integers is an error."),
    (.number, "subtract:", "[3 subtract: 2]", "The difference; an overflow of integers is an error."),
    (.number, "multiply:", "[2 multiply: 3]", "The product; an overflow of integers is an error."),
    (.number, "divide:", "[7 divide: 2]", "The quotient, of integers towards zero; division by zero is an error."),
    (.number, "negated", "[1 negated]", "The number with the other sign."),
    (.text, "length", "[\"text\" length]", "How many characters a text has."),
    (.text, "uppercased", "[\"text\" uppercased]", "The text in capitals."),
    (.text, "appending:", "[\"a\" appending: \"b\"]", "The text with another behind it."),
    (.list, "count", "[@[1, 2] count]", "How many elements a list has."),
    (.list, "at:", "[@[1, 2] at: 0]", "The element of that index, from 0; outside is an error."),
    (.list, "first", "[@[1, 2] first]", "The first element, nil where there is none."),
    (.list, "last", "[@[1, 2] last]", "The last element, nil where there is none."),
    (.list, "adding:", "[@[1, 2] adding: 3]", "The list with one more element."),
    (.dictionary, "at:", "[@{\"k\": 1} at: \"k\"]", "The value of a key, nil where there is none."),
    (.dictionary, "count", "[@{\"k\": 1} count]", "How many keys a dictionary has."),
  ]

  /// Every message, for the reference.
  static var table: [(selector: String, form: String, meaning: String)] {
    rows.map { ($0.selector, $0.form, $0.meaning) }
  }

  private static let selectors = Dictionary(grouping: rows, by: \.owner).mapValues { Set($0.map(\.selector)) }

  private static func selectors(of value: ScriptValue) -> Set<String> {
    let owner: Owner? =
      switch value {
      case .integer, .floating: .number
      case .string: .text
      case .list: .list
      case .dictionary: .dictionary
      default: nil
      }
    return owner.flatMap { selectors[$0] } ?? []
  }

  /// The answer of `value` to a message.
  ///
  /// - Throws: `unrecognized selector`, `type mismatch`, or an error of arithmetic or of an index.
  static func answer(_ value: ScriptValue, _ selector: String, _ arguments: [ScriptValue]) throws -> ScriptValue {
    guard responds(value, to: selector) else {
      throw ScriptFault(.unrecognizedSelector, "\(value.kind) has no answer to \(selector)", about: .selector(selector))
    }
    switch value {
    case .integer(let number):
      if selector == "negated" { return .integer(try checked(0.subtractingReportingOverflow(number))) }
      if let other = arguments[0].integer { return .integer(try integer(number, selector, other)) }
      return .floating(floating(Double(number), selector, try self.number(arguments[0], selector)))
    case .floating(let number):
      if selector == "negated" { return .floating(-number) }
      return .floating(floating(number, selector, try self.number(arguments[0], selector)))
    case .string(let text): return try answer(text, selector, arguments)
    case .list(let elements): return try answer(elements, selector, arguments)
    case .dictionary(let entries):
      if selector == "count" { return .integer(entries.count) }
      return entries[try arguments[0].wanted("at: of a dictionary takes a text, not", \.text)] ?? .null
    default: return .null
    }
  }

  private static func number(_ argument: ScriptValue, _ selector: String) throws -> Double {
    try argument.wanted("\(selector) takes a number, not") { argument in
      if case .floating(let number) = argument { number } else { argument.integer.map(Double.init) }
    }
  }

  private static func answer(_ text: String, _ selector: String, _ arguments: [ScriptValue]) throws -> ScriptValue {
    switch selector {
    case "length": return .integer(text.count)
    case "uppercased": return .string(text.uppercased())
    default:
      return .string(text + (try arguments[0].wanted("appending: takes a text, not", \.text)))
    }
  }

  private static func answer(_ elements: [ScriptValue], _ selector: String, _ arguments: [ScriptValue]) throws
    -> ScriptValue
  {
    switch selector {
    case "count": return .integer(elements.count)
    case "first": return elements.first ?? .null
    case "last": return elements.last ?? .null
    case "adding:": return .list(elements + [arguments[0]])
    default:
      let index = try arguments[0].wanted("at: of a list takes an integer, not", \.integer)
      guard elements.indices.contains(index) else {
        throw ScriptFault(.thrown, "index \(index) is outside a list of \(elements.count)")
      }
      return elements[index]
    }
  }

  private static func integer(_ left: Int, _ selector: String, _ right: Int) throws -> Int {
    switch selector {
    case "add:": return try checked(left.addingReportingOverflow(right))
    case "subtract:": return try checked(left.subtractingReportingOverflow(right))
    case "multiply:": return try checked(left.multipliedReportingOverflow(by: right))
    default:
      if right == 0 { throw ScriptFault(.thrown, "division by zero") }
      return try checked(left.dividedReportingOverflow(by: right))
    }
  }

  private static func checked(_ result: (partialValue: Int, overflow: Bool)) throws -> Int {
    if result.overflow { throw ScriptFault(.thrown, "overflow: the result does not fit 64 bits") }
    return result.partialValue
  }

  private static func floating(_ left: Double, _ selector: String, _ right: Double) -> Double {
    switch selector {
    case "add:": left + right
    case "subtract:": left - right
    case "multiply:": left * right
    default: left / right
    }
  }

  /// The sum of numbers: an integer as long as all are.
  ///
  /// - Throws: `type mismatch` for anything else, and an error when integers overflow.
  static func sum(_ values: [ScriptValue]) throws -> ScriptValue {
    try values.reduce(.integer(0)) { total, value in
      switch value {
      case .integer, .floating: try answer(total, "add:", [value])
      default: throw ScriptFault(.typeMismatch, "sum takes numbers, not \(value.kind)")
      }
    }
  }
}
