// SerialGate.swift: holds a target's next message back until the one before has ended.

import Synchronization

/// Keeps the methods of one target from overlapping: while one is suspended, or runs in a sender's turn, later messages wait here.
final class SerialGate: @unchecked Sendable {  // `parked` and `place` belong to the mailbox's drain, `closed` is atomic
  private let closed = Atomic<Bool>(false)
  fileprivate(set) var isClosed: Bool {
    get { closed.load(ordering: .acquiring) }
    set { closed.store(newValue, ordering: .releasing) }
  }
  /// The gate's index among the closed ones of the mailbox.
  fileprivate var place: Int?
  fileprivate var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  init() {}
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
    guard gate.place == nil else { return }
    gate.place = closedGates.count
    closedGates.append(gate)
  }

  /// Notes, from any thread, that a target's method has ended, so that what was put off continues.
  func reopen(_ gate: SerialGate) { post(GateOpening(gate)) }

  /// Continues what was put off, until the gate is closed again or a higher turn is to make the next delivery.
  fileprivate func open(_ gate: SerialGate) -> Int {
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
