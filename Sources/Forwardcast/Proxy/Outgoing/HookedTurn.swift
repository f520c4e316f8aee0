// HookedTurn.swift: the turn of a nested proxy that has hooks around its messages.
// Layer: Proxy. See DESIGN.md, "Around a message".

/// The turn of a nested proxy that has hooks around its messages.
///
/// A schedule serves nested proxies as frames of its own; behind hooks a schedule of its own does, since a hook may have the
/// targets served twice, or not at all. What came of them is kept until the hooks have ended. Stays in the turn of the
/// message.
final class HookedTurn {
  private let message: OutgoingMessage
  private let node: RouteNode
  /// Whose turn it is, in the proxy around.
  private let place: StepContext
  private let pending: PendingAnswers?
  private let isElsewhere: Bool
  private let defers: Bool
  private let listsEveryTarget: Bool

  private var outcomes: [(outcome: StepOutcome, context: StepContext)] = []
  private var wasSent = false
  /// The failure of a target that was thrown to the hooks.
  private var thrown: (any Error)?
  /// How many messages full buffers gave up.
  private(set) var dropped = 0
  /// Turns of targets that cannot end on this context.
  private(set) var deferred: [DeferredTurn] = []

  init(
    _ message: OutgoingMessage, _ node: RouteNode, _ place: StepContext, pending: PendingAnswers?, isElsewhere: Bool,
    defers: Bool, listsEveryTarget: Bool
  ) {
    (self.message, self.node, self.place, self.pending) = (message, node, place, pending)
    (self.isElsewhere, self.defers, self.listsEveryTarget) = (isElsewhere, defers, listsEveryTarget)
  }

  /// Runs the hooks and what they let through. Gives what came of it at each target.
  func run() -> [(outcome: StepOutcome, context: StepContext)] {
    guard let (around, inside) = node.route.surrounded else { return [] }
    do {
      let answers = try around.run(hookedMessage) { arguments in
        var schedule = self.schedule(arguments, inside)
        schedule.run()
        return try self.take(schedule)
      }
      return finished(with: answers.boxes)
    } catch {
      return finished(by: error)
    }
  }

  /// Runs the hooks and what they let through, and waits for it.
  nonisolated(nonsending) func runAndWait() async -> [(outcome: StepOutcome, context: StepContext)] {
    guard let (around, inside) = node.route.surrounded else { return [] }
    do {
      let answers = try await around.runAndWait(hookedMessage) { arguments in
        var schedule = self.schedule(arguments, inside)
        try await schedule.reserveRoom()
        await schedule.runAndWait()
        schedule.giveBackRoom()
        return try self.take(schedule)
      }
      return finished(with: answers.boxes)
    } catch {
      return finished(by: error)
    }
  }

  private var hookedMessage: HookedMessage {
    var message = message
    return HookedMessage(selector: message.selector, receiver: node.route.core, arguments: message.arguments)
  }

  private func schedule(_ arguments: MessageArguments, _ inside: MessageRoute) -> MessageSchedule<RecordingSink> {
    giveUpFailures()
    outcomes = []
    var schedule = MessageSchedule(
      message.with(arguments), along: inside, in: node.proxies.outer,
      into: RecordingSink(listsEveryTarget: listsEveryTarget), pending: pending, isElsewhere: isElsewhere)
    if defers { schedule.deferred = [] }
    return schedule
  }

  /// Takes out what failed: another try, or what a hook answers, is in its place. All that no hook knows is told.
  private func giveUpFailures() {
    for (outcome, context) in outcomes {
      guard case .failed(let error) = outcome else { continue }
      if let thrown, isSame(thrown, error) { continue }
      context.report(error)
    }
    outcomes.removeAll { if case .failed = $0.outcome { true } else { false } }
    thrown = nil
  }

  /// The first failure where the sender wants answers, so that it is thrown to the hooks as in a message of their own.
  private var failure: (any Error)? {
    guard message.keepsAnswers else { return nil }
    for case (.failed(let error), _) in outcomes { return error }
    return nil
  }

  private func take(_ schedule: MessageSchedule<RecordingSink>) throws -> MessageAnswers {
    wasSent = true
    dropped += schedule.dropped
    deferred += schedule.deferred ?? []
    outcomes = schedule.sink.outcomes
    if !schedule.reachedAny {
      do {
        try node.route.core.answerSilence(message.selector)
        outcomes.append((.skipped(.doesNotRespond), place))
      } catch {
        outcomes.append((.failed(error), place.within(node.proxies)))
      }
    }
    thrown = failure
    if let thrown { throw thrown }
    return TypedAnswers(outcomes.compactMap { $0.outcome.answer })
  }

  /// The outcomes when the hooks ended with an error: those that there are when it is a target's, passed on.
  private func finished(by error: any Error) -> [(outcome: StepOutcome, context: StepContext)] {
    if let thrown, isSame(thrown, error) { return outcomes }
    return outcomes + [(.failed(error), place.within(node.proxies))]
  }

  /// The outcomes with the answers that the hooks gave. As many as came from the targets stand at those; any others are
  /// the proxy's own.
  private func finished(with boxes: [ArgumentBox]) -> [(outcome: StepOutcome, context: StepContext)] {
    if thrown != nil { giveUpFailures() }
    let places = outcomes.indices.filter { outcomes[$0].outcome.answer != nil }
    if places.count == boxes.count {
      for (place, box) in zip(places, boxes) { outcomes[place].outcome = .answered(box) }
    } else {
      outcomes.removeAll { $0.outcome.answer != nil }
      outcomes += boxes.map { (.answered($0), place) }
    }
    if !wasSent, outcomes.isEmpty { outcomes = [(.skipped(.withheld), place)] }
    return outcomes
  }
}

extension StepOutcome {
  /// The answer, where there is one.
  fileprivate var answer: ArgumentBox? { if case .answered(let answer) = self { answer } else { nil } }
}

/// Keeps every outcome in order.
struct RecordingSink: OutcomeSink {
  let listsEveryTarget: Bool
  private(set) var outcomes: [(outcome: StepOutcome, context: StepContext)] = []

  init(listsEveryTarget: Bool) { self.listsEveryTarget = listsEveryTarget }

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    outcomes.append((outcome, context))
    return true
  }
}
