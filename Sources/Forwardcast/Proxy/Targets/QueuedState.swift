// QueuedState.swift: what a registration needs for deliveries on another context.
// Layer: Proxy. See DESIGN.md, "Delivery".

import Synchronization

/// A registration's side of delivery on another context.
final class QueuedState: Sendable {
  let delivery: Delivery
  let mailbox: Mailbox
  /// Keeps methods of the target that suspend from overlapping with others.
  let gate = SerialGate()
  /// The messages that wait, once their number has been bounded.
  private let bounded: Guarded<BufferedLine?>
  private let keepsPending: Atomic<Bool>
  private let droppedCount = Atomic<Int>(0)
  /// How many messages wait, for an automatic delivery.
  private let waiting = Atomic<Int>(0)

  init(_ delivery: Delivery, _ mailbox: Mailbox, buffer: DeliveryBuffer, pending: PendingDeliveries) {
    (self.delivery, self.mailbox) = (delivery, mailbox)
    bounded = Guarded(buffer == .unbounded ? nil : BufferedLine(buffer, gate: gate))
    keepsPending = Atomic(pending == .deliverPending)
  }

  /// The messages that wait, when their number is or was bounded.
  var line: BufferedLine? { bounded.withLock { $0 } }

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
    let (line, isNew) = bounded.withLock { line -> (BufferedLine?, Bool) in
      defer { if line == nil { line = BufferedLine(buffer, gate: gate) } }
      return (line, line == nil)
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

  func noteQueued() { if delivery.isAutomatic { waiting.wrappingAdd(1, ordering: .acquiringAndReleasing) } }
  func noteTurn() { if delivery.isAutomatic { waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing) } }

  /// Whether a message may run in its sender's turn: an automatic delivery whose sender is there and before nobody, and a
  /// method that needs no other place.
  func runsNow(_ step: RouteStep) -> Bool {
    // Being on the context comes before the look at the gate, which belongs to it.
    guard delivery.isAutomatic, waiting.load(ordering: .acquiring) == 0, mailbox.isCurrent, !gate.isClosed else {
      return false
    }
    guard let method = step.method?.takeUnretainedValue(), let target = step.target else { return true }
    return method.canRun(on: target)
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
