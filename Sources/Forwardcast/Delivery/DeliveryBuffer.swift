// DeliveryBuffer.swift: how much may wait for one target, and what becomes of the rest.

/// How many messages may wait for one registration, and which one goes when there are more.
///
/// What a message that runs at the moment takes up does not count. Each message that is dropped is counted in
/// the summary or report of the broadcast that caused it and in the registration.
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

  /// Everything that is sent waits, in memory, however slow the target is.
  public static let unbounded = DeliveryBuffer(.unbounded)

  /// When `count` messages wait, the oldest goes for the new one.
  ///
  /// - Precondition: `count` is positive.
  public static func keepNewest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepNewest, count) }

  /// When `count` messages wait, a new one is dropped.
  ///
  /// - Precondition: `count` is positive.
  public static func keepOldest(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.keepOldest, count) }

  /// A new message takes the place of one with its selector that waits, at the end of the line: so the messages that
  /// run do so in the order in which they were sent.
  public static let latestPerSelector = DeliveryBuffer(.latestPerSelector)

  /// When `count` messages wait, a sender that waits for room is suspended until there is some; for one that cannot be
  /// suspended the new message is dropped. A sender keeps its place until the message leaves, but not while an `around` hook that
  /// may wait runs, or a method is waited for: it takes it anew then. It goes on without one when the target, or a proxy on the way, is
  /// removed or muted.
  ///
  /// - Precondition: `count` is positive.
  public static func suspendSender(_ count: Int) -> DeliveryBuffer { DeliveryBuffer(Policy.suspendSender, count) }

  /// The policy in words: `keep newest 3`.
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

/// What becomes of messages that wait for a target when it is removed.
public enum PendingDeliveries: Hashable, Sendable {
  /// They are dropped: none starts after the removal returned. They do not keep the target alive either.
  case dropPending
  /// They run. Each keeps its target alive until then; a muted target does not get them.
  case deliverPending
}
