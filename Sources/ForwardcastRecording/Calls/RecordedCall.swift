// RecordedCall.swift: a recorded call with its outcome.

// Exported because clients encode and decode messages.
@_exported public import ForwardcastCoding

/// One call: receiver, message and outcome. Arguments are copied as values. If an argument is an
/// object, the recorded call shows later changes to the object.
///
///     print(recorder.calls[0])  // [ann cook: "fish"] answers true
public struct RecordedCall: CustomStringConvertible {
  /// The outcome of a call.
  public enum Outcome {
    case inProgress
    /// The method returned; `nil` if it returns nothing.
    case answered(ArgumentBox?)
    case failed(RecordedError)
  }

  /// The name of the receiver in the recording.
  public let receiver: String
  /// The message, without a result. Before a replay, replace its redacted arguments.
  public var message: Invocation { didSet { message = message.asSent } }
  /// The outcome; `inProgress` if the call had not ended when the recording was read.
  public package(set) var outcome: Outcome
  /// The number of enclosing calls of the same recorder: 0 for an outermost call. A call on another
  /// context, such as a queue, is an outermost call.
  public let depth: Int
  /// The number of the call among all recorded calls of the process, to order calls of several
  /// recorders. The number is neither compared nor encoded, and is 0 in a decoded call.
  public let order: Int
  /// The time from the creation of the recorder to the start of the call; `nil` if times were not
  /// recorded. ``isEqual(to:)`` ignores it.
  public let time: Duration?
  /// The duration of the call; `nil` during the call or if times were not recorded.
  /// ``isEqual(to:)`` ignores it.
  public private(set) var duration: Duration?

  package init(receiver: String, message: Invocation, outcome: Outcome, depth: Int, order: Int, time: Duration? = nil) {
    (self.receiver, self.outcome, self.depth, self.order, self.time) = (receiver, outcome, depth, order, time)
    self.message = message.asSent
  }

  mutating func end(_ outcome: Outcome, at end: Duration?, _ redactions: [MessageSelector: Redaction]) {
    self.outcome = redactions[message.selector]?.apply(to: outcome) ?? outcome
    if let time, let end { duration = end - time }
  }

  /// Two spaces for each enclosing call, for at most 64 calls, because a decoded call can state any
  /// depth.
  package var indentation: String { String(repeating: "  ", count: min(depth, 64)) }

  /// The selector of the message.
  public var selector: MessageSelector { message.selector }

  /// The arguments of the message.
  public var arguments: [ArgumentBox] { message.arguments }

  /// The answer, if any.
  public var answer: ArgumentBox? { if case .answered(let box) = outcome { box } else { nil } }

  /// The error, if any.
  public var error: RecordedError? { if case .failed(let error) = outcome { error } else { nil } }

  /// True if receiver, depth, message and outcome are equal. `nil` if they differ at most in values
  /// that cannot be compared: values of types that are not `Equatable`, and values that only one of
  /// the calls has redacted.
  public func isEqual(to other: RecordedCall) -> Bool? {
    guard receiver == other.receiver, depth == other.depth, selector == other.selector,
      message.signature == other.message.signature, arguments.count == other.arguments.count
    else { return false }
    let outcomes: Bool? =
      switch (outcome, other.outcome) {
      case (.inProgress, .inProgress): true
      case (.failed(let left), .failed(let right)) where left.isRedacted != right.isRedacted:
        left.type == right.type ? nil : false
      case (.failed(let left), .failed(let right)): left == right
      case (.answered(let left), .answered(let right)): isEqual(left ?? ArgumentBox(()), right ?? ArgumentBox(()))
      default: false
      }
    return areAllEqual(zip(arguments, other.arguments).map(isEqual) + [outcomes])
  }

  private func isEqual(_ one: ArgumentBox, _ other: ArgumentBox) -> Bool? {
    one.value is RedactedValue == other.value is RedactedValue ? one.isEqual(to: other) : nil
  }

  /// The call and its outcome as text: `[ann burn] fails: too hot`.
  public var description: String {
    let call = "[\(receiver) \(message)]"
    return switch outcome {
    case .inProgress: "\(call) has not ended"
    case .answered(let box) where box.map { $0.value is Void } ?? true: call
    case .answered(let box): "\(call) answers \(box?.description ?? "nil")"
    case .failed(let error): "\(call) fails: \(error)"
    }
  }
}

/// A recorded error: its text and the name of its type.
public struct RecordedError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The error's own text when the call ended.
  public let description: String
  /// The name of the error's type.
  public let type: String

  fileprivate var isRedacted: Bool { description == RedactedValue().description }
}

extension RecordedError {
  /// Creates a record of an error's text and type. A `RecordedError` is copied.
  public init(_ error: any Error) {
    let text = (error as? any RecordableError)?.recordedText ?? "\(error)"
    self = error as? RecordedError ?? RecordedError(description: text, type: "\(Swift.type(of: error))")
  }
}

package protocol RecordableError: Error {
  /// The text of the error for recordings, without position and time.
  var recordedText: String { get }
}

extension RecordedCall: Codable {
  private enum CodingKeys: String, CodingKey {
    case receiver, message, depth, error, hasEnded, time, duration
  }

  /// Encodes receiver, message, answer, error and depth, the times if they were recorded, and
  /// whether the call is still in progress.
  /// - Throws: as `Invocation.encode(to:)`, naming the first value that is not `Encodable`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(receiver, forKey: .receiver)
    var message = message
    message.result = answer
    try container.encode(message, forKey: .message)
    if depth > 0 { try container.encode(depth, forKey: .depth) }
    try container.encodeIfPresent(error, forKey: .error)
    if case .inProgress = outcome { try container.encode(false, forKey: .hasEnded) }
    try container.encodeIfPresent(time, forKey: .time)
    try container.encodeIfPresent(duration, forKey: .duration)
  }

  /// Decodes a call. The call's message is decoded by `Invocation.init(from:)`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let message = try container.decode(Invocation.self, forKey: .message)
    var outcome = Outcome.answered(message.result)
    if let error = try container.decodeIfPresent(RecordedError.self, forKey: .error) { outcome = .failed(error) }
    if try container.decodeIfPresent(Bool.self, forKey: .hasEnded) == false { outcome = .inProgress }
    self.init(
      receiver: try container.decode(String.self, forKey: .receiver), message: message, outcome: outcome,
      depth: max(0, try container.decodeIfPresent(Int.self, forKey: .depth) ?? 0), order: 0,
      time: try container.decodeIfPresent(Duration.self, forKey: .time))
    duration = try container.decodeIfPresent(Duration.self, forKey: .duration)
  }
}
