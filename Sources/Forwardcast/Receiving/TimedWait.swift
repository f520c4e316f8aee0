// TimedWait.swift: a timeout whose error names the targets that did not answer.

/// A wait with a timeout, and the names of everything that the sender's task waits for.
final class TimedWait: Sendable {
  @TaskLocal static var current: TimedWait?

  private struct State: Sendable {
    /// Functions that return the names of pending objects, by number.
    var waits: [Int: @Sendable () -> [String]] = [:]
    var next = 0
    /// Set when the sender stops waiting, and when the awaited task ends. If both happen, the later
    /// one passes the task's outcome to `late`.
    var (isAbandoned, hasEnded) = (false, false)
  }
  private let state = Guarded(State())

  /// Records pending objects, until ``end(_:)``. `names` returns the names of those that are still
  /// pending.
  func begin(_ names: @escaping @Sendable () -> [String]) -> Int {
    state.withLock { state in
      state.next += 1
      state.waits[state.next] = names
      return state.next
    }
  }

  func end(_ number: Int) { _ = state.withLock { $0.waits.removeValue(forKey: number) } }

  /// The names of pending objects.
  var late: [String] {
    let waits = state.withLock { $0.waits }
    return waits.sorted { $0.key < $1.key }.flatMap { $0.value() }
  }

  /// Runs `body` in the caller's isolation for at most `timeout`. A separate task runs `body`, as
  /// the caller's task could not stop waiting for a method. The separate task is canceled at the
  /// timeout, or together with the caller. Sent messages are not revoked.
  ///
  /// - Parameters:
  ///   - clock: measures the timeout; `nil` for the continuous clock.
  ///   - awaitsEnd: true to await the canceled task, because its values are not `Sendable`. The
  ///     error then has the task's error as text.
  ///   - late: gets the outcome of a task that ended after the wait.
  /// - Throws: `timedOut`, `CancellationError`, or the error of `body`.
  static func run<T>(
    _ timeout: Duration, _ clock: (any Clock<Duration>)?, of receiver: AnyObject, _ selector: MessageSelector,
    awaitsEnd: Bool = false, isolation: isolated (any Actor)?,
    late: @escaping (Result<T, any Error>) -> Void = { _ in },
    _ body: nonisolated(nonsending) @escaping () async throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    let (wait, completion, deadline) = (TimedWait(), Completion(), Deadline(after: timeout))
    // An outer wait with a shorter timeout names the same targets.
    let (outer, number) = (current, current?.begin { [weak wait] in wait?.late ?? [] })
    defer { if let number { outer?.end(number) } }
    let name = typeName(of: receiver)
    nonisolated(unsafe) let (body, late) = (body, late)  // they run in the caller's isolation
    completion.enter()
    let task = Task {
      _ = isolation
      defer { completion.leave() }
      let outcome: Result<T, any Error>
      do { outcome = .success(try await $current.withValue(wait) { try await body() }) } catch {
        outcome = .failure(error)
      }
      if wait.noteEnd() { late(outcome) }
      return UncheckedSendable(outcome)
    }
    let timer = Task.detached {
      // Swift's clocks trap on a duration beyond their range.
      if let clock {
        try await clock.sleep(for: min(max(timeout, .zero), .seconds(1 << 32)))
      } else {
        try await deadline.sleep()
      }
      let late = wait.late  // read once, since targets may answer meanwhile
      let names = late.isEmpty ? "" : " from \(late.joined(separator: ", "))"
      completion.fail(
        MessageError(.timedOut, receiver: name, selector: selector.name, evidence: "no answer in \(timeout)\(names)"))
    }
    defer { timer.cancel() }
    do { try await completion.wait() } catch {
      task.cancel()
      let hasEnded = wait.abandon()
      if awaitsEnd || hasEnded {
        let outcome = await task.value.value
        if awaitsEnd, let lost = lateError(outcome), let timeout = error as? MessageError {
          throw MessageError(
            timeout.code, receiver: name, selector: selector.name,
            evidence: "\(timeout.evidence); the call also failed: \(lost)")
        }
        if hasEnded { late(outcome) }
      }
      throw error
    }
    return try await task.value.value.get()
  }

  /// A function that prints the error of a method whose only sender has stopped waiting.
  static func printingLate<T>(_ selector: MessageSelector, of receiver: AnyObject) -> (Result<T, any Error>) -> Void {
    let name = typeName(of: receiver)
    return { outcome in
      guard let error = lateError(outcome) else { return }
      StandardError.write(
        "forwardcast: '\(selector)' failed in \(name) after its sender had stopped waiting: \(error)\n")
    }
  }

  /// The error of a task that was not ended by its cancellation.
  private static func lateError<T>(_ outcome: Result<T, any Error>) -> (any Error)? {
    guard case .failure(let error) = outcome, !(error is CancellationError) else { return nil }
    return (error as? MessageError)?.code == .cancelled ? nil : error
  }

  /// Records that the awaited task has ended. Returns true if the sender no longer waits.
  private func noteEnd() -> Bool {
    state.withLock { state in
      state.hasEnded = true
      return state.isAbandoned
    }
  }

  /// Records that the sender no longer waits. Returns true if the awaited task has ended already.
  private func abandon() -> Bool {
    state.withLock { state in
      state.isAbandoned = true
      return state.hasEnded
    }
  }
}
