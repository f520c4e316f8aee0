// OutcomeQueue.swift: passes outcomes to the result in delivery order.

/// The outcome of a message at one target, with its site. It is a class since hooks get lists of
/// outcomes, and copying a struct would take several retains.
final class Outcome {
  @exclusivity(unchecked) var outcome: StepOutcome
  let context: StepContext

  init(_ outcome: StepOutcome, _ context: StepContext) { (self.outcome, self.context) = (outcome, context) }
}

/// The number of a message's targets by outcome.
struct OutcomeCounts {
  private(set) var summary = BroadcastSummary()
  /// Targets whose full buffers refused the message. A summary counts them as `dropped` only.
  private(set) var refused = 0

  /// The number of targets that ran the message.
  var ran: Int { summary.delivered + summary.failed }
  /// The number of targets that ran the message or queued it.
  var received: Int { ran + summary.queued }
  /// The number of targets that queued the message, or whose full buffers refused it.
  var unanswered: Int { summary.queued + refused }
  /// The sum of `ran` and `unanswered`. If it is 0, the message has no responder.
  var reached: Int { ran + unanswered }

  mutating func note(_ outcome: StepOutcome) {
    switch outcome {
    case .answered: summary.delivered += 1
    // Targets whose answers a hook removed have run, too.
    case .answeredAll(let answers): summary.delivered += max(1, answers.count)
    case .queued: summary.queued += 1
    case .failed: summary.failed += 1
    case .skipped(let reason):
      if reason.countsAsReached { refused += 1 } else if reason.isCounted { summary.skipped += 1 }
    }
  }

  mutating func noteDelivered(_ count: Int) { summary.delivered += count }
}

/// Passes one message's outcomes to the result in delivery order. Owned by a ``MessageDelivery``.
///
/// Buffers the outcomes behind a pending one. Inside a hook call it buffers all outcomes, since
/// hooks may replace them. Each kind of result has a subclass that consumes the outcomes, see
/// ``ResultQueue``.
@usableFromInline
class OutcomeQueue {
  /// Reads buffered outcomes, up to the first pending one, to find whether the answers suffice.
  private struct Probe {
    let isEnough: (ArgumentBox) -> Bool
    /// The innermost hook call's pending outcomes, and the index of its first buffered outcome.
    let pending: PendingAnswers?
    let start: Int
    var read = 0
  }

  // MARK: - Configuration (immutable)

  /// The consumer of unboxed answers, if the result accepts them.
  final let taker: TypedTaker?
  /// True if the result accepts an answer with only its target, without a ``StepContext``.
  final let takesPlain: Bool
  private final let makeProbe: (() -> (ArgumentBox) -> Bool)?
  private final let listsEveryTarget: Bool
  /// True if answers are recorded when the result gets them, so a new probe can read them again.
  private final let recordsGiven: Bool

  // MARK: - State (the sender's context)
  // Properties that each outcome accesses are not checked for exclusivity, see ``MessageDelivery``.

  @exclusivity(unchecked) private(set) final var held: [Outcome] = []
  /// The number of running hook calls that get outcomes. Until they end, the result gets none.
  @exclusivity(unchecked) private(set) final var hookCalls = 0
  /// True if no further answer is needed. Inside hooks, the probe decides; otherwise the result.
  @exclusivity(unchecked) private(set) final var isEnough = false
  /// True if the result itself needs no further answer.
  @exclusivity(unchecked) private final var isComplete = false
  /// Set inside hook calls, if the sender may need only some answers.
  @exclusivity(unchecked) private final var probe: Probe?
  private final var given: [ArgumentBox] = []
  /// The running loop's buffer for answers, inside hooks or behind a pending outcome.
  @exclusivity(unchecked) private final var keeper: TypedTaker?
  /// The counts without buffered outcomes. Restored when a hook sends the message again.
  @exclusivity(unchecked) final var counts = OutcomeCounts()
  /// The number of messages that full buffers dropped because of this message.
  final var dropped = 0
  /// True if a target has run inside hooks, even if they discarded its outcome.
  final var hasRun = false

  init(_ taker: TypedTaker?, takesPlain: Bool, _ request: DeliveryRequest, hasHooks: @autoclosure () -> Bool) {
    (self.taker, self.takesPlain) = (taker, takesPlain)
    (makeProbe, listsEveryTarget) = (request.makeProbe, request.listsEveryTarget)
    recordsGiven = request.makeProbe != nil && hasHooks()
  }

  // MARK: - Result

