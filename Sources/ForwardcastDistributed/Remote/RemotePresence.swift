// RemotePresence.swift: whether another process is there, and what to do while it is not.

import Forwardcast

/// Whether the other side is there, as far as it is known.
public enum RemotePresence: Hashable, Sendable {
  /// Messages are sent to it.
  case connected
  /// Nothing is sent: messages fail at once, until it is connected again. With why.
  case lost(String)
  /// It will not come back: ``RemoteReceiver/end(_:)`` said so, or there were enough attempts. With why.
  case ended(String)

  var isEnd: Bool { if case .ended = self { true } else { false } }
}

/// How often to try to reach another process: after `first`, then after twice as long, and so on.
///
/// Each wait is longer or shorter by up to a fifth, at random, so that many senders do not come at the same moment.
public struct RemoteBackoff: Hashable, Sendable {
  /// The wait before the first attempt.
  public var first: Duration
  /// The longest wait.
  public var longest: Duration
  /// After how many attempts that fail nothing is tried any more; `nil` never.
  public var attempts: Int?

  /// Waits and attempts; each as its property says.
  public init(first: Duration = .milliseconds(100), longest: Duration = .seconds(10), attempts: Int? = nil) {
    (self.first, self.longest, self.attempts) = (first, longest, attempts)
  }

  /// Waits before attempt `number`, counted from 0.
  ///
  /// - Returns: `false` where that would be one too many, or the task is cancelled.
  func wait(before number: Int) async -> Bool {
    if let attempts, number >= attempts { return false }
    var wait = Swift.min(first, longest)
    for _ in 0..<Swift.min(number, 62) where wait < longest { wait = wait > longest / 2 ? longest : wait * 2 }
    let fifth = wait / 5
    return (try? await Deadline(after: wait - fifth + fifth * Double.random(in: 0...2)).sleep()) != nil
  }
}
