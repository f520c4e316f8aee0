// SerialGate.swift: keeps a target's next message back until the one before has ended.

import Synchronization

/// Keeps the methods of one target from overlapping: while one of them is suspended, or runs in a sender's turn, the messages
/// behind it wait here.
final class SerialGate: @unchecked Sendable {  // `parked` belongs to the mailbox's drain, `closed` is atomic
  private let closed = Atomic<Bool>(false)
  fileprivate(set) var isClosed: Bool {
    get { closed.load(ordering: .acquiring) }
    set { closed.store(newValue, ordering: .releasing) }
  }
  private var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  init() {}

  fileprivate func park(_ envelope: Envelope, _ index: Int) { parked.append((envelope, index)) }
  fileprivate func putBack(_ envelope: Envelope, _ index: Int) { parked.putBack((envelope, index)) }
  fileprivate func next() -> (envelope: Envelope, index: Int)? { parked.next() }
  fileprivate var isEmpty: Bool { parked.isEmpty }
}

extension Mailbox {
  /// Whether a gate is closed. Asked on the context.
  var hasClosedGates: Bool { !closedGates.isEmpty }

  /// Puts a delivery off while its target's gate is closed. `false` when it is open. Called on the context.
  func park(_ envelope: Envelope, _ index: Int, at gate: SerialGate) -> Bool {
    guard gate.isClosed else { return false }
    gate.park(envelope, index)
    return true
  }

  /// Closes a target's gate and puts a delivery off, before all others that wait there. Called on the context.
  func close(_ gate: SerialGate, before envelope: Envelope, _ index: Int) {
    close(gate)
    gate.putBack(envelope, index)
  }

  /// Closes a target's gate until ``reopen(_:)``. Called on the context.
  func close(_ gate: SerialGate) {
    gate.isClosed = true
    closedGates.append(gate)
  }

  /// Says, from anywhere, that a target's method has ended: what was put off goes on.
  func reopen(_ gate: SerialGate) { post(GateOpening(gate)) }

  /// Lets on what was put off, until the gate is closed again or what comes next is left to a higher turn.
  fileprivate func open(_ gate: SerialGate) -> Int {
    gate.isClosed = false
    closedGates.removeAll { $0 === gate }
    var count = 0
    while !gate.isClosed, let parked = gate.next() {
      if leavesToHigher(parked.envelope) {
        gate.putBack(parked.envelope, parked.index)
        break
      }
      parked.envelope.resume(parked.index, in: self)
      count += 1
    }
    return count
  }
}

/// The news that a method which suspended has ended.
private final class GateOpening: Envelope, @unchecked Sendable {  // immutable
  private let gate: SerialGate
  init(_ gate: SerialGate) { self.gate = gate }
  override func open(in mailbox: Mailbox) -> Int {
    defer { isUnfinished = !gate.isClosed && !gate.isEmpty }
    return mailbox.open(gate)
  }
}
