// RemotePresence.swift: whether another process is reachable, and how often to retry.

import Forwardcast

/// Whether the other side is reachable, as far as this side knows.
public enum RemotePresence: Hashable, Sendable {
  /// Messages are sent to the other side.
  case connected
  /// The other side is lost, for this reason. Messages fail at once until it is connected again.
  case lost(String)
  /// The other side has ended, for this reason, and no attempt to connect follows. Either
  /// ``RemoteReceiver/end(_:)`` was called, or too many attempts to reconnect failed.
  case ended(String)

  var isEnd: Bool { if case .ended = self { true } else { false } }
}

/// When to retry. The first wait is `first`. Each later wait is twice the previous one, up to
/// `longest`. Waits vary randomly by up to 20 %, so that many senders do not retry at once.
public struct RemoteBackoff: Hashable, Sendable {
  /// The wait before the first attempt.
  public var first: Duration
  /// The longest wait, apart from the random variation.
  public var longest: Duration
  /// The maximum number of attempts; `nil` for no limit.
  public var attempts: Int?

  /// Creates a backoff with these properties.
  public init(first: Duration = .milliseconds(100), longest: Duration = .seconds(10), attempts: Int? = nil) {
    (self.first, self.longest, self.attempts) = (first, longest, attempts)
  }

  /// Waits before an attempt. `number` counts from 0. Returns `false` if no attempt is left or the
  /// task is canceled.
  func wait(before number: Int) async -> Bool {
    if let attempts, number >= attempts { return false }
    var wait = Swift.min(first, longest)
    for _ in 0..<Swift.min(number, 62) where wait < longest { wait = wait > longest / 2 ? longest : wait * 2 }
    let fifth = wait / 5
    return (try? await Deadline(after: wait - fifth + fifth * Double.random(in: 0...2)).sleep()) != nil
  }
}
