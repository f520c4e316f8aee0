// DeliveryBuffer.swift: how many messages may wait for one target.

/// How many messages may wait for one registration, and which one is dropped when there are more.
///
/// A running message does not count. Drops are counted in the registration, and in the summary or report of the broadcast that
/// caused them.
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
    precondition(count > 0, "a buffer of \(count) messages could hold none")
    self.policy = policy(count)
  }

  /// No bound: everything waits in memory, however slow the target is.
  public static let unbounded = DeliveryBuffer(.unbounded)

  /// When `count` messages wait, the oldest is dropped for a new one.
  ///
  /// - Precondition: `count` is positive.
  public static func keepNewest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepNewest, count) }

  /// When `count` messages wait, a new one is dropped.
  ///
  /// - Precondition: `count` is positive.
  public static func keepOldest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepOldest, count) }

  /// A new message replaces a waiting one of its selector, at the end of the line: so messages run in the order in which they were
  /// sent.
  public static let latestPerSelector = DeliveryBuffer(.latestPerSelector)

  /// When `count` messages wait, a sender that can wait is suspended until there is room; for one that cannot, the new message is
  /// dropped.
  ///
  /// A sender keeps its place until the message leaves, except while an `around` hook that may wait runs or a method is waited for:
  /// then it takes it anew. It continues without one when the target, or a proxy on the way, is removed or muted.
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

/// What happens to waiting messages when their target is removed.
public enum PendingDeliveries: Hashable, Sendable {
  /// They are dropped: none starts after the removal returned. They do not keep the target alive.
  case dropPending
  /// They run. Each keeps its target alive until then; a muted target does not get them.
  case deliverPending
}
