// ProxyVisit.swift: the progress of a message in one proxy.

/// The progress of a message along the steps of one proxy.
///
/// The visit itself has no effects. ``next(isEnough:mayLoop:)`` returns the next action, and
/// ``MessageDelivery`` executes the action and records its outcome with ``note(_:)``.
struct ProxyVisit {
  typealias SkipReason = DeliveryReport.SkipReason

  enum Next: Equatable {
    /// Serve the steps from ``index`` to `end` in one loop: their methods share a function type.
    case loop(ObjectIdentifier, end: Int)
    case step(Int)
    case skip(Int, SkipReason)
    case finished
  }

  /// The most significant event so far. Each case is greater than the cases before it.
  enum Standing: Comparable {
    /// The proxy has no outcome, so a report lists the proxy itself.
    case silent
    /// The proxy has an outcome, but no target got the message.
    case listed
    case reached
    case failed
  }

  /// A summary of the outcomes so far. If the hooks of a nested proxy replace outcomes, the outer
  /// visit's notes are restored and made again.
  struct Notes {
    fileprivate(set) var standing = Standing.silent
    /// The reason why the remaining steps are skipped.
    fileprivate(set) var stop: SkipReason?
    /// The number of steps with a dead target, and the number of steps skipped for other reasons.
    fileprivate(set) var (dead, skipped) = (0, 0)
  }

  // MARK: - Configuration (immutable)

  private let count: Int
  private let segments: ContiguousArray<StepSegment>?
  private let wholeType: ObjectIdentifier?
  private let stopsAtFirst: Bool

  // MARK: - State (owned by the sender)

  /// The next step, and the segment that contains it.
  private(set) var index = 0
  private var segment = 0
  /// The first step that a loop may serve. No loop fits the message for the steps before it.
  private var loopsFrom = 0
  var notes = Notes()

  /// - Parameter segments: the steps' segments; `nil` if all methods have `wholeType`.
  init(
    count: Int, segments: ContiguousArray<StepSegment>?, wholeType: ObjectIdentifier? = nil, stopsAtFirst: Bool,
    stop: SkipReason? = nil
  ) {
    (self.count, self.segments, self.wholeType) = (count, segments, wholeType)
    self.stopsAtFirst = stopsAtFirst
    notes.stop = stop
  }

  /// The next action. `step` and `skip` advance the visit; a `loop` needs ``advance(to:)``.
  mutating func next(isEnough: Bool, mayLoop: Bool) -> Next {
    assert(index >= 0 && index <= count, "a visit stays within the steps of its route")
    guard index < count else { return .finished }
    if isEnough, notes.stop == nil { notes.stop = .stopped }
    if let stop = notes.stop {
      index += 1
      return .skip(index - 1, stop)
    }
    if mayLoop, index >= loopsFrom {
      let (type, end) = here
      if let type { return .loop(type, end: end) }
    }
    index += 1
    return .step(index - 1)
  }

  private var here: (type: ObjectIdentifier?, end: Int) {
    mutating get {
      guard let segments else { return (wholeType, count) }
      while segments[segment].end <= index { segment += 1 }
      return (segments[segment].type, segments[segment].end)
    }
  }

  mutating func advance(to end: Int) {
    assert(end > index && end <= count, "a loop serves at least one step")
    index = end
  }

  /// Forbids loops up to `end`, since no loop fits the message.
  mutating func serveSingly(to end: Int) { loopsFrom = end }

  mutating func skipRest() { index = count }

  mutating func stop(for reason: SkipReason) { notes.stop = .first(notes.stop, reason) }

  /// Notes a step whose registration ended before the message began.
  mutating func noteOver() { notes.skipped += 1 }

  mutating func note(_ outcome: StepOutcome) {
    switch outcome {
    case .answered, .answeredAll, .queued: note(.reached)
    case .failed: note(.failed)
    case .skipped(let reason):
      if reason == .dead { notes.dead += 1 } else { notes.skipped += 1 }
      note(reason.countsAsReached ? .reached : .listed)
    }
  }

  mutating func note(_ standing: Standing) {
    notes.standing = max(notes.standing, standing)
    if standing == .failed, stopsAtFirst, notes.stop == nil { notes.stop = .stopped }
  }
}
