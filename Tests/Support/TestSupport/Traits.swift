// Traits.swift: limits how many demanding tests run at a time.
// Swift Testing starts all tests at once on a pool with one thread for each processor.

package import Testing

/// Runs one test with this trait at a time. For tests that compute for a second or more without
/// suspending, so that other tests still get threads of the pool.
package struct OneAtATime: TestTrait, TestScoping {
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await OneAtATime.turn.take()
    defer { OneAtATime.turn.give() }
    try await function()
  }

  private static let turn = Turn()

  private final class Turn: Sendable {
    /// The waiting tests, or `nil` if no test is running.
    private let queue = Locked<[CheckedContinuation<Void, Never>]?>(nil)

    func take() async {
      await withCheckedContinuation { continuation in
        let isFree = queue.withLock { queue in
          defer { queue = queue.map { $0 + [continuation] } ?? [] }
          return queue == nil
        }
        if isFree { continuation.resume() }
      }
    }

    func give() {
      let next = queue.withLock { queue -> CheckedContinuation<Void, Never>? in
        guard let first = queue?.first else {
          queue = nil
          return nil
        }
        queue?.removeFirst()
        return first
      }
      next?.resume()
    }
  }
}

/// Delays a test with deadlines of seconds until the pool schedules tasks promptly, for two minutes
/// at most. The delay counts toward a `.timeLimit`.
package struct WhenQuiet: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(120)
    while testCase != nil, clock.now < end {
      let delay = try await clock.measure { try await Task.sleep(for: .milliseconds(1)) }
      if delay < .milliseconds(100) { break }
      try await Task.sleep(for: .milliseconds(200))
    }
    try await function()
  }
}

extension Trait where Self == OneAtATime {
  package static var oneAtATime: Self { OneAtATime() }
}

extension Trait where Self == WhenQuiet {
  package static var whenQuiet: Self { WhenQuiet() }
}
