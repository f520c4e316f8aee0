// HookedStep.swift: the step of a message at which the hooks of a proxy stand around its targets.
// Layer: Outgoing. See DESIGN.md, "Hooks".

/// The hooks of one proxy around one message, and what they let through: that of the proxy that the message was sent to as well
/// as that of one among its targets.
///
/// A hook may have the targets served twice, or not at all, and may wait for them. So each time that it goes on a walk of its
/// own serves them, which waits as the sender does; what came of them is kept until the hooks have ended. Stays in the turn of the
/// message.
final class HookedStep {
  private let message: OutgoingMessage
  private let node: RouteNode
  /// Whose turn it is, in the proxy around.
  private let place: StepContext
  /// Whether the proxy is among the targets of another.
  let isNested: Bool
  private let waiting: Walk.Waiting
  private let defers: Bool
  private let listsEveryTarget: Bool

  /// What came of the targets, and of the hooks.
  private(set) var outcomes: [Walk.Outcome] = []
  /// The error of hooks around the message as a whole.
  private(set) var failure: (any Error)?
  /// Failures that the handlers have been told of.
  private(set) var told = 0
  /// How many messages full buffers gave up.
  private(set) var dropped = 0
  /// Turns of targets that cannot end on this context.
  private(set) var deferred: [LateTurn] = []
  private var wasSent = false
  /// The failure of a target that was thrown to the hooks.
  private var thrown: (any Error)?

  init(
    _ message: OutgoingMessage, _ node: RouteNode, at place: StepContext, isNested: Bool, _ waiting: Walk.Waiting,
    defers: Bool, listsEveryTarget: Bool
  ) {
    (self.message, self.node, self.place, self.isNested) = (message, node, place, isNested)
    (self.waiting, self.defers, self.listsEveryTarget) = (waiting, defers, listsEveryTarget)
  }

  /// Runs the hooks and what they let through, in the caller's turn.
  func run() {
    guard let (around, inside) = node.route.surrounded else { return }
    do { finish(with: try around.run(hookedMessage) { try self.proceed($0, inside) }, inside) } catch {
      finish(by: error)
    }
  }

  /// Runs the hooks, and what they let through, with suspensions.
  nonisolated(nonsending) func runAndWait() async {
    guard let (around, inside) = node.route.surrounded else { return }
    do {
      let answers = try await around.runAndWait(
        hookedMessage, { try await self.proceedAndWait($0, inside) }, inTurn: { try self.proceed($0, inside) })
      finish(with: answers, inside)
    } catch {
      finish(by: error)
    }
  }

  private var hookedMessage: HookedMessage {
    var message = message
    return HookedMessage(
      selector: message.selector, receiver: node.route.core, arguments: message.arguments,
      budget: message.trail?.budget)
  }

  // MARK: What a hook goes on with

  private func proceed(_ arguments: MessageArguments, _ inside: MessageRoute) throws -> MessageAnswers {
    var walk = try begin(arguments, inside)
    var sink = makeSink()
    // A hook that does not suspend, around a message whose sender does: everybody inside has to answer in its turn.
    if case .suspended = waiting, let target = walk.waitedFor {
      throw MessageError(
        .isolationMismatch, receiver: node.route.core.name, selector: message.selector.name,
        evidence: "\(target) has to be waited for, and an around hook of the proxy has no form that waits: "
          + "give it one as waiting:")
    }
    do { try walk.serve { sink.take($0, at: $1) } } catch { throw end(walk, sink, error) }
    return try end(walk, sink)
  }

  nonisolated(nonsending) private func proceedAndWait(_ arguments: MessageArguments, _ inside: MessageRoute)
    async throws
    -> MessageAnswers
  {
    var walk = try begin(arguments, inside)
    var sink = makeSink()
    do { try await walk.serveAndWait { sink.take($0, at: $1) } } catch { throw end(walk, sink, error) }
    return try end(walk, sink)
  }

  private func begin(_ arguments: MessageArguments, _ inside: MessageRoute) throws -> Walk {
    giveUp()
    var message = message.with(arguments)
    if !isNested { try message.admit(along: inside) }
    var walk = Walk(
      message, along: inside, in: node.proxies.outer, at: isNested ? place : nil, waiting: waiting,
      listsEveryTarget: listsEveryTarget)
    if defers { walk.deferred = [] }
    return walk
  }

  // Nobody answers for the failures of a broadcast, so they are told as they happen.
  private func makeSink() -> RecordingSink {
    RecordingSink(isEnough: message.makeProbe?(), told: isNested || message.asks ? nil : 0)
  }

  private func note(_ walk: borrowing Walk, _ sink: RecordingSink) {
    wasSent = true
    dropped += walk.dropped
    deferred += walk.deferred ?? []
    outcomes = sink.outcomes
    told = sink.told ?? 0
  }

  private func end(_ walk: borrowing Walk, _ sink: RecordingSink, _ error: any Error) -> any Error {
    note(walk, sink)
    return error
  }

