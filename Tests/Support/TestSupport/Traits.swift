// Traits.swift: when tests run that need much of the machine, or little of it in use.
// Tests run on a pool of as many threads as there are processors, and all of them are begun at once.

package import Testing

/// For tests that compute for a second or more without a pause: one of them runs at a time, so that of the pool's threads the
/// others are left to tests that wait for each other.
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
    /// Who waits; `nil` where nobody has the turn.
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

/// For tests with deadlines of seconds, which a call must keep: they begin when a task gets its turn soon, which it does not
/// while hundreds of others wait for theirs; or after two minutes, which count for a `.timeLimit`.
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
