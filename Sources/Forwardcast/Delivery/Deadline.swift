// Deadline.swift: when a wait ends, made from any duration.

import Dispatch

/// When a wait ends: at once, at a time, or not by itself. The earlier is the smaller.
///
/// It is a number and not an instant of the clock: the compiler does not know how large that is, and what holds one is copied by
/// calls into the runtime.
package struct Deadline: Comparable, Sendable {
  private static let origin = ContinuousClock.now
  /// Since ``origin``.
  private let nanoseconds: Int64

  package static let now = Deadline(nanoseconds: .min)
  package static let never = Deadline(nanoseconds: .max)

  private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  private init(_ sinceOrigin: Duration) {
    let (seconds, attoseconds) = sinceOrigin.components
    nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// The time that it is.
  package static var present: Deadline { Deadline(origin.duration(to: .now)) }

  /// The time when `duration` has passed, counted from the present: any value is taken, also one that no clock can count.
  ///
  /// What is zero or negative is ``now``; what is longer than a century is ``never``.
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

  /// Whether the time has come.
  package var hasPassed: Bool { self <= .present }

  /// How long it is until then: nothing where it has passed, more than a century where it never does.
  package var remaining: Duration {
    switch self {
    case .now: .zero
    case .never: .seconds(Int64(1) << 32)
    default: max(.nanoseconds(nanoseconds - Deadline.present.nanoseconds), .zero)
    }
  }

  /// The same for Dispatch.
  var dispatchTime: DispatchTime {
    if self == .never { return .distantFuture }
    let (seconds, attoseconds) = remaining.components
    return .now() + .seconds(Int(clamping: seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
  }

  /// Suspends until then.
  ///
  /// - Throws: `CancellationError`, which is the only end where the deadline is ``never``.
  package func sleep() async throws {
    switch self {
    case .now: try Task.checkCancellation()
    case .never: while true { try await Task.sleep(for: .seconds(Int64(1) << 30)) }
    default: try await Task.sleep(until: Deadline.origin + .nanoseconds(nanoseconds), clock: .continuous)
    }
  }
}
