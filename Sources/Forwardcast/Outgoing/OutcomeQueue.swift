// OutcomeQueue.swift: outcomes in delivery order, on their way to the result.

/// The outcome of a message at one target, and where it happened.
///
/// An object, because hooks get lists of them and copying the parts would take several retains
/// each.
final class Outcome {
  @exclusivity(unchecked) var outcome: StepOutcome
  let context: StepContext

  init(_ outcome: StepOutcome, _ context: StepContext) { (self.outcome, self.context) = (outcome, context) }
}

/// Passes the outcomes of one message to its result, in delivery order.
///
/// Holds back what is behind a pending outcome, and whatever happens inside a running hook call,
/// since the hooks may replace it. One subclass per result makes something of the outcomes: see
/// ``ResultQueue``.
///
/// Used by the delivery of its message only.
@usableFromInline
class OutcomeQueue {
  // MARK: - Configuration (immutable)

  /// The consumer of unboxed answers, if the result accepts them.
  final let taker: TypedTaker?
  /// True if answers of direct targets are accepted with their targets, without further context.
  final let takesPlain: Bool
  private final let makeProbe: (() -> (ArgumentBox) -> Bool)?
  private final let listsEveryTarget: Bool
  /// True if answers are recorded so that a probe can be renewed: hooks may change those behind
  /// them.
  private final let recordsGiven: Bool

  // MARK: - State (the sender's context)
  // Not checked for exclusivity where each outcome needs it: see ``MessageDelivery``.

  @exclusivity(unchecked) private(set) final var held: [Outcome] = []
  /// The running hook calls whose sender asks for outcomes. While there are any, the result gets
  /// nothing.
  @exclusivity(unchecked) private(set) final var hookCalls = 0
  /// Whether the sender needs nothing more, by its result or, inside of hooks, by the probe.
  @exclusivity(unchecked) private(set) final var isEnough = false
  /// Whether the result itself needs nothing more.
  @exclusivity(unchecked) private final var isComplete = false
  /// Tells whether the held answers would be enough for the sender; `nil` outside of hook calls.
  @exclusivity(unchecked) private final var probe: ((ArgumentBox) -> Bool)?
  /// Answers that the result has received, for a new probe.
  private final var given: [ArgumentBox] = []
  /// Keeps the answers of the running loop, if they are held back.
  @exclusivity(unchecked) private final var keeper: TypedTaker?
  /// How many targets the message has reached.
  @exclusivity(unchecked) final var reached = 0
  /// How many messages full buffers have dropped for this one.
  final var dropped = 0
  /// Whether a target has run behind hooks, whatever these made of its outcome.
  final var hasRun = false

  init(_ taker: TypedTaker?, takesPlain: Bool, _ request: DeliveryRequest, hasHooks: @autoclosure () -> Bool) {
    (self.taker, self.takesPlain) = (taker, takesPlain)
    (makeProbe, listsEveryTarget) = (request.makeProbe, request.listsEveryTarget)
    recordsGiven = request.makeProbe != nil && hasHooks()
  }

  // MARK: - The result

  /// Accepts one outcome. `false` if no further target is needed.
  func accept(_ outcome: StepOutcome, at context: StepContext) -> Bool { true }
  /// Accepts an answer without its context, where ``takesPlain``.
  func accept(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {}
  /// Counts targets that ran and whose answers nobody wants.
  func countDelivered(_ count: Int) {}
  /// The counts so far. A hook that sends the message again resets them.
  var counts: BroadcastSummary {
    get { BroadcastSummary() }
    set {}
  }

  // MARK: - Outcomes

  /// Whether outcomes reach the result when they happen.
  final var isDirect: Bool { hookCalls == 0 && held.isEmpty }

  /// Adds the next outcome in delivery order.
  ///
  /// - Parameter pending: the answers that the sender waits for.
  final func add(_ outcome: StepOutcome, at context: StepContext, _ pending: PendingAnswers?) {
    // A loop that keeps answers has others before this outcome.
    if keeper?.isEmpty == false { flushKeeper(at: context) }
    if isDirect, pending == nil || !outcome.isPending { return give(outcome, context) }
    var kept = context
    // Only a report retains the targets of answers.
    if case .answered = outcome, context.registration != nil, !listsEveryTarget { kept.target = nil }
    held.append(Outcome(outcome, kept))
    if hookCalls == 0 { return flush(pending) }
    // Answers count in order, so those behind a pending one cannot be enough.
    if let probe {
      if outcome.isPending { self.probe = nil } else if outcome.boxes.contains(where: probe) { isEnough = true }
    }
  }

  /// Passes known outcomes to the result, in order.
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
    if case .answeredAll(let answers) = outcome, answers.count > 0 {
      reached += answers.count
    } else if outcome.isReached {
      reached += 1
    }
    if isComplete {
      if case .failed(let error) = outcome { context.report(error) }
      return
    }
    if recordsGiven { given += outcome.boxes }
    if !accept(outcome, at: context) { noteComplete() }
  }

  /// Counts targets of a loop that ran, and whose answers the result has received.
  final func countServed(_ count: Int) {
    reached += count
    countDelivered(count)
  }

  final func noteComplete() { (isComplete, isEnough) = (true, true) }

  /// Reports the errors that nobody will be given.
  final func abandon() {
    for found in held { if case .failed(let error) = found.outcome { found.context.report(error) } }
    held = []
  }

