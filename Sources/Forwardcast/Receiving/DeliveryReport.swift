// DeliveryReport.swift: what became of a message at each of its targets.

/// What became of one forwarded message. Every live target is in exactly one of the four lists, in the order of delivery.
public struct DeliveryReport {
  /// A target that ran the message, either synchronously or on its own context while the sender waited.
  public struct Answer {
    /// Who answered; the proxy for an answer that its hooks made up.
    public let target: AnyObject
    /// The answer; `nil` when the method returns nothing.
    public let result: ArgumentBox?
    /// Whether it ran on its own context.
    public let wasQueued: Bool
    /// Whether hooks made the answer up, so that no target ran for it.
    var isOwn = false

    /// An answer for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject, result: ArgumentBox?, wasQueued: Bool = false) {
      (self.target, self.result, self.wasQueued) = (target, result, wasQueued)
    }
  }

  /// A target that threw, or could not take the arguments.
  public struct Failure {
    /// Who failed.
    public let target: AnyObject
    /// What it threw, or why its method could not be called.
    public let error: any Error
    /// Reports the error to the handlers of the proxy where it happened.
    var tell: (() -> Void)?

    /// A failure for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject, error: any Error) { (self.target, self.error) = (target, error) }
  }

  /// A target that did not get the message.
  public struct Skip {
    /// The target; `nil` when it is gone.
    public let target: AnyObject?
    /// Why it was passed over.
    public let reason: SkipReason

    /// A skip for the report of your own ``MessageForwarding/forward(_:)``.
    public init(target: AnyObject?, reason: SkipReason) { (self.target, self.reason) = (target, reason) }
  }

  /// Why a target was passed over.
  public struct SkipReason: Hashable, Sendable, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    /// Your own reason: lower case, without a full stop.
    public init(_ description: String) { self.description = description }

    /// The target died; its place has been reclaimed since.
    public static var dead: SkipReason { SkipReason("dead") }
    /// Its registration is muted.
    public static var muted: SkipReason { SkipReason("muted") }
    /// It was removed, before or during the message.
    public static var removed: SkipReason { SkipReason("removed") }
    /// It has no method for the selector.
    public static var doesNotRespond: SkipReason { SkipReason("does not respond") }
    /// It is registered for other selectors only.
    public static var outOfScope: SkipReason { SkipReason("out of scope") }
    /// An earlier target ended the message.
    public static var stopped: SkipReason { SkipReason("stopped") }
    /// Its buffer was full, or the message was pushed out by a newer one.
    public static var bufferFull: SkipReason { SkipReason("buffer full") }
    /// A hook withheld the message.
    public static var withheld: SkipReason { SkipReason("withheld by a hook") }
    /// Its context was released before the message ran.
    public static var lost: SkipReason { SkipReason("context gone") }

    /// When several reasons hold, the first of these is given.
    private static let order: [SkipReason] = [.removed, .dead, .muted, .outOfScope, .doesNotRespond]

    /// Which of two reasons to give when both hold.
    static func first(_ one: SkipReason?, _ other: SkipReason) -> SkipReason {
      guard let one else { return other }
      return order.first { $0 == one || $0 == other } ?? one
    }
  }

  /// Who ran the message, and what each answered.
  public var answers: [Answer] = []
  /// Who will run it later on its own context.
  public var queued: [AnyObject] {
    get { rest?.queued ?? [] }
    _modify { yield &ownRest.queued }
  }
  /// Who failed, and with what.
  public var failures: [Failure] {
    get { rest?.failures ?? [] }
    _modify { yield &ownRest.failures }
  }
  /// Who did not get it, and why.
  public var skipped: [Skip] {
    get { rest?.skipped ?? [] }
    _modify { yield &ownRest.skipped }
  }
  /// How many messages full buffers dropped because of this one, itself included.
  public var dropped = 0

  /// Whether the last target of the message is queued, so that its answer is not known yet.
  public var endsQueued = false

  /// The lists that are empty for most messages, behind one reference: each empty list of its own costs a release.
  private final class Rest {
    var queued: [AnyObject] = []
    var failures: [Failure] = []
    var skipped: [Skip] = []
  }
  private var rest: Rest?
  /// ``rest``, made or copied where other reports share it.
  private var ownRest: Rest {
    mutating get {
      if isKnownUniquelyReferenced(&rest), let rest { return rest }
      let made = Rest()
      if let rest { (made.queued, made.failures, made.skipped) = (rest.queued, rest.failures, rest.skipped) }
      rest = made
      return made
    }
  }

  /// An empty report: no target.
  public init() {}

  /// The last answer in the order of delivery; `nil` when nothing was answered.
  public var result: ArgumentBox? {
    // In place: copying the answer would retain its target.
    answers.withUnsafeBufferPointer { $0.isEmpty ? nil : $0[$0.count - 1].result }
  }

  /// Whether no target got the message.
  public var nobodyResponded: Bool { delivered == 0 && queued.isEmpty && failures.isEmpty && dropped == 0 }

  /// How many targets ran the message; answers that hooks made up do not count.
  public var delivered: Int { answers.count { !$0.isOwn } }

  /// The report of a message that one receiver answered, for your own ``MessageForwarding/forward(_:)``.
  public init(answeredBy target: AnyObject, _ result: ArgumentBox? = nil) {
    answers = [Answer(target: target, result: result)]
  }
}

extension DeliveryReport: CustomStringConvertible {
  /// For example `delivered 2, queued 0, failed 1 (Cook: burnt), skipped 1 (muted)`. Refers to
  /// ``MulticastSending/explain(_:)-(MessageSelector)`` if nobody responded.
  public var description: String {
    func list(_ items: [String]) -> String { items.isEmpty ? "" : " (\(items.joined(separator: ", ")))" }
    return "delivered \(delivered), queued \(queued.count), failed \(failures.count)"
      + list(failures.map { "\(typeName(of: $0.target)): \($0.error)" })
      + ", skipped \(skipped.count)" + list(skipped.map(\.reason.description))
      + (dropped == 0 ? "" : ", dropped \(dropped)")
      + (nobodyResponded ? "; the proxy's explain(_:) says why" : "")
  }
}

/// How many targets a broadcast reached; made without allocation.
public struct BroadcastSummary: Hashable, Sendable {
  /// Targets that ran the message synchronously.
  public var delivered = 0
  /// Targets that will run it on their own context.
  public var queued = 0
  /// Targets that threw or could not take the arguments; the errors went to the proxy's error handler.
  public var failed = 0
  /// Responding targets that were muted, removed or dead when their turn came.
  public var skipped = 0
  /// Messages that full buffers dropped because of this one: older ones, or itself, which then is not `queued`.
  public var dropped = 0

  @inlinable
  init(delivered: Int = 0, queued: Int = 0, failed: Int = 0, skipped: Int = 0) {
    (self.delivered, self.queued, self.failed, self.skipped) = (delivered, queued, failed, skipped)
  }

  /// Whether no target got the message.
  public var nobodyResponded: Bool { delivered + queued + failed + dropped == 0 }
}

extension BroadcastSummary: CustomStringConvertible {
  /// For example `delivered 2, queued 0, failed 0, skipped 1`.
  public var description: String {
    "delivered \(delivered), queued \(queued), failed \(failed), skipped \(skipped)"
      + (dropped == 0 ? "" : ", dropped \(dropped)")
  }
}
