// DeliveryReport.swift: what became of a message at each of its targets.

/// What became of one forwarded message: who got it, who failed, who was skipped, and what came back.
///
/// Every live target is in exactly one of the four lists, each in the order of delivery.
public struct DeliveryReport {
  /// A target that ran the message: in the sender's turn, or, where the sender waited, on a context of its own.
  public struct Answer {
    /// Who answered; the proxy for an answer that its hooks gave of their own.
    public let target: AnyObject
    /// What it answered; `nil` when its method answers nothing.
    public let result: ArgumentBox?
    /// Whether it ran on a context of its own.
    public let wasQueued: Bool
    /// Whether hooks gave it of their own, so that it stands for no target that ran.
    var isOwn = false

    /// An answer, for a report that a receiver of your own makes in its ``MessageForwarding/forward(_:)``.
    /// - Parameters:
    ///   - target: who answered.
    ///   - result: the answer; `nil` where the method returns nothing.
    ///   - wasQueued: whether it ran on a context of its own.
    public init(target: AnyObject, result: ArgumentBox?, wasQueued: Bool = false) {
      (self.target, self.result, self.wasQueued) = (target, result, wasQueued)
    }
  }

  /// A target that threw, or could not take the arguments.
  public struct Failure {
    public let target: AnyObject
    /// What it threw, or why its method could not be called.
    public let error: any Error
    /// Gives the error to the handlers of the proxy where it happened.
    var tell: (() -> Void)?

    /// A failure, for a report that a receiver of your own makes.
    /// - Parameters:
    ///   - target: who failed.
    ///   - error: what it threw.
    public init(target: AnyObject, error: any Error) { (self.target, self.error) = (target, error) }
  }

  /// A target that did not get the message.
  public struct Skip {
    /// Who was passed over; `nil` when it is gone.
    public let target: AnyObject?
    public let reason: SkipReason

    /// A target that was passed over, for a report that a receiver of your own makes.
    /// - Parameters:
    ///   - target: who did not get the message.
    ///   - reason: why.
    public init(target: AnyObject?, reason: SkipReason) { (self.target, self.reason) = (target, reason) }
  }

  /// Why a target was passed over.
  public struct SkipReason: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// A reason of your own, in words: lower case, without a full stop.
    public init(_ description: String) { self.description = description }

    /// The target died; its place has been reclaimed since.
    public static var dead: SkipReason { SkipReason("dead") }
    /// Its registration is muted.
    public static var muted: SkipReason { SkipReason("muted") }
    /// It was removed: while the message was on its way, or before, until the list of targets has been tidied up.
    public static var removed: SkipReason { SkipReason("removed") }
    /// It has no method for the selector.
    public static var doesNotRespond: SkipReason { SkipReason("does not respond") }
    /// It was registered for other selectors only.
    public static var outOfScope: SkipReason { SkipReason("out of scope") }
    /// An earlier target ended the message.
    public static var stopped: SkipReason { SkipReason("stopped") }
    /// Its buffer was full, or the message was pushed out by a newer one.
    public static var bufferFull: SkipReason { SkipReason("buffer full") }
    /// A hook did not let the message through.
    public static var withheld: SkipReason { SkipReason("withheld by a hook") }
    /// Its context went away with the message.
    public static var lost: SkipReason { SkipReason("context gone") }

    /// Of several reasons that hold, the first of these is given.
    private static let order: [SkipReason] = [.removed, .dead, .muted, .outOfScope, .doesNotRespond]

