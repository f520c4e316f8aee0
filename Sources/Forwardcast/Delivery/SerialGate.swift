// SerialGate.swift: serializes the methods of one target.

import Synchronization

/// Serializes the methods of one target across its registrations. While a method is suspended, or
/// runs synchronously in a sender, later messages wait here.
///
/// With automatic delivery, a sender on the context or the drain runs the target. On a concurrent
/// queue these can collide, and only Apple's systems reveal such queues. A sender that finds the
/// target busy queues its message; the drain defers it until the sender has finished. Messages that
/// the target sends to itself meanwhile, on the same thread, run synchronously.
// `parked` and `place` are owned by the mailbox's drain; `closed` is atomic; `state` has a lock.
final class SerialGate: @unchecked Sendable {
  private let closed = Atomic<Bool>(false)
  fileprivate(set) var isClosed: Bool {
    get { closed.load(ordering: .acquiring) }
    set { closed.store(newValue, ordering: .releasing) }
  }
  /// The gate's index in the mailbox's `closedGates`.
  fileprivate var place: Int?
  fileprivate var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  private struct State {
    /// The number of queued messages of automatic deliveries.
    var waiting = 0
    /// The thread that runs the target, and its number of nested methods.
    var thread: ThreadIdentity?
    var depth = 0
    /// True if the drain has deferred a message until the thread is done.
    var isAwaited = false

    /// True if no other thread runs the target.
    var isMine: Bool { thread == nil || thread == .current }

    mutating func take() {
      thread = .current
      depth += 1
    }
  }

  private let state = Guarded(State())

  init() {}

  /// True if nothing is queued, no method is suspended and no other thread runs the target.
  var isFree: Bool { !isClosed && state.withLock { $0.waiting == 0 && $0.isMine } }

  func noteQueued() { state.withLock { $0.waiting += 1 } }

  /// Records that a queued message was dropped.
  func noteDropped() {
    state.withLock { state in
      assert(state.waiting > 0, "only a message that waits is dropped")
      state.waiting -= 1
    }
  }

  /// Acquires the target for a synchronous sender. Returns false if another thread runs it, or the
  /// gate is closed.
  func begin() -> Bool {
    state.withLock { state in
      // A closed gate with a thread belongs to that thread.
      guard state.isMine, state.thread != nil || !isClosed else { return false }
      state.take()
      return true
    }
  }

  /// Acquires the target for a queued message. Returns false if a sender has it, whose ``end()``
  /// then returns true.
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

  /// Releases the target. Returns true if the drain waits for that.
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

  /// Defers a delivery while its target's gate is closed; returns false if open. Called on the
  /// context.
  func park(_ envelope: Envelope, _ index: Int, at gate: SerialGate) -> Bool {
    guard gate.isClosed else { return false }
    gate.parked.append((envelope, index))
    return true
  }

  /// Closes a target's gate and defers a delivery, before all deferred ones. Called on the context.
  func close(_ gate: SerialGate, before envelope: Envelope, _ index: Int) {
    close(gate)
    gate.parked.putBack((envelope, index))
  }

  /// Closes a target's gate until ``reopen(_:)``. Called on the context.
  func close(_ gate: SerialGate) {
    gate.isClosed = true
    assert(gate.place.map { closedGates[$0] === gate } ?? true, "a closed gate knows its place")
    guard gate.place == nil else { return }
    gate.place = closedGates.count
    closedGates.append(gate)
  }

  /// Reports, from any thread, that a target's method has ended, so deferred deliveries continue.
  func reopen(_ gate: SerialGate) { post(GateOpening(gate)) }

  /// Continues deferred deliveries until the gate closes again or a drain of higher priority is
  /// due.
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
