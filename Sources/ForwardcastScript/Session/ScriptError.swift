// ScriptError.swift: errors of a script, with their positions.

import Forwardcast

/// A position in a script's text.
public struct ScriptPosition: Hashable, Sendable, CustomStringConvertible {
  /// The name under which the text was run.
  public let file: String
  /// The line, counted from 1.
  public let line: Int
  /// The column, counted from 1 in characters.
  public let column: Int

  public var description: String { "\(file):\(line):\(column)" }
}

/// An error of a script: the broken rule, the evidence, and the position.
///
///     print(error)
///     // cooks.msg:14:8: error: unrecognized selector 'wash:' of Cook
///     // expect [ann wash: "pan"] == 1
///     //        ^
public struct ScriptError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. More kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The words that begin the error's text; empty for ``thrown``.
    public let description: String

    /// The text cannot be parsed and was not run, or it declares an existing receiver again.
    public static let syntax = Code(description: "syntax")
    /// The name is not bound, or was dropped.
    public static let unknownName = Code(description: "unknown name")
    /// The receiver does not respond to the message.
    public static let unrecognizedSelector = Code(description: "unrecognized selector")
    /// The number of arguments differs from the selector's colons.
    public static let wrongNumberOfArguments = Code(description: "wrong number of arguments")
    /// A value is of the wrong kind.
    public static let typeMismatch = Code(description: "type mismatch")
    /// A type encoding is invalid.
    public static let invalidTypeEncoding = Code(description: "invalid type encoding")
    /// The text is not a selector.
    public static let invalidSelector = Code(description: "invalid selector")
    /// A `throwing` proxy has no target for the message.
    public static let nobodyResponds = Code(description: "nobody responds")
    /// The wait would never end.
    public static let wouldDeadlock = Code(description: "would deadlock")
    /// A message came back to a proxy that it had passed.
    public static let proxyCycle = Code(description: "proxy cycle")
    /// An `expect` did not hold.
    public static let expectationFailed = Code(description: "expectation failed")
    /// A limit of size, depth, steps or memory was exceeded, or the run was canceled. No script can
    /// catch this error.
    public static let limitExceeded = Code(description: "limit exceeded")
    /// A method, or a message to a value, threw an error, whose text is unchanged.
    public static let thrown = Code(description: "")
  }

  /// The kind of error.
  public let code: Code
  /// The error as text, which begins with the words of its ``code``.
  public let text: String
  /// A suggestion such as `did you mean "cook:"?`, if the error ended a run.
  public internal(set) var hint: String?
  let subject: Subject?
  private(set) var source = SourceText.nowhere
  private(set) var offset = 0

  /// The position in the script where the error was thrown.
  public var position: ScriptPosition { source.position(at: offset) }

  /// The whole line that ``position`` is in.
  public var line: String { source.line(at: offset) }

  /// `FILE:LINE:COLUMN: error: TEXT (HINT)`, the line, and a caret below the column.
  ///
  /// Shows at most a thousand characters of text and file name, and the part of the line around the
  /// column. Control and direction characters are escaped.
  public var description: String {
    let position = position
    let excerpt = source.excerpt(at: offset)
    let hint = hint.map { " (\(ShownText.shown($0)))" } ?? ""
    let place = "\(ShownText.shown(position.file)):\(position.line):\(position.column)"
    return "\(place): error: \(ShownText.shown(text))\(hint)\n\(excerpt.line)\n\(excerpt.caret)"
  }
}

extension ScriptError {
  enum Subject: Sendable {
    case name(String)
    case receiver(String)
    case selector(String)
    /// An unknown word where a word of the language was expected.
    case word(String)
    case advice(String)
  }

  /// The codes whose words are also the words of an error code of Forwardcast.
  private static let shared: [Code] = [
    .unrecognizedSelector, .typeMismatch, .wrongNumberOfArguments, .invalidTypeEncoding, .nobodyResponds, .proxyCycle,
    .wouldDeadlock,
  ]

  var isPlaced: Bool { source !== SourceText.nowhere }

  func placed(at offset: Int, of source: SourceText) -> ScriptError {
    if isPlaced { return self }
    var error = self
    (error.source, error.offset) = (source, offset)
    return error
  }

  /// An error whose text is the code's words and, after a colon, the evidence.
  init(_ code: Code, _ evidence: String, about subject: Subject? = nil) {
    (self.code, self.subject) = (code, subject)
    let rule = code.description
    text = rule.isEmpty ? evidence : "\(rule): \(evidence)"
  }

  init(_ code: Code, whole text: String, about subject: Subject? = nil) {
    (self.code, self.text, self.subject) = (code, text, subject)
  }

  /// - Throws: `limit exceeded` with the text `excess` unless `isKept` is true.
  static func limit(_ isKept: Bool, _ excess: @autoclosure () -> String) throws(ScriptError) {
    if !isKept { throw ScriptError(.limitExceeded, excess()) }
  }

  /// Converts a Swift error. The text of an error that Forwardcast does not know is unchanged.
  init(_ error: any Error) {
    switch error {
    case let error as ScriptError: self = error
    case let error as MessageError:
      let isUnknown = error.code == .unrecognizedSelector
      let code = Self.shared.first { $0.description == error.code.description } ?? .thrown
      self.init(code, whole: "\(error)", about: isUnknown ? .selector(error.selector) : nil)
    case let error as TypeEncodingError: self.init(.invalidTypeEncoding, "\(error)")
    case let error as MessageSelectorError: self.init(.invalidSelector, whole: "\(error)")
    case let error as UnboxingError: self.init(.typeMismatch, "\(error)")
    default: self.init(.thrown, whole: "\(error)")
    }
  }
}

/// Hints for words and signs of other programming languages.
enum Advice {
  static let arithmetic = "numbers answer messages: [1 add: 2], subtract:, multiply:, divide:"
  static let brackets = "a message is written [receiver part: argument]"
  static let binding = "let x = … binds a name"
  static let comma = "separate values with spaces; commas belong in @[…] and @{…}"
  static let comment = "a comment begins with #"
  static let comparison = "comparisons are allowed after if and expect only, without parentheses"
  static let conditions = "conditions cannot be combined; nest one if in another"
  static let dictionary = "a dictionary is written @{\"key\": 1}"
  static let elseIf = "write else { if … { … } }"
  static let equality = "== compares"
  static let facade = "for a generated proxy, register proxy.multicast"
  static let fraction = "a number begins with a digit, as in 0.5"
  static let list = "a list is written @[1, 2]; [list at: 0] is its first element"
  static let negation = "write 'not' before the condition"
  static let quotes = "a text is written between straight quotes: \"…\""

  static let words: [String: String] = {
    let rows = [
      ("while for foreach loop until", "repeat n { … } runs a block n times"),
      ("import include require using", "scripts have no imports"),
      ("and or", conditions), ("elif elsif elseif", elseIf), ("var const auto", binding),
      ("func function fn def", "a method is a row: receiver Name { - selector { … } }"),
      ("class struct object actor", "receiver Name { - selector { … } } declares a class"),
      ("null NULL None undefined", "write nil"), ("True False YES NO", "write true or false"),
      ("this", "write self"),
    ]
    return Dictionary(
      uniqueKeysWithValues: rows.flatMap { words, advice in words.split(separator: " ").map { (String($0), advice) } })
  }()
}
