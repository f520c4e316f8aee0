// SerialGate.swift: holds a target's next message back until the one before has ended.

import Synchronization

/// Keeps the methods of one target from overlapping, whichever of its registrations a message comes by: while one is suspended, or
/// runs in a sender's turn, later messages wait here.
///
/// With an automatic delivery a sender on the context or the drain runs the target; on a concurrent queue these can meet, and off
/// Apple systems no queue tells whether it is one. A sender that finds the target taken queues its message; the drain puts it off
/// until the sender is done. What the target sends itself meanwhile, on the same thread, runs at once.
// `parked` and `place` belong to the mailbox's drain; `closed` is atomic, `state` has a lock.
final class SerialGate: @unchecked Sendable {
  private let closed = Atomic<Bool>(false)
  fileprivate(set) var isClosed: Bool {
    get { closed.load(ordering: .acquiring) }
    set { closed.store(newValue, ordering: .releasing) }
  }
  /// The gate's index among the closed ones of the mailbox.
  fileprivate var place: Int?
  fileprivate var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  private struct State {
    /// How many messages wait, of automatic deliveries.
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

  init() {}

  /// Whether nothing waits, no method is suspended and no other thread has the target.
  var isFree: Bool { !isClosed && state.withLock { $0.waiting == 0 && $0.isMine } }

  func noteQueued() { state.withLock { $0.waiting += 1 } }

  /// A message is dropped that waited.
  func noteDropped() {
    state.withLock { state in
      assert(state.waiting > 0, "only a message that waits is dropped")
      state.waiting -= 1
    }
  }

  /// Takes the target for a sender's turn. `false` when another thread has it, or the gate is closed.
  func begin() -> Bool {
    state.withLock { state in
      // Whoever closes the gate has the target.
      guard state.isMine, state.thread != nil || !isClosed else { return false }
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
      assert(state.waiting > 0, "only a message that waits is served")
      state.waiting -= 1
      state.take()
      return true
    }
  }

  /// Gives the target back. `true` when the drain waits for that.
  func end() -> Bool {
    state.withLock { state in
      assert(state.depth > 0 && state.thread == .current, "the thread that has taken the target gives it back")
      state.depth -= 1
      guard state.depth == 0 else { return false }
      defer { state.isAwaited = false }
      state.thread = nil
      return state.isAwaited
    }
  }
}

extension Mailbox {
  var hasClosedGates: Bool { !closedGates.isEmpty }

  /// Puts a delivery off while its target's gate is closed. `false` when it is open. On the context.
  func park(_ envelope: Envelope, _ index: Int, at gate: SerialGate) -> Bool {
    guard gate.isClosed else { return false }
    gate.parked.append((envelope, index))
    return true
  }

  /// Closes a target's gate and puts a delivery off, before all others that wait there. On the context.
  func close(_ gate: SerialGate, before envelope: Envelope, _ index: Int) {
    close(gate)
    gate.parked.putBack((envelope, index))
  }

  /// Closes a target's gate until ``reopen(_:)``. On the context.
  func close(_ gate: SerialGate) {
    gate.isClosed = true
    assert(gate.place.map { closedGates[$0] === gate } ?? true, "a closed gate knows its place")
    guard gate.place == nil else { return }
    gate.place = closedGates.count
    closedGates.append(gate)
  }

  /// Notes, from any thread, that a target's method has ended, so that what was put off continues.
  func reopen(_ gate: SerialGate) { post(GateOpening(gate)) }

  /// Continues what was put off, until the gate is closed again or a higher turn is to make the next delivery.
  fileprivate func open(_ gate: SerialGate) -> Int {
    assert(isOnContext, "a gate is opened on its context")
    assert(gate.place.map { closedGates[$0] === gate } ?? true, "a closed gate knows its place")
    gate.isClosed = false
    if let place = exchange(&gate.place, with: nil), let last = closedGates.popLast(), last !== gate {
      closedGates[place] = last
      last.place = place
    }
    var count = 0
    while !gate.isClosed, let parked = gate.parked.next() {
      if leavesToHigher(parked.envelope) {
        gate.parked.putBack(parked)
        break
      }
      parked.envelope.resume(parked.index, in: self)
      count += 1
    }
    return count
  }
}

private final class GateOpening: Envelope, @unchecked Sendable {  // immutable
  private let gate: SerialGate
  init(_ gate: SerialGate) { self.gate = gate }
  override func open(in mailbox: Mailbox) -> Int {
    defer { isUnfinished = !gate.isClosed && !gate.parked.isEmpty }
    return mailbox.open(gate)
  }
}