    /// The one of two reasons that is said where both hold.
    static func first(_ one: SkipReason?, _ other: SkipReason) -> SkipReason {
      guard let one else { return other }
      return order.first { $0 == one || $0 == other } ?? one
    }
  }

  /// Who ran the message, and what each answered.
  public var answers: [Answer] = []
  /// Who will run it on a context of its own.
  public var queued: [AnyObject] {
    get { rest?.queued ?? [] }
    _modify { yield &ownRest.queued }
  }
  /// Who failed, and with what.
  public var failures: [Failure] {
    get { rest?.failures ?? [] }
    _modify { yield &ownRest.failures }
  }
  /// Who was passed over, and why.
  public var skipped: [Skip] {
    get { rest?.skipped ?? [] }
    _modify { yield &ownRest.skipped }
  }
  /// How many messages full buffers gave up for this one, itself included.
  public var dropped = 0

  /// Whether the last who got the message runs it on a context of its own, so that its answer is not known yet.
  public var endsQueued = false

  /// What most messages have none of, behind one reference: each empty list of its own would be released for each message.
  private final class Rest {
    var queued: [AnyObject] = []
    var failures: [Failure] = []
    var skipped: [Skip] = []
  }
  private var rest: Rest?
  /// The lists of this copy of the report alone.
  private var ownRest: Rest {
    mutating get {
      if isKnownUniquelyReferenced(&rest), let rest { return rest }
      let made = Rest()
      if let rest { (made.queued, made.failures, made.skipped) = (rest.queued, rest.failures, rest.skipped) }
      rest = made
      return made
    }
  }

  /// An empty report: nobody was there. Of a message that was answered: ``init(answeredBy:_:)``.
  public init() {}

  /// The last answer in the order of delivery, or `nil` when nothing was answered.
  public var result: ArgumentBox? {
    // In place: a copy of the answer would count its target once more.
    answers.withUnsafeBufferPointer { $0.isEmpty ? nil : $0[$0.count - 1].result }
  }

  /// Whether no target got the message.
  public var nobodyResponded: Bool { delivered == 0 && queued.isEmpty && failures.isEmpty && dropped == 0 }

  /// How many targets ran the message, whatever hooks made of their answers.
  public var delivered: Int { answers.count { !$0.isOwn } }

  /// The report of a message that one receiver answered, for a ``MessageForwarding/forward(_:)`` of your own.
  ///
  /// - Parameters:
  ///   - target: who answered.
  ///   - result: the answer; `nil` for a method that answers nothing.
  public init(answeredBy target: AnyObject, _ result: ArgumentBox? = nil) {
    answers = [Answer(target: target, result: result)]
  }
}

extension DeliveryReport: CustomStringConvertible {
  /// One line: `delivered 2, queued 0, failed 1 (Cook: burnt), skipped 1 (muted)`.
  public var description: String {
    func list(_ items: [String]) -> String { items.isEmpty ? "" : " (\(items.joined(separator: ", ")))" }
    return "delivered \(delivered), queued \(queued.count), failed \(failures.count)"
      + list(failures.map { "\(typeName(of: $0.target)): \($0.error)" })
      + ", skipped \(skipped.count)" + list(skipped.map(\.reason.description))
      + (dropped == 0 ? "" : ", dropped \(dropped)")
  }
}

/// How many targets a broadcast reached; made without allocation.
public struct BroadcastSummary: Hashable, Sendable {
  /// Targets that ran the message in the sender's turn.
  public var delivered = 0
  /// Targets that will run it on a context of their own.
  public var queued = 0
  /// Targets that threw, or could not take the arguments. Their errors went to the proxy's error handler.
  public var failed = 0
  /// Responding targets that were passed over: muted, removed or dead by the time it was their turn.
  public var skipped = 0
  /// Messages that full buffers gave up for this one: older ones, or itself, which then is not `queued`.
  public var dropped = 0

  @inlinable
  init(delivered: Int = 0, queued: Int = 0, failed: Int = 0, skipped: Int = 0) {
    (self.delivered, self.queued, self.failed, self.skipped) = (delivered, queued, failed, skipped)
  }

  /// Whether no target got the message.
  public var nobodyResponded: Bool { delivered + queued + failed + dropped == 0 }
}

extension BroadcastSummary: CustomStringConvertible {
  public var description: String {
    "delivered \(delivered), queued \(queued), failed \(failed), skipped \(skipped)"
      + (dropped == 0 ? "" : ", dropped \(dropped)")
  }
}
