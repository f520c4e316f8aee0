// OutcomeOrder.swift: gives the outcomes of one walk out, in the order of delivery.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

/// The outcomes of one walk: each comes out as soon as it is known, and where the sender waits also those of other contexts,
/// each at its place.
struct OutcomeOrder {
  /// Where outcomes of other contexts go; `nil` when nobody waits for them.
  let pending: PendingAnswers?
  /// Whether outcomes of other contexts come out as well.
  private let isComplete: Bool
  /// What is known and has not come out yet.
  private var ready: [Walk.Outcome] = []
  private var given = 0
  /// Where all outcomes are waited for: their slots, in order, and how many of them have come out.
  private var slots: [Int] = []
  private var settled = 0
  /// Whether anybody got the message, in any proxy, as far as has come out.
  var reachedAny = false

  init(_ waiting: Walk.Waiting) {
    switch waiting {
    case .nobody: (pending, isComplete) = (nil, false)
    case .suspended, .blocked: (pending, isComplete) = (PendingAnswers(), true)
    case .elsewhere(let ofSender): (pending, isComplete) = (ofSender, false)
    }
  }

  /// Keeps an outcome until it is its turn to come out.
  mutating func keep(_ found: Walk.Outcome) {
    guard isComplete, let pending else { return ready.append(found) }
    if case .queued(let slot) = found.outcome, slot >= 0 {
      slots.append(slot)
    } else {
      slots.append(pending.add(found.outcome, found.context))
    }
  }

  /// The next outcome that is known.
  mutating func next() -> Walk.Outcome? {
    while given == ready.count {
      given = 0
      ready.removeAll(keepingCapacity: true)
      guard settled < slots.count, let found = pending?.settled(slots[settled]) else { return nil }
      settled += 1
      ready = found
    }
    let found = ready[given]
    given += 1
    switch found.outcome {
    case .answered, .queued, .failed, .skipped(.bufferFull): reachedAny = true
    case .skipped: break
    }
    return found
  }
}
