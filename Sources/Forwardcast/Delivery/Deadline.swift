// Deadline.swift: when a wait ends, made from any duration.
// Layer: Delivery. See DESIGN.md, "Waiting and deadlock".

import Dispatch

/// When a wait ends: at once, at a time, or not by itself. The earlier is the smaller.
package enum Deadline: Comparable, Sendable {
  case now
  case time(ContinuousClock.Instant)
  case never

  /// The time when `duration` has passed, counted from now: any value is taken, also one that no clock can count.
  ///
  /// What is zero or negative is ``now``; what is longer than a century is ``never``.
  package init(after duration: Duration) {
    if duration <= .zero {
      self = .now
    } else if duration < .seconds(Int64(1) << 32) {
      self = .time(.now + duration)
    } else {
      self = .never
    }
  }

  /// Whether the time has come.
  package var hasPassed: Bool { self <= .time(.now) }

  /// The same for Dispatch.
  package var dispatchTime: DispatchTime {
    switch self {
    case .now: return .now()
    case .never: return .distantFuture
    case .time(let instant):
      let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).components
      return .now() + .seconds(Int(clamping: seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
    }
  }

  /// Suspends until then.
  ///
  /// - Throws: `CancellationError`, which is the only end where the deadline is ``never``.
  package func sleep() async throws {
    switch self {
    case .now: try Task.checkCancellation()
    case .time(let instant): try await Task.sleep(until: instant, clock: .continuous)
    case .never: while true { try await Task.sleep(for: .seconds(Int64(1) << 30)) }
    }
  }
}
