// PendingAnswers.swift: the outcomes that a waiting sender expects.

/// The outcomes of one message that a sender waits for, in slots that any thread settles.
///
/// A slot is opened before its message is posted. The slot is settled once, at the latest by the
/// `deinit` of the ``Parcel``. So every wait ends, unless a context keeps its jobs without running
/// them.
// `state` has a lock; targets on other contexts are Sendable.
package final class PendingAnswers: @unchecked Sendable {
  private struct Slot {
    var context: StepContext
    var outcome: StepOutcome?
    var isTaken = false
    /// True if the message is delivered even after its target is removed.
    var isKept = false
    /// True once the method has started, so a removal does not settle the slot.
    var hasBegun = false

    var isOpen: Bool { outcome == nil }

    /// True if the target or an enclosing proxy was removed together with its queued messages.
    var isRemoved: Bool {
      !isKept && context.registration?.isRemoved ?? false || context.proxies.obstacle == .removed
    }

    /// An error that no sender has read, with its site.
    var untold: Untold? {
      if !isTaken, case .failed(let error)? = outcome { Untold(error: error, context: context) } else { nil }
    }
  }

  private struct Untold: @unchecked Sendable {  // collected under the lock, reported after it
    let error: any Error
    let context: StepContext

    func tell() { context.report(error) }
  }

  private struct State: @unchecked Sendable {  // guarded by the lock around it
    var slots: [Slot] = []
    /// The proxies with failed targets, and outer proxies, retained so that identities stay unique.
    var failed: [ObjectIdentifier: ProxyChain] = .init()
    /// True once the sender no longer waits, so errors go to the handlers.
    var isAbandoned = false

    /// Records the proxies of a failed slot. Returns the error if the sender no longer waits.
    mutating func noteSettled(_ index: Int) -> Untold? {
      guard let untold = slots[index].untold else { return nil }
      for chain in sequence(first: untold.context.proxies, next: \.outer) { failed[ObjectIdentifier(chain)] = chain }
      return isAbandoned ? untold : nil
    }
  }

  private let state = Guarded(State())
  private let completion = Completion()

  /// The sender's wait with a timeout, if any. Its error names the targets that did not answer.
  private let timed = TimedWait.current
  private var number: Int?  // written by `init` only

  init() { number = timed?.begin { [weak self] in self?.isAbandoned == false ? self?.late ?? [] : [] } }

  deinit { if let number { timed?.end(number) } }

  package var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  func open(_ context: StepContext, isKept: Bool = false) -> Int {
    completion.enter()
    let slot = UncheckedSendable(Slot(context: context, isKept: isKept))
    return state.withLock { state in
      state.slots.append(slot.value)
      return state.slots.count - 1
    }
  }

  /// Records the start of a method. Returns false if a removal has settled the slot.
  func begin(_ index: Int) -> Bool {
    state.withLock { state in
      assert(state.slots.indices.contains(index), "the slot is another message's")
      state.slots[index].hasBegun = state.slots[index].isOpen
      return state.slots[index].hasBegun
    }
  }

  func settle(_ index: Int, _ outcome: StepOutcome, from target: AnyObject?) {
    let sent = UncheckedSendable((outcome: outcome, target: target))
    let (settles, untold) = state.withLock { state -> (Bool, Untold?) in
      assert(state.slots.indices.contains(index), "the slot is another message's")
      guard state.slots[index].isOpen else { return (false, nil) }
      state.slots[index].outcome = sent.value.outcome
      if let target = sent.value.target { state.slots[index].context.target = target }
      return (true, state.noteSettled(index))
    }
    untold?.tell()
    if settles { completion.leave() }
  }

  /// Detaches the sender, for example after a timeout. All errors that the sender did not
  /// read go to the handlers.
  func abandon() {
    let untold = state.withLock { state -> [Untold] in
      defer { state.isAbandoned = true }
      return state.isAbandoned ? [] : state.slots.compactMap(\.untold)
    }
    for error in untold { error.tell() }
  }

  /// The outcome of a slot; `nil` while it is pending. Settles the slot if its target was removed.
  func settled(_ index: Int) -> Outcome? {
    settleIfRemoved(index)
    return state.withLock { state -> UncheckedSendable<Outcome?> in
      guard let outcome = state.slots[index].outcome else { return UncheckedSendable(nil) }
      state.slots[index].isTaken = true
      return UncheckedSendable(Outcome(outcome, state.slots[index].context))
    }.value
  }

  /// Suspends until every slot is settled. Throws `CancellationError` or the error of ``fail(_:)``.
  nonisolated(nonsending) func wait() async throws {
    let removals = settleRemovals()
    defer { removals?.end() }
    try await completion.wait()
  }

  /// Settles each slot whose target or enclosing proxy is removed, until the returned wait ends.
  private func settleRemovals() -> RoomWait? {
    let (way, slots) = state.withLock { state in
      var (way, slots): ([Registration], [Registration: [Int]]) = ([], .init())
      for (index, slot) in state.slots.enumerated() where slot.isOpen {
        for registration in slot.context.path {
          if slots[registration] == nil { way.append(registration) }
          slots[registration, default: []].append(index)
        }
      }
      return (way, slots)
    }
    guard !way.isEmpty else { return nil }
    return RoomWait(on: way) { [slots] registration in
      for index in slots[registration] ?? [] { self.settleIfRemoved(index) }
    }
  }

  private func settleIfRemoved(_ index: Int) {
    let settles = state.withLock { state in
      assert(state.slots.indices.contains(index), "the slot is another message's")
      guard state.slots[index].isOpen, !state.slots[index].hasBegun, state.slots[index].isRemoved else { return false }
      state.slots[index].outcome = .skipped(.removed)
      return true
    }
    if settles { completion.leave() }
  }

  func fail(_ error: any Error) { completion.fail(error) }

  private var late: [String] {
    open.map { "\($0.name) on \($0.registration?.queued?.mailbox.context.name ?? "its context")" }
  }

  var open: [StepContext] { state.withLock { UncheckedSendable($0.slots.filter(\.isOpen).map(\.context)) }.value }

  func hasFailed(in proxies: ProxyChain) -> Bool {
    state.withLock { $0.failed[ObjectIdentifier(proxies)] != nil }
  }

  /// Blocks until every slot is settled, or until the deadline. Returns the sites of pending slots.
  func wait(until deadline: Deadline) -> [StepContext] {
    let removals = settleRemovals()
    defer { removals?.end() }
    return completion.wait(until: deadline) ? [] : open
  }
}
