// QueuedState.swift: what a registration needs for deliveries on another context.

import Synchronization

/// A registration's side of delivery on another context.
final class QueuedState: Sendable {
  /// What few have: a bound, a method that suspends.
  private struct Rare {
    /// The messages that wait, once their number has been bounded.
    var line: BufferedLine?
    var gate: SerialGate?

    mutating func madeGate() -> SerialGate {
      let made = gate ?? SerialGate()
      gate = made
      return made
    }
  }

  let mailbox: Mailbox
  /// Who runs the target, where that need not be the mailbox's drain; `nil` but for an automatic delivery.
  let turns: AutomaticTurns?
  private let rare = Guarded(Rare())
  private let keepsPending: Atomic<Bool>
  private let droppedCount = Atomic<Int>(0)

  init(_ delivery: Delivery, _ mailbox: Mailbox, buffer: DeliveryBuffer, pending: PendingDeliveries) {
    self.mailbox = mailbox
    turns = delivery.isAutomatic ? AutomaticTurns() : nil
    keepsPending = Atomic(pending == .deliverPending)
    if buffer != .unbounded { rare.withLock { $0.line = BufferedLine(buffer, gate: $0.madeGate()) } }
  }

  /// Where and when the target's messages run.
  var delivery: Delivery { .on(mailbox.context, isAutomatic: turns != nil) }

  /// Keeps methods of the target that suspend from overlapping with others.
  var gate: SerialGate { rare.withLock { $0.madeGate() } }

  /// The messages that wait, when their number is or was bounded.
  var line: BufferedLine? { rare.withLock { $0.line } }

  var buffer: DeliveryBuffer { line?.buffer ?? .unbounded }

  /// What becomes of messages sent from now on that wait when the registration ends.
  var pending: PendingDeliveries { keepsPending.load(ordering: .acquiring) ? .deliverPending : .dropPending }

  /// Changes how much may wait and what becomes of it. Messages that are in the mailbox already are not counted, and keep
  /// what was said when they were sent. Gives whether that is a change.
  func change(to buffer: DeliveryBuffer, whenRemoved pending: PendingDeliveries) -> Bool {
    let keeps = pending == .deliverPending
    let changesPending = keepsPending.exchange(keeps, ordering: .acquiringAndReleasing) != keeps
    guard self.buffer != buffer else { return changesPending }
    // A line stays when its bound goes: what is sent now must not overtake what waits in it.
    let (line, isNew) = rare.withLock { rare -> (BufferedLine?, Bool) in
      defer { if rare.line == nil { rare.line = BufferedLine(buffer, gate: rare.madeGate()) } }
      return (rare.line, rare.line == nil)
    }
    if let line, !isNew {
      for envelope in line.change(to: buffer) { envelope.giveUp(.bufferFull) }
    }
    return true
  }

  /// Whether each message has an envelope of its own.
  var travelsAlone: Bool { line != nil || pending == .deliverPending || delivery.isAutomatic }

  var dropped: Int { droppedCount.load(ordering: .acquiring) }
  func noteDropped() { droppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  /// Whether a message may run in its sender's turn: the delivery is automatic, its sender is on the context, no message waits
  /// there that was sent before, and the method needs no other isolation.
  func runsNow(_ step: RouteStep) -> Bool {
    guard let turns, mailbox.isCurrent, turns.isFree, !gate.isClosed else { return false }
    guard let method = step.method?.takeUnretainedValue(), let target = step.target else { return true }
    return method.canRun(on: target)
  }

  /// Takes the target for the turn of a sender to whom ``runsNow(_:)`` said yes; ``AutomaticTurns/end(_:_:)`` gives it back.
  /// `false` when another thread has taken it since: the message is queued then.
  func beginTurn() -> Bool { turns?.begin(unless: gate) ?? true }

  /// Gives the target back.
  func endTurn() { if let turns, turns.end() { mailbox.reopen(gate) } }
}

/// Keeps a target with an automatic delivery to one message at a time, whoever runs it: a sender that is on the context, in
/// its own turn, or the drain of the mailbox.
///
/// On a serial context these cannot meet. On a queue that runs several blocks at a time they can, and off Apple systems no
/// queue says whether it does. A sender that finds the target taken queues its message; a drain that does so closes the
/// target's gate and puts the message off until the sender is done. What a target sends itself in its turn, on the same
/// thread, runs at once.
final class AutomaticTurns: Sendable {
  private struct State {
    /// How many messages wait.
    var waiting = 0
    /// The thread that runs the target, and how many of its methods it is in.
    var thread: ThreadIdentity?
    var depth = 0
    /// Whether the drain has put a message off until the thread is done.
    var isAwaited = false

    /// Whether the target is not taken by another thread than the calling one.
    var isMine: Bool { thread == nil || thread == .current }

    mutating func take() {
      thread = .current
      depth += 1
    }
  }

  private let state = Guarded(State())

  /// Whether nothing waits and no other thread runs the target.
  var isFree: Bool { state.withLock { $0.waiting == 0 && $0.isMine } }

  /// One more message waits.
  func noteQueued() { state.withLock { $0.waiting += 1 } }

  /// One message waits no longer, and does not run either.
  func noteDropped() { state.withLock { $0.waiting -= 1 } }

  /// Takes the target for a sender's turn. `false` when another thread has it, or its gate is closed.
  func begin(unless gate: SerialGate) -> Bool {
    state.withLock { state in
      // Whoever closes the gate has the target.
      guard state.isMine, state.thread != nil || !gate.isClosed else { return false }
      state.take()
      return true
    }
  }

  /// Takes the target for a message that waited. `false` when a sender has it, whose ``end()`` then tells.
  func beginQueued() -> Bool {
    state.withLock { state in
      guard state.isMine else {
        state.isAwaited = true
        return false
      }
      state.waiting -= 1
      state.take()
      return true
    }
  }

  /// Gives the target back. `true` when the drain waits for that.
  func end() -> Bool {
    state.withLock { state in
      state.depth -= 1
      guard state.depth == 0 else { return false }
      defer { state.isAwaited = false }
      state.thread = nil
      return state.isAwaited
    }
  }
}

extension Registration {
  /// Where and when the target's messages run.
  public var delivery: Delivery { queued?.delivery ?? .direct }

  /// How much may wait for the target.
  public var buffer: DeliveryBuffer { queued?.buffer ?? .unbounded }

  /// How many messages were queued, or to be queued, for the target and did not run: its buffer was full, or it was
  /// removed, muted or dead when their turn came.
  public var dropped: Int { queued?.dropped ?? 0 }
}
