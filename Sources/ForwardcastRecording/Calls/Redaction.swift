// Redaction.swift: what a recorder does not keep of a call.

import Forwardcast

/// What stands in a recorded call for a value that was not kept.
public struct RedactedValue: Hashable, Sendable, Codable, CustomStringConvertible {
  public init() {}

  public var description: String { "‹redacted›" }
}

/// What is not kept of the calls of one message.
struct Redaction: Sendable {
  /// The numbers of the arguments, counted from 0; `nil` for all.
  let arguments: Set<Int>?
  let answer: Bool

  func apply(to message: Invocation) -> Invocation {
    var message = message
    for index in message.arguments.indices where arguments?.contains(index) ?? true {
      message.arguments[index] = ArgumentBox(RedactedValue())
    }
    return message
  }

  /// An error may say what the arguments were.
  func apply(to outcome: RecordedCall.Outcome) -> RecordedCall.Outcome {
    switch outcome {
    case .answered(let box?) where answer && !(box.value is Void): .answered(ArgumentBox(RedactedValue()))
    case .failed(let error): .failed(RecordedError(description: RedactedValue().description, type: error.type))
    default: outcome
    }
  }
}

extension CallRecorder {
  /// Keeps no arguments of a message, or not those; from the next call on. The text of an error of such a call is not kept
  /// either, since it may say what they were.
  ///
  ///     recorder.redact("logIn:password:", arguments: [1])
  ///     print(recorder.calls[0])  // [account logIn: "ann" password: ‹redacted›]
  ///
  /// - Parameters:
  ///   - selector: the name of the message.
  ///   - arguments: the numbers of the arguments, counted from 0; all unless given.
  ///   - answer: whether the answer is left out too.
  public func redact(_ selector: MessageSelector, arguments: Set<Int>? = nil, answer: Bool = false) {
    setRedaction(Redaction(arguments: arguments, answer: answer), of: selector)
  }

  /// Keeps no arguments of the message of a key, or not those: see ``redact(_:arguments:answer:)-(MessageSelector,_,_)``.
  public func redact<R, each A>(
    _ message: Message<(repeat each A) -> R>, arguments: Set<Int>? = nil, answer: Bool = false
  ) {
    redact(message.selector, arguments: arguments, answer: answer)
  }
}
