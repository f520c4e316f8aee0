// QueuedState.swift: what a registration needs for queued deliveries.

import Synchronization

final class QueuedState: Sendable {
  /// What few registrations need.
  private struct Rare {
    /// The waiting messages, once bounded.
    var line: BufferedLine?
    var gate: SerialGate?

    mutating func madeGate() -> SerialGate {
      let made = gate ?? SerialGate()
      gate = made
      return made
    }
  }

  let mailbox: Mailbox
  /// Who runs the target, for an automatic delivery, where that may be a sender; otherwise `nil`.
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

  var delivery: Delivery { .on(mailbox.context, isAutomatic: turns != nil) }

  /// Keeps suspending methods of the target from overlapping with others.
  var gate: SerialGate { rare.withLock { $0.madeGate() } }

  /// The waiting messages, if they are or were bounded.
  var line: BufferedLine? { rare.withLock { $0.line } }

  var buffer: DeliveryBuffer { line?.buffer ?? .unbounded }

  /// What happens to waiting messages, for those sent from now on.
  var pending: PendingDeliveries { keepsPending.load(ordering: .acquiring) ? .deliverPending : .dropPending }

  /// Changes the buffer and `pending`; messages already in the mailbox are not affected. Returns whether that is a change.
  func change(to buffer: DeliveryBuffer, whenRemoved pending: PendingDeliveries) -> Bool {
    let keeps = pending == .deliverPending
    let changesPending = keepsPending.exchange(keeps, ordering: .acquiringAndReleasing) != keeps
    guard self.buffer != buffer else { return changesPending }
    // A line stays without a bound: new messages must not overtake those in it.
    let (line, isNew) = rare.withLock { rare -> (BufferedLine?, Bool) in
      defer { if rare.line == nil { rare.line = BufferedLine(buffer, gate: rare.madeGate()) } }
      return (rare.line, rare.line == nil)
    }
    if let line, !isNew {
      for envelope in line.change(to: buffer) { envelope.giveUp(.bufferFull) }
    }
    return true
  }

  /// Whether each message has its own envelope.
  var travelsAlone: Bool { line != nil || pending == .deliverPending || delivery.isAutomatic }

  var dropped: Int { droppedCount.load(ordering: .acquiring) }
  func noteDropped() { droppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  /// Whether a message may run in its sender's turn: the delivery is automatic, the sender on the context, no earlier message
  /// waits, and the method needs no other isolation.
  func runsNow(_ step: RouteStep) -> Bool {
    guard let turns, mailbox.isCurrent, turns.isFree, !gate.isClosed else { return false }
    guard let method = step.method?.takeUnretainedValue(), let target = step.target else { return true }
    return method.canRun(on: target)
  }

  /// Takes the target after ``runsNow(_:)`` said yes; ``endTurn()`` gives it back. `false` when another thread has taken it since:
  /// then the message is queued.
  func beginTurn() -> Bool { turns?.begin(unless: gate) ?? true }

  func endTurn() { if let turns, turns.end() { mailbox.reopen(gate) } }
}

/// Keeps a target with an automatic delivery to one message at a time, whether a sender on the context runs it or the drain.
///
/// On a serial context these cannot meet. On a concurrent queue they can, and off Apple systems no queue tells whether it is one. A
/// sender that finds the target taken queues its message; the drain closes the target's gate and puts the message off until the
/// sender is done. What the target sends itself meanwhile, on the same thread, runs at once.
final class AutomaticTurns: Sendable {
  private struct State {
    /// How many messages wait.
    var waiting = 0
    /// The thread that runs the target, and how many of its methods are running.
    var thread: ThreadIdentity?
    var depth = 0
    /// Whether the drain has put a message off until the thread is done.
    var isAwaited = false

    /// Whether no other thread has the target.
    var isMine: Bool { thread == nil || thread == .current }

    mutating func take() {
      thread = .current
      depth += 1
    }
  }

  private let state = Guarded(State())

  /// Whether nothing waits and no other thread has the target.
  var isFree: Bool { state.withLock { $0.waiting == 0 && $0.isMine } }

  func noteQueued() { state.withLock { $0.waiting += 1 } }

  /// A message is dropped that waited.
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

  /// Takes the target for a message that waited. `false` when a sender has it; its ``end()`` then returns `true`.
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

  /// How many messages may wait for the target.
  public var buffer: DeliveryBuffer { queued?.buffer ?? .unbounded }

  /// How many queued messages did not run: the buffer was full, or the target removed, muted or dead when their turn came.
  public var dropped: Int { queued?.dropped ?? 0 }
}
