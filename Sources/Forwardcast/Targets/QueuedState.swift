// QueuedState.swift: what a registration needs for queued deliveries.

import Synchronization

final class QueuedState: Sendable {
  /// What few registrations need.
  private struct Rare {
    /// The waiting messages, once bounded.
    var line: BufferedLine?
    var gate: SerialGate?
  }

  let mailbox: Mailbox
  /// The gate, for an automatic delivery, where a sender may run the target; otherwise `nil`.
  let turns: SerialGate?
  private let rare = Guarded(Rare())
  private let keepsPending: Atomic<Bool>
  private let droppedCount = Atomic<Int>(0)

  /// - Parameter gate: needed for an automatic delivery and for a bounded buffer.
  init(
    _ delivery: Delivery, _ mailbox: Mailbox, _ gate: SerialGate?, buffer: DeliveryBuffer, pending: PendingDeliveries
  ) {
    self.mailbox = mailbox
    turns = delivery.isAutomatic ? gate : nil
    keepsPending = Atomic(pending == .deliverPending)
    guard let gate else { return }
    rare.withLock { $0 = Rare(line: buffer == .unbounded ? nil : BufferedLine(buffer, gate: gate), gate: gate) }
  }

  var delivery: Delivery { .on(mailbox.context, isAutomatic: turns != nil) }

  /// The target's gate, kept from the first time that it is needed.
  fileprivate func gate(_ find: () -> SerialGate) -> SerialGate {
    if let known = rare.withLock({ $0.gate }) { return known }
    let found = find()
    return rare.withLock { rare in
      let gate = rare.gate ?? found
      rare.gate = gate
      return gate
    }
  }

  /// The waiting messages, if they are or were bounded.
  var line: BufferedLine? { rare.withLock { $0.line } }

  var buffer: DeliveryBuffer { line?.buffer ?? .unbounded }

  /// What happens to waiting messages, for those sent from now on.
  var pending: PendingDeliveries { keepsPending.load(ordering: .acquiring) ? .deliverPending : .dropPending }

  /// Changes the buffer and `pending`; messages already in the mailbox are not affected. Returns whether that is a change.
  func change(to buffer: DeliveryBuffer, whenRemoved pending: PendingDeliveries, of registration: Registration)
    -> Bool
  {
    assert(registration.queued === self, "a registration changes its own buffer")
    let keeps = pending == .deliverPending
    let changesPending = keepsPending.exchange(keeps, ordering: .acquiringAndReleasing) != keeps
    guard self.buffer != buffer, let gate = registration.gate else { return changesPending }
    // A line stays without a bound: new messages must not overtake those in it.
    let line = rare.withLock { rare -> BufferedLine? in
      defer { if rare.line == nil { rare.line = BufferedLine(buffer, gate: gate) } }
      return rare.line
    }
    for envelope in line?.change(to: buffer) ?? [] { envelope.giveUp(.bufferFull) }
    return true
  }

  /// Whether each message has its own envelope.
  var travelsAlone: Bool { line != nil || pending == .deliverPending || delivery.isAutomatic }

  var dropped: Int { droppedCount.load(ordering: .acquiring) }
  func noteDropped() { droppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  /// Whether a message may run in its sender's turn: the delivery is automatic, the sender on the context, no earlier message
  /// waits, and the method needs no other isolation.
  func runsNow(_ step: RouteStep) -> Bool {
    guard let turns, mailbox.context.isCurrent, turns.isFree else { return false }
    guard let method = step.method?.takeUnretainedValue(), let target = step.target else { return true }
    return method.canRun(on: target)
  }

  /// Takes the target after ``runsNow(_:)`` said yes; ``endTurn()`` gives it back. `false` when another thread has taken it since:
  /// then the message is queued.
  func beginTurn() -> Bool { turns?.begin() ?? true }

  func endTurn() { if let turns, turns.end() { mailbox.reopen(turns) } }
}

extension Registration {
  /// Keeps the target's turns apart; `nil` where it has none of its own.
  var gate: SerialGate? {
    queued.map { queued in queued.gate { core?.gate(of: key, queued.mailbox) ?? SerialGate() } }
  }

  /// Where and when the target's messages run.
  public var delivery: Delivery { queued?.delivery ?? .direct }

  /// How many messages may wait for the target.
  public var buffer: DeliveryBuffer { queued?.buffer ?? .unbounded }

  /// How many queued messages did not run: the buffer was full, or the target removed, muted or dead when their turn came.
  public var dropped: Int { queued?.dropped ?? 0 }
}