  func accept(_ outcome: StepOutcome, at context: StepContext) -> Bool { true }
  /// Accepts an answer without its site, see ``takesPlain``.
  func accept(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {}

  // MARK: - Outcomes

  final var isDirect: Bool { hookCalls == 0 && held.isEmpty }

  /// Adds the next outcome in delivery order.
  final func add(_ outcome: StepOutcome, at context: StepContext, _ pending: PendingAnswers?) {
    // The loop's buffered answers precede this outcome.
    if keeper?.isEmpty == false { flushKeeper(at: context) }
    if isDirect, pending == nil || !outcome.isPending { return give(outcome, context) }
    var kept = context
    // Only a report retains the targets that answered.
    if case .answered = outcome, context.registration != nil, !listsEveryTarget { kept.target = nil }
    held.append(Outcome(outcome, kept))
    if hookCalls == 0 { return flush(pending) }
    continueProbe()
  }

  /// The counts so far, including buffered outcomes.
  final var countsWithHeld: OutcomeCounts {
    held.reduce(into: counts) { counts, found in counts.note(found.outcome) }
  }

  /// Passes the buffered outcomes to the result, up to the first pending one.
  final func flush(_ pending: PendingAnswers?) {
    guard hookCalls == 0, !held.isEmpty else { return }
    var index = 0
    while index < held.count {
      var found = held[index]
      if let pending, case .queued(let slot) = found.outcome, slot >= 0 {
        guard let settled = pending.settled(slot) else { break }
        found = settled
      }
      give(found.outcome, found.context)
      index += 1
    }
    held.removeFirst(index)
  }

  private final func give(_ outcome: StepOutcome, _ context: StepContext) {
    assert(hookCalls == 0, "hooks may still replace the outcome")
    counts.note(outcome)
    if isComplete {
      if case .failed(let error) = outcome { context.report(error) }
      return
    }
    if recordsGiven { given += outcome.boxes }
    if !accept(outcome, at: context) { noteComplete() }
  }

  /// Counts targets that a loop called. The result has received their answers or needs none.
  final func countServed(_ count: Int) { counts.noteDelivered(count) }

  final func noteComplete() { (isComplete, isEnough) = (true, true) }

  /// Reports the errors that the sender does not get.
  final func abandon() {
    for found in held { if case .failed(let error) = found.outcome { found.context.report(error) } }
    held = []
  }

  // MARK: - Hook calls

  /// Begins a hook call. `start` is the index of the enclosing call's first outcome; 0 without an
  /// enclosing call. Returns the start of the new call's outcomes in ``held``.
  final func beginHookCall(_ asks: Bool, from start: Int, _ pending: PendingAnswers?) -> Int {
    if asks { hookCalls += 1 }
    renewProbe(from: start, pending)
    return held.count
  }

  /// Ends a hook call. `start` is the index of the enclosing call's first outcome.
  final func endHookCall(_ asks: Bool, from start: Int, _ pending: PendingAnswers?) {
    assert(!asks || hookCalls > 0, "a hook call ends once")
    if asks { hookCalls -= 1 }
    renewProbe(from: start, pending)
    flush(pending)
  }

  final func replaceHeld(from start: Int, with outcomes: [Outcome]) {
    assert(start <= held.count && hookCalls > 0, "outcomes are replaced inside of a hook call")
    held.replaceSubrange(start..., with: outcomes)
  }

  /// Makes a new probe for the innermost hook call, since hooks may have changed outcomes that the
  /// old probe has read.
  final func renewProbe(from start: Int, _ pending: PendingAnswers?) {
    (probe, isEnough) = (nil, isComplete)
    guard let makeProbe, hookCalls > 0 else { return }
    let probe = makeProbe()
    if given.contains(where: probe) { isEnough = true }
    self.probe = Probe(isEnough: probe, pending: pending, start: start)
    continueProbe()
  }

  /// Lets the probe read the outcomes that have been added since its last read.
  final func continueProbe() {
    guard let probe, !isEnough else { return }
    var index = probe.read
    defer { self.probe?.read = index }
    while index < held.count {
      if case .queued(let slot) = held[index].outcome, slot >= 0 {
        guard index >= probe.start, let settled = probe.pending?.settled(slot) else { return }
        held[index] = settled
      }
      if held[index].outcome.boxes.contains(where: probe.isEnough) { return isEnough = true }
      index += 1
    }
  }

  /// Replaces pending outcomes with the outcomes that have arrived.
  final func settle(from start: Int, _ pending: PendingAnswers?) {
    guard let pending else { return }
    for index in held.indices.dropFirst(start) {
      if case .queued(let slot) = held[index].outcome, slot >= 0, let settled = pending.settled(slot) {
        held[index] = settled
      }
    }
  }

  /// Drops the outcomes after the answer that suffices, and reports the dropped errors.
  final func dropUnneeded(from start: Int) {
    guard let makeProbe else { return }
    let probe = makeProbe()
    var isEnough =
      given.contains(where: probe)
      || held[..<start].prefix { !$0.outcome.isPending }.contains { $0.outcome.boxes.contains(where: probe) }
    var needed: [Outcome] = []
    for found in held[start...] {
      if !isEnough {
        needed.append(found)
        isEnough = found.outcome.boxes.contains(where: probe)
      } else if case .failed(let error) = found.outcome {
        found.context.report(error)
      }
    }
    replaceHeld(from: start, with: needed)
  }

  // MARK: - Loops

  final func takesTyped(_ type: Any.Type) -> Bool {
    taker?.type == type && (makeProbe == nil || !recordsGiven && isDirect)
  }

  /// The consumer of a loop's unboxed answers. `crosses` is true if the answers are `Sendable`.
  final func taker<R>(of type: R.Type, crosses: @autoclosure () -> Bool) -> AnswerTaker<R> {
    if isDirect, let taker { return unsafeDowncast(taker, to: AnswerTaker<R>.self) }
    let keeper = AnswerTaker<R>(nil)
    keeper.crosses = crosses()
    self.keeper = keeper
    return keeper
  }

  /// A buffer of a loop's boxed answers; `nil` if the result gets them directly.
  final func lister() -> AnswerLister? {
    if isDirect { return nil }
    let lister = AnswerLister()
    keeper = lister
    return lister
  }

  /// Ends a loop. Returns whether its answers were buffered.
  final func endLoop(at context: @autoclosure () -> StepContext) -> Bool {
    guard let keeper else { return false }
    if !keeper.isEmpty { flushKeeper(at: context()) }
    self.keeper = nil
    return true
  }

  private final func flushKeeper(at context: StepContext) {
    guard let keeper else { return }
    let place = StepContext(selector: context.selector, proxies: context.proxies)
    held.append(Outcome(.answeredAll(keeper.takeKept()), place))
  }
}

// MARK: - Answers of loops

/// Consumes the answers of loops, or buffers them inside hooks or behind a pending outcome.
@usableFromInline
class TypedTaker {
  let type: Any.Type
  @usableFromInline @exclusivity(unchecked) final var hasAnswer = false
  /// True if the methods promise that their answers are `Sendable`.
  final var crosses = false

