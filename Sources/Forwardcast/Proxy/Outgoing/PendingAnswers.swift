// PendingAnswers.swift: the outcomes of one message that its sender waits for.
// Layer: Proxy. See DESIGN.md, "Waiting".

/// The outcomes of one message, in slots that are settled from any thread.
///
/// A slot is opened before its delivery is posted, and settled once: by the delivery, by what dropped it, or by the end of
/// the parcel that held it, whatever comes first. So whoever waits is always released.
// `state` has a lock; contexts hold Sendable targets where they cross.
final class PendingAnswers: @unchecked Sendable {
  private struct Slot {
    var context: StepContext
    var outcome: StepOutcome?
    /// The slots of a nested proxy's targets, once it has been served.
    var children: [Int]?
  }

  private struct State: @unchecked Sendable {  // guarded by the lock around it
    var slots: [Slot] = []
  }

  private let state = Guarded(State())
  private let completion = Completion()

  init() {}

  /// Opens a slot.
  func open(_ context: StepContext) -> Int {
    completion.enter()
    return add(Slot(context: context))
  }

  /// A slot that is settled already.
  func add(_ outcome: StepOutcome, _ context: StepContext) -> Int { add(Slot(context: context, outcome: outcome)) }

  private func add(_ slot: Slot) -> Int {
    let slot = UncheckedSendable(slot)
    return state.withLock { state in
      state.slots.append(slot.value)
      return state.slots.count - 1
    }
  }

  /// Settles a slot, unless it is.
  func settle(_ index: Int, _ outcome: StepOutcome, from target: AnyObject?) {
    let sent = UncheckedSendable((outcome: outcome, target: target))
    let settles = state.withLock { state in
      guard state.slots[index].outcome == nil, state.slots[index].children == nil else { return false }
      state.slots[index].outcome = sent.value.outcome
      state.slots[index].context = state.slots[index].context.reaching(sent.value.target)
      return true
    }
    if settles { completion.leave() }
  }

  /// Settles the slot of a nested proxy with those of its targets.
  func settle(_ index: Int, with children: [Int]) {
    let settles = state.withLock { state in
      guard state.slots[index].outcome == nil, state.slots[index].children == nil else { return false }
      state.slots[index].children = children
      return true
    }
    if settles { completion.leave() }
  }

  /// What is in a slot, in order; `nil` while some of it is open.
  func settled(_ index: Int) -> [(StepOutcome, StepContext)]? {
    state.withLock { state -> UncheckedSendable<[(StepOutcome, StepContext)]?> in
      var found: [(StepOutcome, StepContext)] = []
      var waiting = [index]
      while let next = waiting.popLast() {
        let slot = state.slots[next]
        if let children = slot.children {
          waiting += children.reversed()
        } else if let outcome = slot.outcome {
          found.append((outcome, slot.context))
        } else {
          return UncheckedSendable(nil)
        }
      }
      return UncheckedSendable(found)
    }.value
  }

  /// Suspends until every slot is settled.
  ///
  /// - Throws: `CancellationError` when the task is cancelled; deliveries go on, and nobody hears of them; `timedOut`.
  /// - Parameter wait: what limits the time, where the wait may be one for itself.
  nonisolated(nonsending) func wait(limitedBy wait: SuspendedWait? = nil) async throws {
    let timer = wait?.start { [completion] in completion.fail($0) }
    defer { timer?.cancel() }
    try await completion.wait()
  }

  /// The registrations whose outcome is open.
  var open: [Registration] {
    state.withLock { state in
      UncheckedSendable(
        state.slots.filter { $0.outcome == nil && $0.children == nil }.compactMap(\.context.registration))
    }.value
  }

  /// Blocks until every slot is settled. Gives the contexts of those that were still open when the time was over.
  func wait(timeout: Duration) -> [StepContext] {
    if completion.wait(until: Deadline(after: timeout)) { return [] }
    return state.withLock { state in
      UncheckedSendable(state.slots.filter { $0.outcome == nil && $0.children == nil }.map(\.context))
    }.value
  }
}
