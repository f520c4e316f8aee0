// Completion.swift: counts pending events for one waiter.

import Dispatch

/// Counts pending events, and lets one task or thread wait for all of them. Each ``enter()`` is
/// matched by one ``leave()``, from any thread. The wait starts after the last `enter`.
package final class Completion: Sendable {
  enum Waiter {
    case nobody
    case task(CheckedContinuation<Void, any Error>)
    case thread(DispatchSemaphore)
  }

  struct State {
    var open = 0
    var failure: (any Error)?
    var waiter = Waiter.nobody
    var hasNoWaiter: Bool { if case .nobody = waiter { true } else { false } }
  }

  let state = Guarded(State())

  package init() {}

  package func enter() { state.withLock { $0.open += 1 } }

  package func leave() {
    let waiter = state.withLock { state -> Waiter in
      assert(state.open > 0, "each event that ends has begun")
      state.open -= 1
      return state.open == 0 ? exchange(&state.waiter, with: .nobody) : .nobody
    }
    switch waiter {
    case .nobody: break
    case .task(let continuation): continuation.resume()
    case .thread(let semaphore): semaphore.signal()
    }
  }

  /// Suspends until nothing is pending. Throws `CancellationError`, or the error of ``fail(_:)``.
  package nonisolated(nonsending) func wait() async throws {
    try await withTaskCancellationHandler {
      try await untilDone()
    } onCancel: {
      fail(CancellationError())
    }
  }

  /// Suspends like ``wait()``, ignoring cancellation of the task.
  nonisolated(nonsending) func untilDone() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let (isDone, failure) = state.withLock { state in
        assert(state.hasNoWaiter, "one task waits at a time")
        if state.open > 0, state.failure == nil { state.waiter = .task(continuation) }
        return (state.open == 0, state.failure)
      }
      if isDone { continuation.resume() } else if let failure { continuation.resume(throwing: failure) }
    }
  }

  /// Ends a task's wait with `error`. If no task waits now, `error` ends the waits of later tasks.
  package func fail(_ error: any Error) {
    let waiter = state.withLock { state -> Waiter in
      guard case .task = state.waiter else {
        state.failure = error
        return .nobody
      }
      return exchange(&state.waiter, with: .nobody)
    }
    if case .task(let continuation) = waiter { continuation.resume(throwing: error) }
  }
}
