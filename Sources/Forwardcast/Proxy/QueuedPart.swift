// QueuedPart.swift: what a registration needs for deliveries on another context.
// Layer: Proxy. See DESIGN.md, "Delivery".

import Synchronization

/// A registration's side of delivery on another context.
final class QueuedPart: Sendable {
  let delivery: Delivery
  let mailbox: Mailbox
  let buffer: DeliveryBuffer
  let pending: PendingDeliveries
  /// The messages that wait, when their number is bounded.
  let line: BufferedLine?
  /// The messages that its target is too busy for.
  let lane = Lane()
  private let droppedCount = Atomic<Int>(0)
  /// How many messages wait, for an automatic delivery.
  private let waiting = Atomic<Int>(0)

  init(_ delivery: Delivery, _ mailbox: Mailbox, buffer: DeliveryBuffer, pending: PendingDeliveries) {
    (self.delivery, self.mailbox, self.buffer, self.pending) = (delivery, mailbox, buffer, pending)
    line = buffer == .unbounded ? nil : BufferedLine(buffer, lane: lane)
  }

  /// Whether each message has an envelope of its own.
  var travelsAlone: Bool { line != nil || pending == .deliverPending || delivery.isAutomatic }

  var dropped: Int { droppedCount.load(ordering: .acquiring) }
  func noteDropped() { droppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  func noteQueued() { if delivery.isAutomatic { waiting.wrappingAdd(1, ordering: .acquiringAndReleasing) } }
  func noteTurn() { if delivery.isAutomatic { waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing) } }

  /// Whether a message may run in its sender's turn: an automatic delivery whose sender is there and before nobody.
  var runsNow: Bool { delivery.isAutomatic && waiting.load(ordering: .acquiring) == 0 && mailbox.isCurrent }
}

/// A mailbox that is let go with the last registration that uses it.
struct WeakMailbox: Sendable {
  weak let mailbox: Mailbox?
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
