// RecordedCall.swift: one message that was sent, and what came of it, as values.

// Who imports this module codes messages.
@_exported public import ForwardcastCoding

/// One message as it was sent, to whom, and what came of it.
///
///     print(recorder.calls[0])      // [ann cook: "fish"] answers true
///
/// A call owns copies of its arguments: what the receiver does with an object among them afterwards shows in it, since
/// a reference is copied as a reference.
public struct RecordedCall: CustomStringConvertible {
  /// What came of a call.
  public enum Outcome {
    case inProgress
    /// It was answered; `nil` where the method answers nothing.
    case answered(ArgumentBox?)
    case failed(RecordedError)
  }

  /// The name under which the receiver is recorded.
  public let receiver: String
  /// What was sent: selector and arguments, without a result.
  public let message: Invocation
  /// What came of it. A call that had not ended when the recording was taken is in progress.
  public package(set) var outcome: Outcome
  /// How many recorded calls of the same recorder were in progress around it: 0 for one from outside.
  public let depth: Int
  /// Its place among all calls that the process has recorded, by which calls of several recorders are ordered. It is
  /// neither compared nor written down, and is 0 in a call that was read.
  public let order: Int
  /// When it began, counted from when its recorder was made; `nil` where no times were taken. It is not compared.
  public let time: Duration?
  /// How long it took; `nil` while it has not ended, and where no times were taken. It is not compared.
  public private(set) var duration: Duration?

  package init(receiver: String, message: Invocation, outcome: Outcome, depth: Int, order: Int, time: Duration? = nil) {
    (self.receiver, self.outcome, self.depth, self.order, self.time) = (receiver, outcome, depth, order, time)
    self.message = message.asSent
  }

  mutating func end(_ outcome: Outcome, at end: Duration?, _ redactions: [MessageSelector: Redaction]) {
    self.outcome = redactions[message.selector]?.apply(to: outcome) ?? outcome
    if let time, let end { duration = end - time }
  }

  public var selector: MessageSelector { message.selector }

  /// The arguments as they were sent.
  public var arguments: [ArgumentBox] { message.arguments }

  /// The answer; `nil` where there is none.
  public var answer: ArgumentBox? { if case .answered(let box) = outcome { box } else { nil } }

  /// The error it ended with; `nil` where there is none.
  public var error: RecordedError? { if case .failed(let error) = outcome { error } else { nil } }

  /// Whether both calls say the same to a receiver of the same name at the same depth, and came to the same; `nil`
  /// where a type has no equality and nothing else differs.
  public func isEqual(to other: RecordedCall) -> Bool? {
    guard receiver == other.receiver, depth == other.depth else { return false }
    let outcomes: Bool? =
      switch (outcome, other.outcome) {
      case (.inProgress, .inProgress): true
      case (.failed(let left), .failed(let right)): left == right
      case (.answered(let left), .answered(let right)): (left ?? ArgumentBox(())).isEqual(to: right ?? ArgumentBox(()))
      default: false
      }
    return areAllEqual([message.isEqual(to: other.message), outcomes])
  }

  /// The call and its outcome in words: `[ann cook: "fish"] answers true`, `[ann burn] fails: too hot`.
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

/// An error as a recording keeps it: its text and the name of its type.
public struct RecordedError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The error's own text, as it was when the call ended.
  public let description: String
  /// The name of the error's type.
  public let type: String
}

extension RecordedError {
  /// The text and the type of an error; one that was recorded before stays as it is.
  public init(_ error: any Error) {
    let text = (error as? any RecordableError)?.recordedText ?? "\(error)"
    self = error as? RecordedError ?? RecordedError(description: text, type: "\(Swift.type(of: error))")
  }
}

/// An error whose text says more than what a recording is to keep.
package protocol RecordableError: Error {
  /// The text without place and time.
  var recordedText: String { get }
}

extension RecordedCall: Codable {
  private enum CodingKeys: String, CodingKey {
    case receiver, message, depth, error, hasEnded, time, duration
  }

  /// Writes receiver, message, answer, error and depth, and the times where they were taken.
  /// - Throws: as `Invocation.encode(to:)`, naming the first argument or answer whose type is not `Encodable`.
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

  /// Reads a call, as `Invocation.init(from:)` reads its message.
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