  private func end(_ walk: borrowing Walk, _ sink: RecordingSink) throws -> MessageAnswers {
    note(walk, sink)
    if !isNested {
      do { try walk.answerSilence() } catch {
        if message.asks { throw error }
        place.report(error)
      }
    }
    thrown = firstFailure
    if let thrown {
      // `collect` throws one failure, and tells the others; `forward` lists all of them.
      if !isNested, !listsEveryTarget { tellFailures(but: thrown) }
      throw thrown
    }
    return TypedAnswers(outcomes.compactMap { $0.outcome.answer })
  }

  /// The first failure where the sender asks for answers: it is thrown to the hooks as it would be to the sender.
  private var firstFailure: (any Error)? {
    guard message.asks, !(message.ignoresErrors && outcomes.contains { $0.outcome.answer != nil }) else { return nil }
    for case (.failed(let error), _) in outcomes { return error }
    return nil
  }

  /// Takes all out that another try is in the place of.
  private func giveUp() {
    giveUpFailures()
    if case .elsewhere(let pending?) = waiting {
      pending.abandon(outcomes.compactMap { if case .queued(let slot) = $0.outcome { slot } else { nil } })
    }
    outcomes = []
  }

  /// Takes out what failed: another try, or what a hook answers, is in its place. All that no hook knows is told.
  private func giveUpFailures() {
    tellFailures(but: thrown)
    outcomes.removeAll { if case .failed = $0.outcome { true } else { false } }
    thrown = nil
  }

  /// Tells the handlers what failed, and takes it out, but for one error that is known.
  private func tellFailures(but known: (any Error)?) {
    var (known, kept) = (known, [Walk.Outcome]())
    for found in outcomes {
      if case .failed(let error) = found.outcome {
        if let same = known, isSame(same, error) {
          known = nil
        } else {
          found.context.report(error)
          continue
        }
      }
      kept.append(found)
    }
    outcomes = kept
  }

  // MARK: The end of the hooks

  /// Keeps what there is when the hooks ended with an error: that of a target, passed on, or another that takes its place.
  private func finish(by error: any Error) {
    if let thrown, isSame(thrown, error) { return }
    if message.asks { giveUpFailures() }
    if isNested { outcomes.append((.failed(error), place.within(node.proxies))) } else { failure = error }
  }

  /// Puts the answers of the hooks in. As many as came from the targets stand at those; any others are the proxy's own.
  private func finish(with answers: MessageAnswers, _ inside: MessageRoute) {
    if thrown != nil { giveUpFailures() }
    let boxes = message.asks || isNested ? answers.boxes : []
    let places = outcomes.indices.filter { outcomes[$0].outcome.answer != nil }
    if places.count == boxes.count {
      for (place, box) in zip(places, boxes) { outcomes[place].outcome = .answered(box) }
    } else {
      outcomes.removeAll { $0.outcome.answer != nil }
      outcomes += boxes.map { (.answered($0), place) }
    }
    if !wasSent { withhold(inside) }
  }

  /// Says from whom the hooks withheld the message: the nested proxy, or every target of that which the sender knows.
  private func withhold(_ inside: MessageRoute) {
    if isNested {
      if outcomes.isEmpty { outcomes = [(.skipped(.withheld), place)] }
    } else if listsEveryTarget {
      var walk = Walk(message, along: inside, listsEveryTarget: true, withheld: .withheld)
      while case .outcome(let found)? = walk.next() { outcomes.append(found) }
    }
  }
}

extension StepOutcome {
  /// The answer, where there is one.
  fileprivate var answer: ArgumentBox? { if case .answered(let answer) = self { answer } else { nil } }
}

/// Keeps every outcome in order.
private struct RecordingSink {
  /// Says of an answer whether the sender needs no further one.
  let isEnough: ((ArgumentBox) -> Bool)?
  /// How many failures were told instead of kept; `nil` where all are kept.
  var told: Int?
  var outcomes: [Walk.Outcome] = []

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    if let count = told, case .failed(let error) = outcome {
      context.report(error)
      told = count + 1
      return true
    }
    outcomes.append((outcome, context))
    if let isEnough, let answer = outcome.answer { return !isEnough(answer) }
    return true
  }
}

/// Whether two errors are one that was passed on: the same reference, or, where a typed `throws` has put the value in a new
/// box, a value of the same type that is equal or reads the same.
func isSame(_ one: any Error, _ other: any Error) -> Bool {
  // In a struct, since a function of any type would be given the value.
  struct Reference { let error: any Error }
  let references = (Reference(error: one), Reference(error: other))
  if unsafeBitCast(references.0, to: UnsafeRawPointer.self) == unsafeBitCast(references.1, to: UnsafeRawPointer.self) {
    return true
  }
  guard type(of: one) == type(of: other) else { return false }
  func isEqual<T: Equatable>(_ one: T) -> Bool { (other as? T) == one }
  if let one = one as? any Equatable { return isEqual(one) }
  if type(of: one) is AnyClass { return (one as AnyObject) === (other as AnyObject) }
  return "\(one)" == "\(other)"
}
