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
