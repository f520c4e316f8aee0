// ProxyVisit.swift: how far a message has come in one proxy.

/// How far a message has come along the steps of one proxy.
///
/// A value that only decides: ``next(isEnough:mayLoop:)`` says what is to be done next, and the
/// delivery does it and reports the outcome with ``note(_:)``.
struct ProxyVisit {
  typealias SkipReason = DeliveryReport.SkipReason

  enum Next: Equatable {
    /// Serve the steps from ``index`` to `end` in one loop, since their methods have one function
    /// type.
    case loop(ObjectIdentifier, end: Int)
    case step(Int)
    /// The step is not served any more.
    case skip(Int, SkipReason)
    case finished
  }

  /// What has happened at the targets so far. Each case includes the ones before.
  enum Standing: Comparable {
    /// No outcome, so the proxy itself is an entry of a report.
    case silent
    /// Some outcome, but no target received the message.
    case listed
    /// Some target received the message.
    case reached
    /// Some target failed.
    case failed
  }

  // MARK: - Configuration (immutable)

  private let count: Int
  private let segments: ContiguousArray<StepSegment>?
  private let wholeType: ObjectIdentifier?
  private let stopsAtFirst: Bool

  // MARK: - State (the sender's context)

  private(set) var index = 0
  private var segment = 0
  /// The first step that a loop may serve, because the steps before it did not fit one.
  private var loopsFrom = 0
  private(set) var standing = Standing.silent
  /// Why no further step is served.
  private(set) var stop: SkipReason?
  /// Steps that were not served since their target was dead, or for another reason.
  private(set) var (dead, skipped) = (0, 0)

  /// - Parameters:
  ///   - segments: how the steps are served; `nil` if all have methods of `wholeType`.
  ///   - stop: why no step is served at all, so they are only listed.
  init(
    count: Int, segments: ContiguousArray<StepSegment>?, wholeType: ObjectIdentifier? = nil, stopsAtFirst: Bool,
    stop: SkipReason? = nil
  ) {
    (self.count, self.segments, self.wholeType) = (count, segments, wholeType)
    (self.stopsAtFirst, self.stop) = (stopsAtFirst, stop)
  }

  /// The next thing to do. Steps returned by `step` and `skip` are passed by this; those of `loop`
  /// by ``advance(to:)``.
  ///
  /// - Parameters:
  ///   - isEnough: whether the sender needs nothing more.
  ///   - mayLoop: whether loops are allowed for this message.
  mutating func next(isEnough: Bool, mayLoop: Bool) -> Next {
    assert(index >= 0 && index <= count, "a visit stays within the steps of its route")
    guard index < count else { return .finished }
    if isEnough, stop == nil { stop = .stopped }
    if let stop {
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

  /// The type and the end of the segment at ``index``.
  private var here: (type: ObjectIdentifier?, end: Int) {
    mutating get {
      guard let segments else { return (wholeType, count) }
      while segments[segment].end <= index { segment += 1 }
      return (segments[segment].type, segments[segment].end)
    }
  }

  /// Passes the steps that a loop has served.
  mutating func advance(to end: Int) {
    assert(end > index && end <= count, "a loop serves at least one step")
    index = end
  }

  /// Serves the steps up to `end` one by one: no loop fits the message.
  mutating func serveSingly(to end: Int) { loopsFrom = end }

  /// Ends the visit without listing further steps.
  mutating func skipRest() { index = count }

  mutating func stop(for reason: SkipReason) { stop = .first(stop, reason) }

  mutating func note(_ outcome: StepOutcome) {
    switch outcome {
    case .answered, .answeredAll, .queued: note(.reached)
    case .failed: note(.failed)
    case .skipped(let reason):
      if reason == .dead { dead += 1 } else { skipped += 1 }
      note(reason.countsAsReached ? .reached : .listed)
    }
  }

  mutating func note(_ standing: Standing) {
    self.standing = max(self.standing, standing)
    if standing == .failed, stopsAtFirst, stop == nil { stop = .stopped }
  }
}

extension DeliveryReport.SkipReason {
  /// Whether the message found somebody, so it is not unanswered: the target's buffer was full.
  var countsAsReached: Bool { self == .bufferFull }

  /// Whether a broadcast counts the target as skipped. One that was never to receive the message is
  /// not, and one whose buffer was full is counted in `dropped`.
  var isCounted: Bool { self != .doesNotRespond && self != .outOfScope && self != .bufferFull }

  /// Whether a broadcast counts each target behind a proxy that is skipped for this reason.
  var countsInside: Bool { self == .removed || self == .muted }
}
