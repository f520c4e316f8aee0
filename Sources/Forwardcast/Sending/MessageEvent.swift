// MessageEvent.swift: one step of one message, for traces and diagrams.

/// One step of one message: who was asked what, by whom, where it ran, and the outcome.
///
/// A tracer makes a span of each ``Stage/began`` and the ending event with the same ``step``, named ``name``.
public struct MessageEvent: Sendable {
  /// What happened.
  public enum Stage: String, Sendable {
    /// The message was sent to the receiver, which may be a proxy.
    case sent
    /// The receiver begins to run it.
    case began
    /// The receiver has run it; the evidence is its answer.
    case answered
    /// The receiver has failed; the evidence is its error.
    case failed
    /// The message waits for the receiver's context.
    case queued
    /// The receiver does not get the message; the evidence is why.
    case skipped
  }

  /// What happened.
  public let stage: Stage
  /// The name of the message.
  public let name: String
  /// The message as a call: `cook: "fish"`.
  public let message: String
  /// Who sent it, or sent it on.
  public package(set) var sender: String
  /// Who was to get it.
  public package(set) var receiver: String
  /// Where it runs: `directly`, or the name of the receiver's queue, actor or executor.
  public let context: String
  /// The answer, error or reason, by stage; otherwise empty.
  public let evidence: String
  /// The same number for all events of one receiver's turn, and of a message at the proxy that it was sent to.
  public let step: Int
  /// When it happened.
  public let instant: ContinuousClock.Instant

  /// An event of your own tracer.
  public init(
    _ stage: Stage, name: String, message: String, sender: String, receiver: String, context: String = "directly",
    evidence: String = "", step: Int = 0, instant: ContinuousClock.Instant = .now
  ) {
    (self.stage, self.name, self.message, self.sender, self.receiver) = (stage, name, message, sender, receiver)
    (self.context, self.evidence, self.step, self.instant) = (context, evidence, step, instant)
  }
}

extension MessageEvent: CustomStringConvertible {
  /// For example `kitchen is asked cook: "fish"`, `ann gets cook: "fish", directly` or `ann answers 20`; always one line.
  public var description: String { String(words.map { $0.isNewline ? " " : $0 }) }

  private var words: String {
    switch stage {
    case .sent: "\(receiver) is asked \(message)"
    case .began: "\(receiver) gets \(message), \(context)"
    case .answered: "\(receiver) answers \(evidence.isEmpty ? "nothing" : evidence)"
    case .failed: "\(receiver) throws \(evidence)"
    case .queued: "\(receiver) will get \(message) on \(context)"
    case .skipped: "\(receiver) is passed over: \(evidence)"
    }
  }
}
