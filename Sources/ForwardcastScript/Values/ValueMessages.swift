// ValueMessages.swift: messages that numbers, texts, lists and dictionaries answer.

struct ValueMessage: Sendable {
  let selector: String
  let form: String
  let meaning: String
  let isAnswered: @Sendable (_ by: ScriptValue) -> Bool
  /// Answers with the argument, if the message has one; `nil` for a value of another kind.
  let answer: @Sendable (ScriptValue, _ argument: ScriptValue) throws -> ScriptValue?

  /// - Parameter part: the part of a value that answers; `nil` for a value of another kind.
  init<Part>(
    _ selector: String, _ form: String, _ meaning: String, of part: @escaping @Sendable (ScriptValue) -> Part?,
    _ answer: @escaping @Sendable (Part, _ argument: ScriptValue) throws -> ScriptValue
  ) {
    (self.selector, self.form, self.meaning) = (selector, form, meaning)
    isAnswered = { part($0) != nil }
    self.answer = { value, argument in try part(value).map { try answer($0, argument) } }
  }

  /// An operation on two numbers, in integers if both are.
  fileprivate static func arithmetic(
    _ selector: String, _ form: String, _ meaning: String,
    _ integers: @escaping @Sendable (Int, Int) throws -> (partialValue: Int, overflow: Bool),
    _ floats: @escaping @Sendable (Double, Double) -> Double
  ) -> ValueMessage {
    ValueMessage(selector, form, meaning, of: \.number) { left, argument in
      let right = try argument.wanted("\(selector) takes a number, not", \.number)
      guard let one = left.integer, let other = right.integer else {
        return .floating(floats(left.floating, right.floating))
      }
      return .integer(try checked(integers(one, other)))
    }
  }
}

enum ValueMessages {
  static let all: [ValueMessage] = [
    .arithmetic(
      "add:", "[1 add: 2]", "The sum; an overflow of integers is an error.", { $0.addingReportingOverflow($1) }, +),
    .arithmetic(
      "subtract:", "[3 subtract: 2]", "The difference; an overflow of integers is an error.",
      { $0.subtractingReportingOverflow($1) }, -),
    .arithmetic(
      "multiply:", "[2 multiply: 3]", "The product; an overflow of integers is an error.",
      { $0.multipliedReportingOverflow(by: $1) }, *),
    .arithmetic(
      "divide:", "[7 divide: 2]", "The quotient, of integers towards zero; division by zero is an error.",
      {
        if $1 == 0 { throw ScriptFault(.thrown, "division by zero") }
        return $0.dividedReportingOverflow(by: $1)
      }, /),
    ValueMessage("negated", "[1 negated]", "The number with the other sign.", of: \.number) { number, _ in
      guard let integer = number.integer else { return .floating(-number.floating) }
      return .integer(try checked(0.subtractingReportingOverflow(integer)))
    },
    ValueMessage("length", "[\"text\" length]", "How many characters a text has.", of: \.text) { text, _ in
      .integer(text.count)
    },
    ValueMessage("uppercased", "[\"text\" uppercased]", "The text in capitals.", of: \.text) { text, _ in
      .string(text.uppercased())
    },
    ValueMessage("appending:", "[\"a\" appending: \"b\"]", "The text with another behind it.", of: \.text) {
      .string($0 + (try $1.wanted("appending: takes a text, not", \.text)))
    },
    ValueMessage("count", "[@[1, 2] count]", "How many elements a list has.", of: \.list) { list, _ in
      .integer(list.count)
    },
    ValueMessage(
      "at:", "[@[1, 2] at: 0]", "The element of that index, from 0; outside is an error.", of: \.list
    ) { list, argument in
      let index = try argument.wanted("at: of a list takes an integer, not", \.integer)
      if list.indices.contains(index) { return list[index] }
      throw ScriptFault(.thrown, "index \(index) is outside a list of \(list.count)")
    },
    ValueMessage("first", "[@[1, 2] first]", "The first element, nil where there is none.", of: \.list) { list, _ in
      list.first ?? .null
    },
    ValueMessage("last", "[@[1, 2] last]", "The last element, nil where there is none.", of: \.list) { list, _ in
      list.last ?? .null
    },
    ValueMessage("adding:", "[@[1, 2] adding: 3]", "The list with one more element.", of: \.list) { .list($0 + [$1]) },
    ValueMessage(
      "at:", "[@{\"k\": 1} at: \"k\"]", "The value of a key, nil where there is none.", of: \.dictionary
    ) { entries, argument in
      entries[try argument.wanted("at: of a dictionary takes a text, not", \.text)] ?? .null
    },
    ValueMessage("count", "[@{\"k\": 1} count]", "How many keys a dictionary has.", of: \.dictionary) { entries, _ in
      .integer(entries.count)
    },
  ]

  private static let bySelector = Dictionary(grouping: all, by: \.selector)

  static func responds(_ value: ScriptValue, to selector: String) -> Bool {
    bySelector[selector]?.contains { $0.isAnswered(value) } ?? false
  }

  /// - Throws: `unrecognized selector`, `type mismatch`, or an error of arithmetic or of an index.
  static func answer(_ value: ScriptValue, _ selector: String, _ arguments: [ScriptValue]) throws -> ScriptValue {
    for message in bySelector[selector] ?? [] {
      if let answer = try message.answer(value, arguments.first ?? .null) { return answer }
    }
    throw ScriptFault(.unrecognizedSelector, "\(value.kind) has no answer to \(selector)", about: .selector(selector))
  }

  /// The sum, an integer if all numbers are.
  /// - Throws: `type mismatch` for anything else, and an error when integers overflow.
  static func sum(_ values: [ScriptValue]) throws -> ScriptValue {
    try values.reduce(.integer(0)) { total, value in
      _ = try value.wanted("sum takes numbers, not", \.number)
      return try answer(total, "add:", [value])
    }
  }
}

private func checked(_ result: (partialValue: Int, overflow: Bool)) throws -> Int {
  if result.overflow { throw ScriptFault(.thrown, "overflow: the result does not fit 64 bits") }
  return result.partialValue
}
