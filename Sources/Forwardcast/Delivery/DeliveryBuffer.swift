// DeliveryBuffer.swift: the limit of queued messages per registration.

/// The limit of a registration's queued messages, and which message is dropped at the limit.
///
/// A message that is running does not count. ``Registration/dropped`` counts all queued messages
/// that did not run, also those of a removed, muted or deallocated target. The summary or report of
/// a broadcast counts the messages that buffers dropped because of the broadcast.
public struct DeliveryBuffer: Hashable, Sendable, CustomStringConvertible {
  enum Policy: Hashable, Sendable {
    case unbounded
    case keepNewest(Int)
    case keepOldest(Int)
    case latestPerSelector
    case suspendSender(Int)
  }

  let policy: Policy

  private init(_ policy: Policy) { self.policy = policy }

  private init(_ policy: (Int) -> Policy, _ count: Int) {
    precondition(count > 0, "a buffer needs room for at least 1 message, found \(count)")
    self.policy = policy(count)
  }

  /// No limit: messages queue up in memory, however slow the target is.
  public static let unbounded = DeliveryBuffer(.unbounded)

  /// Drops the oldest message if `count` messages are queued.
  ///
  /// - Precondition: `count` is positive.
  public static func keepNewest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepNewest, count) }

  /// Drops the new message if `count` messages are queued.
  ///
  /// - Precondition: `count` is positive.
  public static func keepOldest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepOldest, count) }

  /// Drops a queued message of the same selector. The new message goes to the end of the queue, so
  /// messages run in the order in which they were sent.
  public static let latestPerSelector = DeliveryBuffer(.latestPerSelector)

  /// Suspends the sender while `count` messages are queued. If the sender is synchronous, drops its
  /// message instead.
  ///
  /// The sender waits when it posts to this target. Meanwhile it reserves no place in another
  /// buffer. If the target or an enclosing proxy is removed or muted, the wait ends and the target
  /// is skipped.
  ///
  /// - Precondition: `count` is positive.
  public static func suspendSender(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.suspendSender, count) }

  /// For example `keep newest 3`.
  public var description: String {
    switch policy {
    case .unbounded: "unbounded"
    case .keepNewest(let count): "keep newest \(count)"
    case .keepOldest(let count): "keep oldest \(count)"
    case .latestPerSelector: "latest per selector"
    case .suspendSender(let count): "suspend sender at \(count)"
    }
  }
}

/// What happens to queued messages when their target is removed.
public enum PendingDeliveries: Hashable, Sendable {
  /// Queued messages do not retain the target. They are dropped: none starts after the removal
  /// returns.
  case dropPending
  /// Queued messages retain the target until they have run. A muted target does not get them.
  case deliverPending
}