  // MARK: - Hook calls

  /// Begins a hook call. Returns where its outcomes begin in ``held``.
  ///
  /// - Parameter start: where those of the hook call around it begin.
  final func beginHookCall(_ asks: Bool, from start: Int, _ pending: PendingAnswers?) -> Int {
    if asks { hookCalls += 1 }
    renewProbe(from: start, pending)
    return held.count
  }

  /// Ends a hook call that has replaced its outcomes.
  ///
  /// - Parameter start: where those of the hook call around it begin.
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

  /// Computes anew whether the sender needs no further answer: pending outcomes have become known,
  /// or hooks have changed some.
  ///
  /// - Parameter start: where the outcomes of the innermost hook call begin; only these are pending
  ///   in `pending`.
  final func renewProbe(from start: Int, _ pending: PendingAnswers?) {
    (probe, isEnough) = (nil, isComplete)
    guard let makeProbe, hookCalls > 0 else { return }
    settle(from: start, pending)
    let probe = makeProbe()
    let (found, hasPending) = feed(probe, upTo: held.count)
    if found { isEnough = true }
    if !hasPending { self.probe = probe }
  }

  /// The same, if a pending outcome has ended the last probe.
  final func renewProbeBehindPending(from start: Int, _ pending: PendingAnswers?) {
    if makeProbe != nil, hookCalls > 0, probe == nil, !isEnough { renewProbe(from: start, pending) }
  }

  /// Puts the known outcomes of other contexts into the places held for them.
  final func settle(from start: Int, _ pending: PendingAnswers?) {
    guard let pending else { return }
    for index in held.indices.dropFirst(start) {
      if case .queued(let slot) = held[index].outcome, slot >= 0, let settled = pending.settled(slot) {
        held[index] = settled
      }
    }
  }

  /// Gives a probe the answers before `end`. Returns whether they are enough, and whether a pending
  /// outcome ended that.
  private final func feed(_ probe: (ArgumentBox) -> Bool, upTo end: Int) -> (isEnough: Bool, hasPending: Bool) {
    for answer in given where probe(answer) { return (true, false) }
    for found in held[..<end] {
      if found.outcome.isPending { return (false, true) }
      if found.outcome.boxes.contains(where: probe) { return (true, false) }
    }
    return (false, false)
  }

  /// Drops the outcomes behind the first answer that is enough for the sender: its hooks do not get
  /// them either. Their errors go to the handlers.
  final func dropUnneeded(from start: Int) {
    guard let makeProbe else { return }
    let probe = makeProbe()
    var isEnough = feed(probe, upTo: start).isEnough
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

  /// Whether unboxed answers of `type` can be accepted; otherwise they come in boxes.
  final func takesTyped(_ type: Any.Type) -> Bool {
    taker?.type == type && (makeProbe == nil || !recordsGiven && isDirect)
  }

  /// Where a loop puts its unboxed answers.
  ///
  /// - Parameter crosses: whether the loop's methods promise that their answers may cross contexts.
  final func taker<R>(of type: R.Type, crosses: @autoclosure () -> Bool) -> AnswerTaker<R> {
    if isDirect, let taker { return unsafeDowncast(taker, to: AnswerTaker<R>.self) }
    let keeper = AnswerTaker<R>(nil)
    keeper.crosses = crosses()
    self.keeper = keeper
    return keeper
  }

  /// Keeps plain answers; `nil` if the result gets them when they come.
  final func lister() -> AnswerLister? {
    if isDirect { return nil }
    let lister = AnswerLister()
    keeper = lister
    return lister
  }

  /// Ends a loop. Returns whether its answers were kept, so its targets are counted.
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

@usableFromInline
class TypedTaker {
  let type: Any.Type
  @usableFromInline @exclusivity(unchecked) final var hasAnswer = false
  /// Whether its answers may cross contexts, by the promise of their methods.
  final var crosses = false

  fileprivate init(_ type: Any.Type) { self.type = type }

  var isEmpty: Bool { true }
  /// The kept answers, which are removed.
  func takeKept() -> MessageAnswers { .none }
}

/// Passes typed answers on, or keeps them for hooks.
@usableFromInline
final class AnswerTaker<R>: TypedTaker {
  @usableFromInline let body: (R) throws -> Bool
  @usableFromInline let keeps: Bool
  @usableFromInline @exclusivity(unchecked) var list: [R] = []

  /// - Parameter body: takes each answer; `nil` to keep them.
  init(_ body: ((R) throws -> Bool)?) {
    (self.body, keeps) = (body ?? { _ in true }, body == nil)
    super.init(R.self)
  }

  /// Takes one answer. `false` when no further one is needed.
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

/// Keeps answers with their targets, where hooks get them before a report does.
final class AnswerLister: TypedTaker {
  @exclusivity(unchecked) private var answers = ListedAnswers()

  init() { super.init(ListedAnswers.self) }

  func add(_ answer: consuming ArgumentBox, of target: consuming AnyObject) { answers.add(answer, of: target) }

  override var isEmpty: Bool { answers.list.isEmpty }
  override func takeKept() -> MessageAnswers { exchange(&answers, with: ListedAnswers()) }
}

// MARK: - Kinds of outcomes

extension StepOutcome {
  /// Whether it will be known later, and the sender waits for it.
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

  /// Replaces its answers by the next ones; removes them if there are no more.
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
