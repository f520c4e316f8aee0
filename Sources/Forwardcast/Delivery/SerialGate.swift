// SerialGate.swift: serializes the methods of one target.

import Synchronization

/// Serializes the methods of one target across its registrations. While a method is suspended, or
/// runs synchronously on a sender's thread, later messages wait here.
///
/// With automatic delivery, the target is run either by the drain or by a sender on the context. On
/// a concurrent queue, both may try to run it at once. A sender that finds the target busy queues
/// its message. A drain that finds the target busy defers the message until the sender has
/// finished. Messages that the target sends to itself on the same thread run synchronously.
///
/// One word holds the state, so acquiring and releasing the target take one atomic operation each:
///
///     thread      the thread that runs the target; 0 if no thread does
///     awaited     the drain has deferred a message until the thread releases the target
///     closed      a method is suspended, or the drain waits for the thread; set on the context
// `parked` and `place` are owned by the mailbox's drain, `depth` by the thread in `word`.
final class SerialGate: @unchecked Sendable {
  private let word = Atomic<UInt>(0)
  private static let awaited: UInt = 1
  private static let closed: UInt = 2
  private static let marks: UInt = 3
  /// The number of queued messages of automatic deliveries.
  private let waiting = Atomic<Int>(0)
  /// The number of nested methods that the thread is running.
  @exclusivity(unchecked) private var depth = 0
  /// The gate's index in the mailbox's `closedGates`.
  fileprivate var place: Int?
  fileprivate var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  init() {}

  fileprivate(set) var isClosed: Bool {
    get { word.load(ordering: .acquiring) & SerialGate.closed != 0 }
    set {
      if newValue {
        word.bitwiseOr(SerialGate.closed, ordering: .acquiringAndReleasing)
      } else {
        word.bitwiseAnd(~SerialGate.closed, ordering: .acquiringAndReleasing)
      }
    }
  }

  private static var thread: UInt {
    let thread = ThreadIdentity.current.id
    assert(thread != 0 && thread & marks == 0, "the identity of a thread is an address")
    return thread
  }

  /// True if nothing is queued, no method is suspended and no other thread runs the target.
  @inline(__always)
  var isFree: Bool {
    // The drain lowers the count only after it has stored its thread in the word.
    guard waiting.load(ordering: .acquiring) == 0 else { return false }
    let word = word.load(ordering: .acquiring)
    return word == 0 || word & ~SerialGate.awaited == SerialGate.thread
  }

  func noteQueued() { waiting.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  func noteDropped() { noteBegun() }

  private func noteBegun() {
    let old = waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
    assert(old > 0, "only a message that waits is served or dropped")
  }

  /// Acquires the target for a synchronous sender. Returns false if the target is busy.
  @inline(__always)
  func begin() -> Bool {
    let thread = SerialGate.thread
    let (done, found) = word.compareExchange(
      expected: 0, desired: thread, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
    // Even if the gate is closed, a word with this thread means that the thread has the target.
    guard done || found & ~SerialGate.marks == thread else { return false }
    depth &+= 1
    return true
  }

  /// Acquires the target for a queued message, see ``acquire()``.
  func beginQueued() -> Bool {
    guard acquire() else { return false }
    noteBegun()
    return true
  }

  /// Acquires the target for the drain. Returns false if a sender has the target; that sender's
  /// ``end()`` then returns true.
  func acquire() -> Bool {
    let thread = SerialGate.thread
    var found = word.load(ordering: .relaxed)
    while found & ~SerialGate.marks != thread {
      let isTaken = found & ~SerialGate.marks != 0
      let (done, now) = word.weakCompareExchange(
        expected: found, desired: found | (isTaken ? SerialGate.awaited : thread),
        successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if done, isTaken { return false }
      found = done ? thread : now
    }
    depth &+= 1
    return true
  }

  /// Releases the target. Returns true if the drain has deferred a message until this release.
  @inline(__always)
  func end() -> Bool {
    assert(
      depth > 0 && word.load(ordering: .relaxed) & ~SerialGate.marks == SerialGate.thread, "its thread ends a turn")
    depth &-= 1
    guard depth == 0 else { return false }
    return word.bitwiseAnd(SerialGate.closed, ordering: .acquiringAndReleasing).oldValue & SerialGate.awaited != 0
  }
}

extension Mailbox {
  var hasClosedGates: Bool { !closedGates.isEmpty }

  /// Defers a delivery if the gate is closed; otherwise returns false. Called on the context.
  func park(_ envelope: Envelope, _ index: Int, at gate: SerialGate) -> Bool {
    guard gate.isClosed else { return false }
    gate.parked.append((envelope, index))
    return true
  }

  /// Closes a target's gate and defers a delivery ahead of all others. Called on the context.
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

  /// Runs deferred deliveries until the gate closes again or a drain of higher priority is due.
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
