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
  /// The targets named by their types only, in the order in which they were met.
  private let met = Guarded<[String: [ObjectIdentifier]]>([:])
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
    if let core = target as? MulticastCore { return core === self.core ? name ?? core.name : core.name }
    return naming?(target) ?? numbered(target, typeName(of: target))
  }

  /// A target by its type, with a number from the second of a type on.
  private func numbered(_ target: AnyObject, _ type: String) -> String {
    let index = met.withLock { met in
      let index = met[type]?.firstIndex(of: ObjectIdentifier(target)) ?? met[type]?.count ?? 0
      guard index < MessageTrace.numberedTargets else { return 0 }
      if index == met[type]?.count ?? 0 { met[type, default: []].append(ObjectIdentifier(target)) }
      return index
    }
    return index == 0 ? type : "\(type) \(index + 1)"
  }

  /// Reports that a message was sent to a proxy; returns the number of that step.
  func noteSent(_ message: HookedMessage) -> Int {
    let step = MessageTrace.nextStep()
    note(.sent, message, step: step)
    return step
  }

  /// Reports the outcome of a message at a proxy.
  @inline(never) func note(_ found: Result<MessageAnswers, any Error>, _ message: HookedMessage, step: Int) {
    switch found {
    case .success(let answers): note(.answered, message, step: step, answers.boxes.last?.description ?? "")
    case .failure(let error): note(.failed, message, step: step, "\(error)")
    }
  }

  @inline(never) private func note(
    _ stage: MessageEvent.Stage, _ message: HookedMessage, step: Int, _ evidence: String = ""
  ) {
    sink(
      MessageEvent(
        stage, name: message.selector.name, message: message.invocation.description, sender: "sender",
        receiver: name(of: message.receiver), evidence: evidence, step: step))
  }

  @inline(never)
  func note(
    _ stage: MessageEvent.Stage, _ message: Invocation, at context: StepContext, step: Int,
    _ evidence: String = ""
  ) {
    let isQueued = context.isQueued
    sink(
      MessageEvent(
        stage, name: message.selector.name, message: message.description,
        sender: name(of: context.proxies.core),
        receiver: name(of: context.target ?? context.registration?.currentTarget),
        context: isQueued ? context.registration?.queued?.mailbox.context.name ?? "its context" : "directly",
        evidence: evidence, step: step))
  }

  @inline(never) func note(_ outcome: StepOutcome, _ message: Invocation, at context: StepContext, step: Int) {
    switch outcome {
    case .answered(let answer): note(.answered, message, at: context, step: step, answer?.description ?? "")
    case .answeredAll(let answers):
      note(.answered, message, at: context, step: step, answers.boxes.last?.description ?? "")
    case .failed(let error): note(.failed, message, at: context, step: step, "\(error)")
    // Reported before posting: the target may have had its turn by now.
    case .queued: break
    case .skipped(let reason): note(.skipped, message, at: context, step: step, reason.description)
    }
  }
}