  fileprivate init(_ type: Any.Type) { self.type = type }

  var isEmpty: Bool { true }
  func takeKept() -> MessageAnswers { .none }
}

@usableFromInline
final class AnswerTaker<R>: TypedTaker {
  @usableFromInline let body: (R) throws -> Bool
  @usableFromInline let keeps: Bool
  @usableFromInline @exclusivity(unchecked) var list: [R] = []

  /// - Parameter body: consumes each answer; `nil` to buffer them.
  init(_ body: ((R) throws -> Bool)?) {
    (self.body, keeps) = (body ?? { _ in true }, body == nil)
    super.init(R.self)
  }

  /// Consumes one answer. Returns false if no further answer is needed.
  @export(implementation) @inline(__always)
  func take(_ answer: R) throws -> Bool {
    hasAnswer = true
    if keeps {
      list.append(answer)
      return true
    }
    return try body(answer)
  }

  override var isEmpty: Bool { list.isEmpty }
  override func takeKept() -> MessageAnswers { TypedAnswers(exchange(&list, with: []), crosses: crosses) }
}

/// Buffers a loop's boxed answers with their targets, if the sender wants a report.
final class AnswerLister: TypedTaker {
  @exclusivity(unchecked) private var answers = ListedAnswers()

  init() { super.init(ListedAnswers.self) }

  func add(_ answer: consuming ArgumentBox, of target: consuming AnyObject) { answers.add(answer, of: target) }

  override var isEmpty: Bool { answers.list.isEmpty }
  override func takeKept() -> MessageAnswers { exchange(&answers, with: ListedAnswers()) }
}

// MARK: - Kinds of outcomes

extension StepOutcome {
  /// True if the outcome arrives later and the sender waits for it.
  var isPending: Bool { if case .queued(let slot) = self { slot >= 0 } else { false } }

  var isOfFullBuffer: Bool { if case .skipped(.bufferFull) = self { true } else { false } }

  var isReached: Bool { if case .skipped(let reason) = self { reason.countsAsReached } else { true } }

  var answerCount: Int {
    switch self {
    case .answered(let answer): answer == nil ? 0 : 1
    case .answeredAll(let answers): answers.count
    case .queued, .failed, .skipped: 0
    }
  }

  var hasAnswer: Bool { answerCount > 0 }

  /// Replaces each answer with the result of `next`, or removes it.
  mutating func replaceAnswers(_ next: () -> ArgumentBox?) {
    if case .answeredAll(let answers as ListedAnswers) = self { return answers.replaceResults(next) }
    self = .answered(next())
  }

  var boxes: [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    add(to: &boxes)
    return boxes
  }

  @inline(never) func add(to boxes: inout [ArgumentBox]) {
    if case .answered(let answer?) = self { boxes.append(answer) }
    if case .answeredAll(let answers) = self { boxes += answers.boxes }
  }

  var hasRun: Bool {
    switch self {
    case .answered, .answeredAll, .failed: true
    case .queued, .skipped: false
    }
  }
}
