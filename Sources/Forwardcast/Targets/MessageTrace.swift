// MessageTrace.swift: reports each step of a proxy's messages to a sink.

import Synchronization

/// A sink for the steps of a proxy's messages. With one, the proxy's messages always go by a walk.
final class MessageTrace: Sendable {
  private static let steps = Atomic<Int>(1)
  static func nextStep(_ count: Int = 1) -> Int { steps.wrappingAdd(count, ordering: .relaxed).oldValue }

  private let name: String?
  private weak let core: MulticastCore?
  private let naming: (@Sendable (AnyObject) -> String?)?
  private let sink: @Sendable (MessageEvent) -> Void
  /// The numbers of the targets that are named by their types, in the order in which they were met.
  private let numbers = Guarded<[String: [ObjectIdentifier: Int]]>([:])
  /// How many targets of a type are told apart.
  private static let numberedTargets = 100

  init(
    _ core: MulticastCore, name: String?, naming: (@Sendable (AnyObject) -> String?)?,
    _ sink: @escaping @Sendable (MessageEvent) -> Void
  ) {
    (self.core, self.name, self.naming, self.sink) = (core, name, naming, sink)
  }

  private func name(of target: AnyObject?) -> String {
    guard let target else { return "a dead target" }
    if target === core, let name { return name }
    return naming?(target) ?? numbered(target, typeName(of: target))
  }

  /// A target by its type, with a number from the second of a type on.
  private func numbered(_ target: AnyObject, _ type: String) -> String {
    let number = numbers.withLock { numbers in
      let known = numbers[type, default: [:]]
      if let number = known[ObjectIdentifier(target)] { return number }
      guard known.count < MessageTrace.numberedTargets else { return 1 }
      numbers[type, default: [:]][ObjectIdentifier(target)] = known.count + 1
      return known.count + 1
    }
    return number == 1 ? type : "\(type) \(number)"
  }

  /// Reports that a message was sent to the proxy; returns the number of that step.
  func noteSent(_ message: HookedMessage) -> Int {
    let step = MessageTrace.nextStep()
    note(.sent, message.selector, message.arguments, at: nil, step: step)
    return step
  }

  /// Reports the outcome of a message at the proxy.
  @inline(never) func note(_ found: Result<MessageAnswers, any Error>, _ message: HookedMessage, step: Int) {
    let (selector, arguments) = (message.selector, message.arguments)
    switch found {
    case .success(let answers): note(.answered, selector, arguments, at: nil, step: step, .answeredAll(answers))
    case .failure(let error): note(.failed, selector, arguments, at: nil, step: step, .failed(error))
    }
  }

  func note(_ outcome: StepOutcome, _ arguments: MessageArguments, at context: StepContext, step: Int) {
    let stage: MessageEvent.Stage
    switch outcome {
    case .answered, .answeredAll: stage = .answered
    case .failed: stage = .failed
    case .skipped: stage = .skipped
    // Reported before posting: the target may have run by now.
    case .queued: return
    }
    note(stage, context.selector, arguments, at: context, step: step, outcome)
  }

  /// Reports a step to the sink, which renders what it reads.
  ///
  /// - Parameter context: the place of the step; `nil` for the proxy that the message was sent to.
  @inline(never)
  func note(
    _ stage: MessageEvent.Stage, _ selector: MessageSelector, _ arguments: MessageArguments, at context: StepContext?,
    step: Int, _ outcome: StepOutcome? = nil
  ) {
    let receiver = context.map { $0.target ?? $0.registration?.currentTarget } ?? core
    let identities = (context.map { ObjectIdentifier($0.proxies.core) }, receiver.map { ObjectIdentifier($0) })
    // No other reference to the texts, so that one more is the sink's.
    var event = MessageEvent(
      stage, name: selector.name, step: step,
      EventTexts(identities) { [self] part in
        switch part {
        case .message: arguments.text(selector)
        case .sender: context.map { name(of: $0.proxies.core) } ?? "sender"
        case .receiver: name(of: receiver)
        case .context:
          context.flatMap { $0.isQueued ? $0.registration?.queued?.mailbox.context.name ?? "its context" : nil }
            ?? "directly"
        case .evidence: outcome?.evidence ?? ""
        }
      })
    // Values that may not cross are rendered here, since the sink may read the event elsewhere.
    if !arguments.crosses || !(outcome?.boxes.allSatisfy(\.isSendable) ?? true) { event.texts.render() }
    sink(event)
    if !isKnownUniquelyReferenced(&event.texts) { event.texts.render() }
  }
}

extension StepOutcome {
  fileprivate var evidence: String {
    switch self {
    case .answered(let answer): answer?.description ?? ""
    case .answeredAll(let answers): answers.boxes.last?.description ?? ""
    case .failed(let error): "\(error)"
    case .skipped(let reason): reason.description
    case .queued: ""
    }
  }
}
