// RemoteError.swift: why a message to another process was not answered.

/// Why a message to another process was not answered, and whether it can have run there.
///
/// A `MessageError` of the other side crosses as what it is. Any other error arrives as ``Code/foreignError``, with the
/// name of its type and its text.
///
/// The text begins with the rule and ends with what is known of the message:
/// `timed out add: of counter: no answer in 1.0 seconds, unknown whether it arrived`.
public struct RemoteError: Error, Hashable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// The method threw an error that is not a `MessageError`: see ``RemoteError/foreignType``.
    public static let foreignError = Code(description: "foreign error")
    /// The endpoint does not take the message: its selector is not let through, an argument is of a type that it does
    /// not know, it is too large, or its version is unknown.
    public static let refused = Code(description: "refused")
    /// An argument, or the answer, cannot be written down, is too large, or is of a type that the other side was not told.
    public static let cannotCross = Code(description: "cannot cross")
    /// There was no answer before the deadline.
    public static let timedOut = Code(description: "timed out")
    /// The engine threw an error.
    public static let connectionFailed = Code(description: "connection failed")
    /// The other side has gone; nothing is sent to it any more.
    public static let gone = Code(description: "gone")
    /// Too many messages wait, here or there.
    public static let busy = Code(description: "busy")
    /// What came back is no answer.
    public static let malformedAnswer = Code(description: "malformed answer")
  }

  /// What is known of the message.
  public enum Outcome: String, Hashable, Sendable {
    /// Its method was not started, and will not be.
    case didNotRun = "it did not run"
    /// Its method ran to its end.
    case ran = "it ran"
    /// It may have run, run later, or never run; at most once.
    case unknown = "unknown whether it arrived"
  }

  public let code: Code
  /// What is known of the message at the other side: whether sending it again may run it twice.
  public let outcome: Outcome
  /// The name of the receiver that stands for the other side.
  public let peer: String
  /// The name of the message; empty for a connection.
  public let selector: String
  /// What was wanted and what was found, in words.
  public let evidence: String
  /// For ``Code/foreignError`` the name of the error's type; `evidence` is then its text.
  public let foreignType: String?
  /// Which argument is meant, counted from 0 as the sender counts.
  public let argumentIndex: Int?

  init(
    _ code: Code, _ outcome: Outcome, peer: String, selector: String, evidence: String, foreignType: String? = nil,
    argumentIndex: Int? = nil
  ) {
    (self.code, self.outcome, self.peer, self.selector) = (code, outcome, peer, selector)
    (self.evidence, self.foreignType, self.argumentIndex) = (evidence, foreignType, argumentIndex)
  }

  /// The rule, the message and the other side, then the evidence and what is known of the call.
  public var description: String {
    let words = [code.description, selector, "of \(peer)"].filter { !$0.isEmpty }
    let type = foreignType.map { "\($0): " } ?? ""
    return words.joined(separator: " ") + ": \(type)\(evidence), \(outcome.rawValue)"
  }
}

extension RemoteLine {
  func error(
    _ code: RemoteError.Code, _ outcome: RemoteError.Outcome, _ selector: String, _ evidence: String,
    argument: Int? = nil
  ) -> RemoteError {
    RemoteError(code, outcome, peer: peer, selector: selector, evidence: evidence, argumentIndex: argument)
  }

  /// The error for what is no reply.
  func malformed(_ refusal: WireRefusal, _ selector: String) -> RemoteError {
    error(.malformedAnswer, .unknown, selector, "\(refusal.code.rawValue): \(refusal.evidence)")
  }

  /// The error for what an endpoint refused.
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
