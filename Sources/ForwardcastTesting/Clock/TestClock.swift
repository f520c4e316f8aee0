// TestClock.swift: a clock that stands until a test moves it.

import Forwardcast

/// A clock that stands until a test moves it.
///
///     let clock = TestClock()
///     store.stub(Messages.load, "a")
///       .delayed(by: .seconds(2), on: clock).answers("text")
///     let loading = Task { try await cart.open("a") }      // waits for the store
///     await clock.waitForSleepers()
///     clock.advance(by: .seconds(2))                       // the store answers
///     try await loading.value
///
/// Code under test that takes `any Clock<Duration>` can be given the same clock.
public final class TestClock: Clock, Sendable {
  /// A time of a test clock: how long after the clock was made.
  public struct Instant: InstantProtocol {
    public let offset: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// The time between two instants; negative when the other is earlier.
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
    /// Who waits until so many sleep.
    var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

    mutating func number() -> Int {
      next += 1
      return next
    }

    /// Takes out the watchers who have seen what they wait for.
    mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
      let ready = watchers.filter { $0.value.count <= sleepers.count }
      for number in ready.keys { watchers[number] = nil }
      return ready.values.map(\.continuation)
    }
  }

  private let state = Guarded(State())

  /// A clock that stands at zero.
  public init() {}

  /// Where the test has moved the clock to.
  public var now: Instant { state.withLock { $0.now } }
  /// Zero: instants are exact.
  public var minimumResolution: Duration { .zero }

  /// When the first of those who sleep is to go on.
  var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

  /// How many tasks sleep on this clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Suspends until the clock has been moved to `deadline`, or the task is cancelled.
  /// - Parameters:
  ///   - deadline: when to go on; one that has passed does not suspend.
  ///   - tolerance: not looked at.
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

  /// Moves the clock on; who sleeps until then or earlier goes on, the earliest first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for number in due.keys { state.sleepers[number] = nil }
      // Of equal deadlines who slept first.
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Suspends until at least so many tasks sleep on this clock, or the task is cancelled. Without it a clock could be moved before
  /// the code under test has begun to sleep, which would then sleep on.
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
