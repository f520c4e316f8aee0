// DeliveryReport.swift: the outcome of a message at each of its targets.

/// The outcome of one forwarded message. Every live target is in one of four lists, in delivery
/// order. A report is not `Sendable`, since it contains the targets.
public struct DeliveryReport {
  /// A target that ran the message, synchronously or on its own context while the sender waited.
  public struct Answer {
    /// The target that answered, or the proxy if its hooks made the answer.
    public let target: AnyObject
    /// The answer: a box of `()` for a `Void` method, or `nil` if a forwarding target has none.
    public let result: ArgumentBox?
    /// True if the target ran on its own context.
    public let wasQueued: Bool
    /// True if hooks made the answer.
    var isOwn = false

    /// Creates an answer, for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject, result: ArgumentBox?, wasQueued: Bool = false) {
      (self.target, self.result, self.wasQueued) = (target, result, wasQueued)
    }
  }

  /// A target that threw an error, or whose method could not convert the arguments.
  public struct Failure {
    /// The target that failed.
    public let target: AnyObject
    /// The target's error, or the reason why its method could not be called.
    public let error: any Error
    /// Reports the error to the error handlers of the target's proxy.
    var tell: (() -> Void)?

    /// Creates a failure, for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject, error: any Error) { (self.target, self.error) = (target, error) }
  }

  /// A target that did not get the message.
  public struct Skip {
    /// The target; `nil` if deallocated.
    public let target: AnyObject?
    /// The reason.
    public let reason: SkipReason

    /// Creates a skip, for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject?, reason: SkipReason) { (self.target, self.reason) = (target, reason) }
  }

  /// The reason why a target was skipped.
  public struct SkipReason: Hashable, Sendable, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    /// Creates a reason of your own, in lower case and without a full stop.
    public init(_ description: String) { self.description = description }

    /// The target was deallocated.
    public static var dead: SkipReason { SkipReason("dead") }
    /// The registration is muted.
    public static var muted: SkipReason { SkipReason("muted") }
    /// The target was removed, before or during the message.
    public static var removed: SkipReason { SkipReason("removed") }
    /// The target has no method for the selector.
    public static var doesNotRespond: SkipReason { SkipReason("does not respond") }
    /// The target is registered for other selectors only.
    public static var outOfScope: SkipReason { SkipReason("out of scope") }
    /// An earlier target ended the message.
    public static var stopped: SkipReason { SkipReason("stopped") }
    /// The target's buffer was full, or a newer message replaced this message.
    public static var bufferFull: SkipReason { SkipReason("buffer full") }
    /// A hook withheld the message.
    public static var withheld: SkipReason { SkipReason("withheld by a hook") }
    /// The target's context was released before the message ran.
    public static var lost: SkipReason { SkipReason("context released") }

    /// Of two reasons, a report gives the one that is earlier here. Other reasons come last.
    private static let order: [SkipReason] = [.removed, .dead, .muted, .outOfScope, .doesNotRespond]

    static func first(_ one: SkipReason?, _ other: SkipReason) -> SkipReason {
      guard let one else { return other }
      return order.first { $0 == one || $0 == other } ?? one
    }

    /// True if the message reached the proxy, and only a full buffer kept it from the target. A
    /// message with only other skips has no responder, see
    /// `MulticastOptions.noResponder`.
    var countsAsReached: Bool { self == .bufferFull }

    /// True if a broadcast counts the target as skipped. It does not count targets that do not
    /// respond, and it counts a full buffer as `dropped`.
    var isCounted: Bool { self != .doesNotRespond && self != .outOfScope && self != .bufferFull }

    /// True if a broadcast counts each remaining target of a proxy that ends for this reason in the
    /// middle of a message. A proxy that the message does not enter counts once.
    var countsInside: Bool { self == .removed || self == .muted }
  }

  /// The targets that ran the message, with their answers.
  public var answers: [Answer] = []
  /// The targets that will run the message later on their own contexts.
  public var queued: [AnyObject] {
    get { rest?.queued ?? [] }
    _modify { yield &ownRest.queued }
  }
  /// The targets that failed, with their errors.
  public var failures: [Failure] {
    get { rest?.failures ?? [] }
    _modify { yield &ownRest.failures }
  }
  /// The targets that were skipped, with the reasons.
  public var skipped: [Skip] {
    get { rest?.skipped ?? [] }
    _modify { yield &ownRest.skipped }
  }
  /// The number of messages that full buffers dropped: this one, or older ones to make room for it.
  public var dropped = 0

  /// True if the message's last target is queued, so its answer is unknown.
  public var endsQueued = false

  /// Lists that are usually empty. Releasing one reference costs less than releasing three lists.
  private final class Rest {
    var queued: [AnyObject] = []
    var failures: [Failure] = []
    var skipped: [Skip] = []
  }
  private var rest: Rest?
  /// The lists, for mutation. They are created if missing, and copied if other reports share them.
  private var ownRest: Rest {
    mutating get {
      if isKnownUniquelyReferenced(&rest), let rest { return rest }
      let made = Rest()
      if let rest { (made.queued, made.failures, made.skipped) = (rest.queued, rest.failures, rest.skipped) }
      rest = made
      return made
    }
  }

  /// Creates a report without targets.
  public init() {}

  /// The last answer in delivery order; `nil` without answers.
  public var result: ArgumentBox? {
    // The answer is read in place, since copying it would retain its target.
    answers.withUnsafeBufferPointer { $0.isEmpty ? nil : $0[$0.count - 1].result }
  }

  /// True if no target ran, failed or is queued, and no buffer dropped a message.
  public var nobodyResponded: Bool {
    delivered == 0 && queued.isEmpty && failures.isEmpty && dropped == 0
      && !skipped.contains { $0.reason.countsAsReached }
  }

  /// The number of targets that ran the message. Answers that hooks made are not counted.
  public var delivered: Int { answers.count { !$0.isOwn } }

  /// Creates a report with one answer, for your own ``MessageForwarding/forward(_:)``.
  public init(answeredBy target: AnyObject, _ result: ArgumentBox? = nil) {
    answers = [Answer(target: target, result: result)]
  }
}

