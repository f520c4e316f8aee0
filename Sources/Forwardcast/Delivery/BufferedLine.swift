// BufferedLine.swift: the messages that wait for one target whose buffer is bounded.
// Layer: Delivery. See DESIGN.md, "Delivery".

/// The messages that wait for one registration with a bounded buffer.
///
/// The line itself stands in the mailbox, once, as long as something waits in it; so a message that is pushed out
/// leaves nothing behind, and what waits is never more than the bound.
package final class BufferedLine: Envelope, @unchecked Sendable {  // `state` has a lock, the rest never changes
  private struct Waiter {
    let id: UInt
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var waiting = WaitingLine<Envelope>()
    /// Places that were given to senders who are about to fill them.
    var reserved = 0
    var isPosted = false
    var waiters: [Waiter] = []
    var nextID: UInt = 0
    /// Senders whose task was cancelled before they came to wait.
    var cancelled: Set<UInt> = []
  }

  private let state = Guarded(State())
  private let buffer: DeliveryBuffer
  private let lane: Lane

  /// - Parameter lane: the registration's.
  package init(_ buffer: DeliveryBuffer, lane: Lane) {
    (self.buffer, self.lane) = (buffer, lane)
    super.init()
  }

  /// How many messages wait.
  package var count: Int { state.withLock { $0.waiting.count } }

  /// Adds a message, and gives the one that has to go for it: another, itself, or none.
  ///
  /// - Parameter reserved: whether the sender has a place from ``reserve()``, which it gives up with this.
  package func offer(_ envelope: Envelope, reserved: Bool, to mailbox: Mailbox) -> Envelope? {
    let (dropped, wakes) = state.withLock { state -> (Envelope?, Bool) in
      if reserved { state.reserved -= 1 }
      var dropped: Envelope?
      let taken = state.waiting.count + state.reserved
      switch buffer.policy {
      case .unbounded: break
      case .keepNewest(let bound): if taken >= bound { dropped = state.waiting.next() }
      case .keepOldest(let bound), .suspendSender(let bound): if taken >= bound { return (envelope, false) }
      case .latestPerSelector:
        dropped = state.waiting.remove { $0.selector == envelope.selector }
      }
      state.waiting.append(envelope)
      defer { state.isPosted = true }
      return (dropped, !state.isPosted)
    }
    if wakes { mailbox.post(self) }
    return dropped
  }

  /// Opens what waits, oldest first, until the target is busy or others have waited long enough.
  package override func open(in mailbox: Mailbox) -> Int {
    var made = 0
    while made < 32 {
      if mailbox.park(self, 0, in: lane) { return made }
      guard let envelope = next() else { return made }
      made += envelope.open(in: mailbox)
    }
    mailbox.post(self)
    return made
  }

  package override func resume(_ index: Int, in mailbox: Mailbox) { _ = open(in: mailbox) }

  /// The message that has waited longest; without one the line leaves the mailbox.
  private func next() -> Envelope? {
    let (envelope, waiter) = state.withLock { state -> (Envelope?, Waiter?) in
      guard let envelope = state.waiting.next() else {
        state.isPosted = false
        return (nil, nil)
      }
      return (envelope, admit(&state))
    }
    waiter?.continuation.resume()
    return envelope
  }

  /// Gives a free place to the sender who has waited longest.
  private func admit(_ state: inout State) -> Waiter? {
    guard case .suspendSender(let bound) = buffer.policy, !state.waiters.isEmpty,
      state.waiting.count + state.reserved < bound
    else { return nil }
    state.reserved += 1
    return state.waiters.removeFirst()
  }

  // MARK: Room

  /// Whether a sender can wait for room.
  package var suspendsSenders: Bool { if case .suspendSender = buffer.policy { true } else { false } }

  /// Waits for a place, first come first served.
  ///
  /// - Throws: `CancellationError` when the task is cancelled; there is no place then.
  package nonisolated(nonsending) func reserve() async throws {
    guard case .suspendSender(let bound) = buffer.policy else { return }
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (admitted, cancelled) = state.withLock { state -> (Bool, Bool) in
          if state.cancelled.remove(id) != nil { return (false, true) }
          if state.waiters.isEmpty, state.waiting.count + state.reserved < bound {
            state.reserved += 1
            return (true, false)
          }
          state.waiters.append(Waiter(id: id, continuation: continuation))
          return (false, false)
        }
        if cancelled { continuation.resume(throwing: CancellationError()) } else if admitted { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.waiters.remove(at: index)
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Gives a place back that was not filled.
  package func giveBack() {
    guard case .suspendSender = buffer.policy else { return }
    let waiter = state.withLock { state -> Waiter? in
      state.reserved -= 1
      return admit(&state)
    }
    waiter?.continuation.resume()
  }
}
