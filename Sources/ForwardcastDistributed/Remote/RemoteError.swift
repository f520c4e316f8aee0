// RemoteError.swift: errors of messages to other processes.

/// Why a message to another process was not answered, and whether it may have run there.
///
/// A `MessageError` of the other side is thrown unchanged. Any other error becomes
/// ``Code/foreignError``, with the error's text and the name of its type.
///
/// The text begins with the code and ends with what is known about the message:
/// `timed out: 'add:' of counter: no answer in 1.0 seconds; unknown whether the message ran`.
public struct RemoteError: Error, Hashable, CustomStringConvertible {
  /// The kind of error. More kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// The method threw an error that is not a `MessageError`: see ``RemoteError/foreignType``.
    public static let foreignError = Code(description: "foreign error")
    /// The endpoint refuses the message because of the message's selector, size, version, number
    /// or syntax, or because its arguments are too many, too few or cannot be decoded.
    public static let refused = Code(description: "refused")
    /// An argument cannot be encoded, or the answer cannot be encoded or decoded or is too large.
    public static let cannotCross = Code(description: "cannot cross")
    /// No answer arrived before the deadline.
    public static let timedOut = Code(description: "timed out")
    /// The engine threw an error, or has not returned from many earlier calls.
    public static let connectionFailed = Code(description: "connection failed")
    /// The other side was lost or has ended. Nothing more is sent to it.
    public static let gone = Code(description: "receiver gone")
    /// Too many messages wait here or at the endpoint, or all lines of the endpoint are in use.
    public static let busy = Code(description: "busy")
    /// The answer is malformed, belongs to another call, or was not kept by the endpoint.
    public static let malformedAnswer = Code(description: "malformed answer")
  }

  /// What is known about the message.
  public enum Outcome: String, Hashable, Sendable {
    /// The method did not run and will not run.
    case didNotRun = "the message did not run"
    /// The method ran to its end.
    case ran = "the message ran"
    /// It is unknown whether the method has run or will still run. The method runs at most once.
    case unknown = "unknown whether the message ran"
  }

  /// The kind of error.
  public let code: Code
  /// What is known about the message. Unless the outcome is `didNotRun`, sending the message again
  /// can run the method a second time.
  public let outcome: Outcome
  /// The name of the remote receiver.
  public let peer: String
  /// The name of the message; empty for a connection.
  public let selector: String
  /// Details, as text.
  public let evidence: String
  /// For ``Code/foreignError``, the name of the error's type. The error's text is the ``evidence``.
  public let foreignType: String?
  /// The argument that the error is about, counted from 0.
  public let argumentIndex: Int?

  init(
    _ code: Code, _ outcome: Outcome, peer: String, selector: String, evidence: String, foreignType: String? = nil,
    argumentIndex: Int? = nil
  ) {
    (self.code, self.outcome, self.peer, self.selector) = (code, outcome, peer, selector)
    (self.evidence, self.foreignType, self.argumentIndex) = (evidence, foreignType, argumentIndex)
  }

  public var description: String {
    let name = selector.isEmpty ? "" : ": '\(selector)'"
    let type = foreignType.map { "\($0): " } ?? ""
    return "\(code)\(name) of \(peer): \(type)\(evidence); \(outcome.rawValue)"
  }
}

extension RemoteLine {
  func error(
    _ code: RemoteError.Code, _ outcome: RemoteError.Outcome, _ selector: String, _ evidence: String,
    argument: Int? = nil
  ) -> RemoteError {
    RemoteError(code, outcome, peer: peer, selector: selector, evidence: evidence, argumentIndex: argument)
  }

  func malformed(_ refusal: WireRefusal, _ selector: String) -> RemoteError {
    error(.malformedAnswer, .unknown, selector, refusal.evidence)
  }

  func error(_ refusal: WireRefusal, _ selector: String) -> RemoteError {
    let (code, outcome): (RemoteError.Code, RemoteError.Outcome) =
      switch refusal.code {
      case .unknownLine, .closed: (.gone, .didNotRun)
      case .busy: (.busy, .didNotRun)
      case .answerNotKept: (.malformedAnswer, .unknown)
      case .answerCannotCross: (.cannotCross, .ran)
      case .unknownVersion, .malformed, .tooLarge, .superseded, .ahead, .notAllowed, .wrongArgumentCount,
        .unreadableArgument:
        (.refused, .didNotRun)
      }
    return error(code, outcome, selector, refusal.evidence, argument: refusal.argumentIndex)
  }
}