extension DeliveryReport: CustomStringConvertible {
  /// For example `delivered 2, queued 0, failed 1 (Cook: burnt), skipped 1 (Bell: muted)`. If
  /// nobody responded, the text advises to call `explain(_:)`.
  public var description: String {
    func list(_ items: [String]) -> String { items.isEmpty ? "" : " (\(items.joined(separator: ", ")))" }
    return "delivered \(delivered), queued \(queued.count), failed \(failures.count)"
      + list(failures.map { "\(typeName(of: $0.target)): \($0.error)" })
      + ", skipped \(skipped.count)"
      + list(skipped.map { ($0.target.map { "\(typeName(of: $0)): " } ?? "") + $0.reason.description })
      + (dropped == 0 ? "" : ", dropped \(dropped)")
      + (nobodyResponded ? "; the proxy's explain(_:) says why" : "")
  }
}

/// The numbers of a broadcast's targets, by outcome. Creating a summary allocates nothing.
public struct BroadcastSummary: Hashable, Sendable {
  /// Targets that ran the message synchronously.
  public var delivered = 0
  /// Targets that will run the message on their own contexts.
  public var queued = 0
  /// Targets and hooks that threw, and targets that could not convert the arguments; see `onError`.
  public var failed = 0
  /// Responding targets that were muted, or were removed or found deallocated during the message,
  /// and nested proxies whose hooks withheld the message.
  public var skipped = 0
  /// Messages that full buffers dropped: this one, or older ones to make room for it.
  public var dropped = 0

  /// Creates a summary, for example for a comparison in a test.
  @inlinable
  public init(delivered: Int = 0, queued: Int = 0, failed: Int = 0, skipped: Int = 0, dropped: Int = 0) {
    (self.delivered, self.queued, self.failed) = (delivered, queued, failed)
    (self.skipped, self.dropped) = (skipped, dropped)
  }

  /// True if no target ran, failed or is queued, and no buffer dropped a message.
  public var nobodyResponded: Bool { delivered + queued + failed + dropped == 0 }
}

extension BroadcastSummary: CustomStringConvertible {
  /// For example `delivered 2, queued 0, failed 0, skipped 1`.
  public var description: String {
    "delivered \(delivered), queued \(queued), failed \(failed), skipped \(skipped)"
      + (dropped == 0 ? "" : ", dropped \(dropped)")
  }
}
