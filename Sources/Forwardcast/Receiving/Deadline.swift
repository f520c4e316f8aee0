// Deadline.swift: the end of a wait.

import Dispatch

/// The end of a wait: immediately, at a time, or never. It is stored as a number. The size of a
/// clock's instant is unknown at compile time, so copying an instant would call the runtime.
package struct Deadline: Comparable, Sendable {
  private static let origin = ContinuousClock.now
  private let nanoseconds: Int64

  package static let now = Deadline(nanoseconds: .min)
  package static let never = Deadline(nanoseconds: .max)

  private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  private init(_ sinceOrigin: Duration) {
    let (seconds, attoseconds) = sinceOrigin.components
    nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  package static var present: Deadline { Deadline(origin.duration(to: .now)) }

  /// The time after `duration`; ``now`` if `duration` is not positive, ``never`` beyond a century.
  package init(after duration: Duration) {
    if duration <= .zero {
      self = .now
    } else if duration < .seconds(Int64(1) << 32) {
      self.init(Deadline.origin.duration(to: .now) + duration)
    } else {
      self = .never
    }
  }

  package static func < (one: Deadline, other: Deadline) -> Bool { one.nanoseconds < other.nanoseconds }

  package var hasPassed: Bool { self <= .present }

  /// The time until the deadline: zero if it has passed, more than a century for ``never``.
  package var remaining: Duration {
    switch self {
    case .now: .zero
    case .never: .seconds(Int64(1) << 32)
    default: max(.nanoseconds(nanoseconds - Deadline.present.nanoseconds), .zero)
    }
  }

  var dispatchTime: DispatchTime {
    if self == .never { return .distantFuture }
    let (seconds, attoseconds) = remaining.components
    return .now() + .seconds(Int(clamping: seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
  }

  /// Suspends until the deadline. A wait until ``never`` ends only by cancellation, which throws.
  package func sleep() async throws {
    switch self {
    case .now: try Task.checkCancellation()
    case .never: while true { try await Task.sleep(for: .seconds(Int64(1) << 30)) }
    default: try await Task.sleep(until: Deadline.origin + .nanoseconds(nanoseconds), clock: .continuous)
    }
  }
}
