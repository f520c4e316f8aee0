// MessageEvent.swift: one step of one message, for traces and diagrams.

/// One step of one message: who was asked what, by whom, where it ran, and the outcome.
///
/// A tracer makes a span of each ``Stage/began`` and the ending event with the same ``step``, named
/// ``name``.
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
  /// The same number for all events of one receiver's execution, and of a message at the proxy that
  /// it was sent to.
  public let step: Int
  /// When it happened.
  public let instant: ContinuousClock.Instant
  var texts: EventTexts

  /// The name of the message.
  public var name: String { texts[.name] }
  /// The message as a call: `cook: "fish"`.
  public var message: String { texts[.message] }
  /// Who sent it, or sent it on.
  public var sender: String { texts[.sender] }
  /// Who was to get it.
  public var receiver: String { texts[.receiver] }
  /// Where it runs: `directly`, or the name of the receiver's queue, actor or executor.
  public var context: String { texts[.context] }
  /// The answer, error or reason, by stage; otherwise empty.
  public var evidence: String { texts[.evidence] }

  /// An event of your own tracer.
  public init(
    _ stage: Stage, name: String, message: String, sender: String, receiver: String, context: String = "directly",
    evidence: String = "", step: Int = 0, instant: ContinuousClock.Instant = .now
  ) {
    self.init(
      stage, step: step, instant: instant, EventTexts(.stated([name, message, sender, receiver, context, evidence])))
  }

  init(_ stage: Stage, step: Int, instant: ContinuousClock.Instant = .now, _ texts: EventTexts) {
    (self.stage, self.step, self.instant, self.texts) = (stage, step, instant, texts)
  }

  /// The identities of sender and receiver; `nil` in an event that no proxy made.
  package var identities: (sender: ObjectIdentifier?, receiver: ObjectIdentifier?) { texts.identities }

  /// A copy with other names.
  package func renamed(sender: String, receiver: String) -> MessageEvent {
    let texts = EventTexts(.stated([name, message, sender, receiver, context, evidence]), identities)
    return MessageEvent(stage, step: step, instant: instant, texts)
  }
}

/// The texts of an event. Those of a traced message are rendered when they are read, or all at once
/// if the event outlives its sink.
final class EventTexts: Sendable {
  enum Part: Int, CaseIterable { case name, message, sender, receiver, context, evidence }

  enum State: Sendable {
    case stated([String])
    case traced(TracedStep)
  }

  private let state: Guarded<State>
  let identities: (sender: ObjectIdentifier?, receiver: ObjectIdentifier?)

  init(_ state: State, _ identities: (ObjectIdentifier?, ObjectIdentifier?) = (nil, nil)) {
    self.state = Guarded(state)
    self.identities = identities
  }

  subscript(part: Part) -> String {
    switch state.withLock({ $0 }) {
    case .stated(let texts): texts[part.rawValue]
    case .traced(let step): step.text(part)
    }
  }

  /// Renders every text and releases what they are made of.
  func render() {
    let texts = Part.allCases.map { self[$0] }
    _ = state.withLock { exchange(&$0, with: .stated(texts)) }
  }
}

extension MessageEvent: CustomStringConvertible {
  /// For example `kitchen is asked cook: "fish"`, `ann gets cook: "fish", directly` or `ann answers
  /// 20`; always one line.
  public var description: String {
    let words = words
    // Line breaks are control characters or not ASCII.
    return words.utf8.allSatisfy { (0x20..<0x80).contains($0) } ? words : String(words.map { $0.isNewline ? " " : $0 })
  }

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
