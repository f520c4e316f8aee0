// ScriptError.swift: what went wrong in a script, and where.

import Forwardcast

/// A place in a script's text.
public struct ScriptPosition: Hashable, Sendable, CustomStringConvertible {
  /// The name under which the text was run.
  public let file: String
  /// The line, counted from 1.
  public let line: Int
  /// The column, counted from 1 in characters.
  public let column: Int

  public var description: String { "\(file):\(line):\(column)" }
}

/// An error of a script: the rule that was broken, the evidence, and the place.
///
///     print(error)
///     // cooks.msg:14:8: error: unrecognized selector wash: of Cook
///     // expect [ann wash: "pan"] == 1
///     //        ^
public struct ScriptError: Error, Sendable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The words that begin the error's text; empty for ``thrown``, whose text is the thrower's own.
    public let description: String

    /// The text is not of the language; nothing was run.
    public static let syntax = Code(description: "syntax")
    /// A name that nothing is bound to, or that was dropped.
    public static let unknownName = Code(description: "unknown name")
    /// The receiver has no answer for the message.
    public static let unrecognizedSelector = Code(description: "unrecognized selector")
    /// There are not as many arguments as the selector has colons.
    public static let wrongNumberOfArguments = Code(description: "wrong number of arguments")
    /// A value of another kind was wanted.
    public static let typeMismatch = Code(description: "type mismatch")
    /// A type encoding could not be read.
    public static let invalidTypeEncoding = Code(description: "invalid type encoding")
    /// The text is not the name of any message.
    public static let invalidSelector = Code(description: "invalid selector")
    /// A `throwing` proxy has no target for the message.
    public static let nobodyResponds = Code(description: "nobody responds")
    /// Waiting here would wait for ever.
    public static let wouldDeadlock = Code(description: "would deadlock")
    /// Proxies lead back to a proxy that the message came through.
    public static let proxyCycle = Code(description: "proxy cycle")
    /// An `expect` did not hold.
    public static let expectationFailed = Code(description: "expectation failed")
    /// A bound on text, depth, steps or memory was reached. Never caught by a script.
    public static let limitExceeded = Code(description: "limit exceeded")
    /// A row, a value's own message or a host's method threw; the text is its own.
    public static let thrown = Code(description: "")
  }

  public let code: Code
  /// The error in words, beginning with those of its ``code``.
  public let text: String
  /// What may have been meant, where something near is known: `did you mean "cook:"?`. Found for the error that ends a
  /// text.
  public internal(set) var hint: String?
  /// What a hint is looked for.
  let subject: ScriptFault.Subject?
  let source: SourceText
  let offset: Int

  init(_ fault: ScriptFault, at offset: Int, of source: SourceText) {
    (code, text, subject) = (fault.code, fault.text, fault.subject)
    (self.source, self.offset) = (source, offset)
  }

  /// Where it was thrown.
  public var position: ScriptPosition { source.position(at: offset) }

  /// The whole line that ``position`` is in.
  public var line: String { source.line(at: offset) }

  /// `FILE:LINE:COLUMN: error: TEXT`, with the hint in parentheses where there is one, the line, and a caret under the
  /// column.
  ///
  /// What comes from the script or its host is cut and shown with escapes for control and direction characters: of the text
  /// and the name of the file the first thousand characters, of the line those around the column. So it takes about the same time
  /// for every error.
  public var description: String {
    let position = position
    let excerpt = source.excerpt(at: offset)
    let hint = hint.map { " (\(ShownText.shown($0)))" } ?? ""
    let place = "\(ShownText.shown(position.file)):\(position.line):\(position.column)"
    return "\(place): error: \(ShownText.shown(text))\(hint)\n\(excerpt.line)\n\(excerpt.caret)"
  }
}

/// What to write instead of what other languages have.
enum Advice {
  static let arithmetic = "numbers answer messages: [1 add: 2], subtract:, multiply:, divide:"
  static let brackets = "a message stands in brackets: [receiver part: argument]"
  static let comparison = "== compares"
  static let comment = "a comment begins with #"
  static let quotes = "a text stands between straight quotes: \"…\""
}

/// An error that has not been given its place yet.
struct ScriptFault: Error {
  /// What was written and is not known.
  enum Subject: Sendable {
    case name(String)
    case receiver(String)
    case selector(String)
    /// A word where a statement or something else of the language was expected.
    case word(String)
    /// Known already: what to write instead.
    case advice(String)
  }

  let code: ScriptError.Code
  let text: String
  let subject: Subject?

  /// The text is the code's words and, after a colon, the evidence.
  init(_ code: ScriptError.Code, _ evidence: String = "", about subject: Subject? = nil) {
    (self.code, self.subject) = (code, subject)
    let rule = code.description
    text = rule.isEmpty ? evidence : evidence.isEmpty ? rule : "\(rule): \(evidence)"
  }

  init(_ code: ScriptError.Code, whole text: String, about subject: Subject? = nil) {
    (self.code, self.text, self.subject) = (code, text, subject)
  }

  /// What `error` is called in a script. The text of an error that the library does not know is its own.
  init(_ error: any Error) {
    switch error {
    case let fault as ScriptFault: self = fault
    case let error as ScriptError: self.init(error.code, whole: error.text, about: error.subject)
    case let error as MessageError:
      let isUnknown = error.code == .unrecognizedSelector
      self.init(ScriptFault.code(error.code), whole: "\(error)", about: isUnknown ? .selector(error.selector) : nil)
    case let error as TypeEncodingError: self.init(.invalidTypeEncoding, "\(error)")
    case let error as MessageSelectorError: self.init(.invalidSelector, whole: "\(error)")
    case let error as UnboxingError: self.init(.typeMismatch, "\(error)")
    default: self.init(.thrown, whole: "\(error)")
    }
  }

  private static func code(_ code: MessageError.Code) -> ScriptError.Code {
    switch code {
    case .unrecognizedSelector: .unrecognizedSelector
    case .typeMismatch: .typeMismatch
    case .wrongArgumentCount: .wrongNumberOfArguments
    case .invalidTypeEncoding: .invalidTypeEncoding
    case .nobodyResponds: .nobodyResponds
    case .proxyCycle: .proxyCycle
    case .wouldDeadlock: .wouldDeadlock
    default: .thrown
    }
  }
}
