// MessageEvent.swift: one step of a message, for traces and diagrams.

/// One step of a message: sender, receiver, context, and outcome.
///
/// A tracer's span lasts from a ``Stage/began`` event to the ``Stage/answered``, ``Stage/failed``
/// or ``Stage/skipped`` event with the same ``step``.
public struct MessageEvent: Sendable {
  /// What happened.
  public enum Stage: String, Sendable {
    /// The message was sent to the receiver, which may be a proxy.
    case sent
    /// The receiver starts to run the message.
    case began
    /// The receiver returned; the evidence is its answer.
    case answered
    /// The receiver threw; the evidence is its error.
    case failed
    /// The message is queued on the receiver's context.
    case queued
    /// The receiver does not get the message; the evidence is the reason. May follow ``began``, for
    /// example if the receiver is a queued proxy without a responding target.
    case skipped
  }

  /// What happened.
  public let stage: Stage
  /// Identifies one execution by a receiver, or one message at the proxy to which it was sent. All
  /// events of one execution have the same number. The number is 0 if a direct target is
  /// skipped, or fails before its method begins.
  public let step: Int
  /// When it happened.
  public let instant: ContinuousClock.Instant
  var texts: EventTexts

  /// The name of the message.
  public var name: String { texts[.name] }
  /// The message as a call: `cook: "fish"`. Cuts strings and objects' texts at 1,000 scalars.
  public var message: String { texts[.message] }
  /// The proxy that forwarded the message; the word “sender” for a message to the traced proxy
  /// itself.
  public var sender: String { texts[.sender] }
  /// The intended receiver.
  public var receiver: String { texts[.receiver] }
  /// The context: `directly`, or the name of the receiver's queue, actor or executor.
  public var context: String { texts[.context] }
  /// The answer, error or skip reason, depending on the stage; otherwise empty.
  public var evidence: String { texts[.evidence] }

  /// Creates an event for your own tracer.
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

  /// The identities of sender and receiver; `nil` if the event does not come from a proxy.
  package var identities: (sender: ObjectIdentifier?, receiver: ObjectIdentifier?) { texts.identities }

  package func renamed(sender: String, receiver: String) -> MessageEvent {
    let texts = [name, message, sender, receiver, context, evidence]
    return MessageEvent(stage, step: step, instant: instant, EventTexts(.stated(texts, identities)))
  }
}

/// The texts of an event. A traced message's texts are rendered when they are read, or all at once
/// if the sink stores the event.
final class EventTexts: Sendable {
  enum Part: Int, CaseIterable { case name, message, sender, receiver, context, evidence }
  typealias Identities = (sender: ObjectIdentifier?, receiver: ObjectIdentifier?)

  enum State: Sendable {
    case stated([String], Identities = (nil, nil))
    case traced(TracedStep)
  }

  private let state: Guarded<State>

  init(_ state: consuming State) { self.state = Guarded(state) }

  subscript(part: Part) -> String {
    switch state.withLock({ $0 }) {
    case .stated(let texts, _): texts[part.rawValue]
    case .traced(let step): step.text(part)
    }
  }

  var identities: Identities {
    switch state.withLock({ $0 }) {
    case .stated(_, let identities): identities
    case .traced(let step): (step.sender.map { .init($0) }, step.receiver.map { .init($0) })
    }
  }

  func render() {
    let rendered = State.stated(Part.allCases.map { self[$0] }, identities)
    _ = state.withLock { exchange(&$0, with: rendered) }
  }
}

extension MessageEvent: CustomStringConvertible {
  /// A single line, for example `kitchen is sent cook: "fish"` or `ann answers 20`.
  public var description: String {
    let words = words
    // Line breaks are control characters or not ASCII.
    return words.utf8.allSatisfy { (0x20..<0x80).contains($0) } ? words : String(words.map { $0.isNewline ? " " : $0 })
  }

  private var words: String {
    switch stage {
    case .sent: "\(receiver) is sent \(message)"
    case .began: "\(receiver) gets \(message), \(context)"
    case .answered: "\(receiver) answers \(evidence.isEmpty ? "nothing" : evidence)"
    case .failed: "\(receiver) throws \(evidence)"
    case .queued: "\(receiver) will get \(message) on \(context)"
    case .skipped: "\(receiver) is skipped: \(evidence)"
    }
  }
}
