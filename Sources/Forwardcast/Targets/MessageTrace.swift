// MessageTrace.swift: reports each step of a proxy's messages to a sink.

import Synchronization

/// The trace of one proxy: its sink and the names of objects. Traced messages use no typed loops.
final class MessageTrace: Sendable {
  /// The next step number, unique in the process.
  private static let steps = Atomic<Int>(1)
  static func nextStep(_ count: Int = 1) -> Int { steps.wrappingAdd(count, ordering: .relaxed).oldValue }

  private let name: String?
  fileprivate weak let core: MulticastCore?
  private let naming: (@Sendable (AnyObject) -> String?)?
  private let sink: @Sendable (MessageEvent) -> Void
  private let names = Guarded(Names())

  /// The names of objects: the type's name, followed by a number from its second object on.
  private struct Names {
    var known: [ObjectIdentifier: (type: ObjectIdentifier, name: String)] = [:]
    var counts: [String: Int] = [:]
    /// The maximum number of objects whose names are stored.
    static let limit = 1000
  }

  init(
    _ core: MulticastCore, name: String?, naming: (@Sendable (AnyObject) -> String?)?,
    _ sink: @escaping @Sendable (MessageEvent) -> Void
  ) {
    (self.core, self.name, self.naming, self.sink) = (core, name, naming, sink)
  }

  fileprivate func name(of target: AnyObject?) -> String {
    guard let target else { return "a dead target" }
    if let name, target === core { return name }
    if let name = naming?(target) { return name }
    let type = ObjectIdentifier(Swift.type(of: target))
    if let known = names.withLock({ $0.known[ObjectIdentifier(target)] }), known.type == type { return known.name }
    let name = typeName(of: target)
    return names.withLock { names in
      guard names.known.count < Names.limit else { return name }
      let count = names.counts[name, default: 0] + 1
      let numbered = count == 1 ? name : "\(name) \(count)"
      (names.counts[name], names.known[ObjectIdentifier(target)]) = (count, (type, numbered))
      return numbered
    }
  }

  /// Reports that a message was sent to the proxy. Returns the step's number.
  func noteSent(_ arguments: MessageArguments, at context: StepContext) -> Int {
    let step = MessageTrace.nextStep()
    note(.sent, arguments, at: context, step: step)
    return step
  }

  /// Reports the outcome of a step, or of the whole message at the proxy that it was sent to.
  func note(_ outcome: StepOutcome, _ arguments: MessageArguments, at context: StepContext, step: Int) {
    let stage: MessageEvent.Stage
    switch outcome {
    case .answered, .answeredAll: stage = .answered
    case .failed: stage = .failed
    case .skipped: stage = .skipped
    // Already reported before posting, since the target may have run by now.
    case .queued: return
    }
    note(stage, arguments, at: context, step: step, outcome)
  }

  /// Reports a step to the sink. Texts are rendered when the sink reads them.
  @inline(never)
  func note(
    _ stage: MessageEvent.Stage, _ arguments: MessageArguments, at context: consuming StepContext, step: Int,
    _ outcome: consuming StepOutcome = .queued(slot: -1)
  ) {
    let crosses = arguments.crosses && outcome.crosses
    // This event has the only reference to its texts, so any further reference belongs to the sink.
    var event = MessageEvent(
      stage, step: step,
      EventTexts(.traced(TracedStep(trace: self, arguments: arguments, context: context, outcome: outcome))))
    // The sink may read on another thread, so values that are not `Sendable` are rendered here.
    if !crosses { event.texts.render() }
    sink(event)
    if !isKnownUniquelyReferenced(&event.texts) { event.texts.render() }
  }
}

/// The values that a traced event's texts are rendered from.
struct TracedStep: @unchecked Sendable {  // immutable; read on its sink's thread
  let trace: MessageTrace
  let arguments: MessageArguments
  /// The place of the step: a registration or, without one, the proxy that the message was sent to.
  let context: StepContext
  /// The outcome. An event without an outcome has `.queued`, whose evidence is empty.
  let outcome: StepOutcome

  /// The proxy that forwards the message; `nil` if the message was sent to the traced proxy itself.
  var sender: MulticastCore? { context.registration == nil ? nil : context.proxies.core }

  var receiver: AnyObject? {
    guard let registration = context.registration else { return context.proxies.core }
    return context.target ?? registration.currentTarget
  }

  func text(_ part: EventTexts.Part) -> String {
    switch part {
    case .name: return context.selector.name
    case .message: return arguments.text(context.selector)
    case .sender: return sender.map { trace.name(of: $0) } ?? "sender"
    case .receiver: return trace.name(of: receiver)
    case .context:
      guard context.isQueued else { return "directly" }
      return context.registration?.queued?.mailbox.context.name ?? "its context"
    case .evidence: return outcome.evidence
    }
  }
}

extension StepOutcome {
  /// True if its values may be read in another isolation.
  fileprivate var crosses: Bool {
    switch self {
    case .answered(let answer): answer?.isSendable ?? true
    case .answeredAll(let answers): answers.boxes.allSatisfy(\.isSendable)
    case .failed, .skipped, .queued: true
    }
  }

  fileprivate var evidence: String {
    switch self {
    case .answered(let answer): answer?.description(upTo: 1000) ?? ""
    case .answeredAll(let answers): answers.boxes.last?.description(upTo: 1000) ?? ""
    case .failed(let error): "\(error)"
    case .skipped(let reason): reason.description
    case .queued: ""
    }
  }
}
