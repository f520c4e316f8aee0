// QueuedFanOut.swift: the queued steps of a message that is sent by boxes.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// The queued steps of one message by boxes.
struct QueuedFanOut {
  private var posting: Posting
  private let walk: RouteWalk
  private let door: TypedDoor
  /// What became of the steps, when all were posted before the first direct target ran.
  private var outcomes: [Int: PostOutcome] = [:]
  /// Those that are still to be posted, when the order of delivery is kept.
  private var later: [Int: (DeliveryGroup, Int)] = [:]

  /// `nil` when every target is direct.
  init?(_ core: MulticastCore, _ invocation: Invocation, _ walk: RouteWalk, inOrder: Bool, reply: (any Reply)? = nil) {
    guard walk.hasQueued else { return nil }
    self.walk = walk
    // A message that goes to several contexts is copied for each target only where an argument asks for it.
    let copies = invocation.arguments.contains { $0.value is any ArgumentCopying }
    posting = Posting(core, invocation.selector, crosses: invocation.arguments.allSatisfy(\.isSendable), copies: copies)
    posting.invocation = invocation
    posting.invocation?.result = nil
    // The sender's own trail ends with its turn; this one goes with the message.
    posting.invocation?.route = ProxyTrail(core, after: invocation.route)
    posting.reply = reply
    let boxes = UncheckedSendable(invocation.arguments)
    door = { _, _, _ in boxes.value }
    let (plan, door) = (core.plan(walk), door)
    if inOrder {
      for group in plan.groups + plan.loners {
        for (place, index) in group.indices.enumerated() { later[index] = (group, place) }
      }
    } else {
      var found: [Int: PostOutcome] = [:]
      posting.postAll(plan, { _ in door }) { found[$0] = $1 }
      outcomes = found
    }
  }

  /// How many messages full buffers gave up for this one.
  var dropped: Int { posting.dropped }

  /// What became of a step; `nil` when it runs in the sender's turn.
  mutating func outcome(_ index: Int, _ target: AnyObject) -> FanOutStep.Outcome? {
    var outcome = outcomes[index]
    if let (group, place) = later[index] {
      let door = door
      outcome = posting.post(group, place) { _ in door }
    }
    switch outcome {
    case nil, .inTurn: return nil
    case .queued: return .queued(target)
    case .refused: return .skipped(target, .bufferFull)
    case .skipped(let reason): return .skipped(target, reason)
    case .mismatch:
      return .failed(target, posting.core.mismatch(posting.selector, walk.route.steps[index]))
    }
  }
}
