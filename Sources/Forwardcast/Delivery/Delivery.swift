// Delivery.swift: where and when a registration's messages run.
// Layer: Delivery. See DESIGN.md, "Delivery".

/// Where and when a registration's messages run.
public struct Delivery: Hashable, Sendable {
  private enum Kind: Hashable, Sendable {
    case direct
  }

  private let kind: Kind

  /// In the sender's turn, on the sender's thread: `broadcast` returns when the target has.
  public static let direct = Delivery(kind: .direct)
}
