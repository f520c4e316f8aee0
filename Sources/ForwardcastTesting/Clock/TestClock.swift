// TestClock.swift: a clock that a test advances.

import Forwardcast

/// A clock whose time changes only when a test advances it. The code under test can use the same
/// clock if it takes `any Clock<Duration>`.
///
///     let clock = TestClock()
///     store.stub(Messages.load, "a")
///       .delayed(by: .seconds(2), on: clock).answers("text")
///     let loading = Task { try await cart.open("a") }      // waits for the store
///     await clock.waitForSleepers()
///     clock.advance(by: .seconds(2))                       // the store answers
///     try await loading.value
public final class TestClock: Clock, Sendable {
  /// A time since the creation of the clock.
  public struct Instant: InstantProtocol {
    /// The time since the clock's creation.
    public let offset: Duration

    /// The instant that is later by `duration`, or earlier if `duration` is negative.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// The time from this instant to `other`; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper: Sendable {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var now = Instant(offset: .zero)
    var next = 0
    var sleepers: [Int: Sleeper] = [:]
    /// The tasks that wait until a number of tasks sleep on the clock.
    var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

    mutating func number() -> Int {
      next += 1
      return next
    }

    mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
      let ready = watchers.filter { $0.value.count <= sleepers.count }
      for number in ready.keys { watchers[number] = nil }
      return ready.values.map(\.continuation)
    }
  }

  private let state = Guarded(State())

  /// Creates a clock at zero.
  public init() {}

  /// The current time. Only ``advance(by:)`` changes it.
  public var now: Instant { state.withLock { $0.now } }
  /// Zero, because instants are exact.
  public var minimumResolution: Duration { .zero }

  var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

  /// The number of tasks that sleep on this clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Suspends until the clock reaches `deadline`, or the task is canceled. Ignores `tolerance`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = state.withLock { $0.number() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
          if Task.isCancelled || deadline <= state.now { return nil }
          state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
          return state.satisfied()
        }
        guard let watchers else { return continuation.resume(with: Result { try Task.checkCancellation() }) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Advances the clock and resumes the sleepers whose deadline it reaches, the earliest first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for number in due.keys { state.sleepers[number] = nil }
      // Sleepers with equal deadlines resume in the order in which they began to sleep.
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Suspends until at least `count` tasks sleep on this clock, or the calling task is canceled.
  /// Call this method before ``advance(by:)``, which does not resume tasks that begin to sleep
  /// later.
  public func waitForSleepers(_ count: Int = 1) async {
    let number = state.withLock { $0.number() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled || state.sleepers.count >= count { return true }
          state.watchers[number] = (count, continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.watchers.removeValue(forKey: number) }?.continuation.resume()
    }
  }
}
