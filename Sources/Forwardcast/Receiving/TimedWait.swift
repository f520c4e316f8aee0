// TimedWait.swift: waits with a timeout, which name the targets that did not answer.

/// A wait with a timeout. What the sender's task waits for meanwhile is noted here by name.
final class TimedWait: Sendable {
  /// The wait that the running task is part of.
  @TaskLocal static var current: TimedWait?

  private struct State: Sendable {
    /// Each finds the names of what has not answered.
    var finders: [@Sendable () -> [String]] = []
    /// The targets whose methods the sender's task is in.
    var waits: [Int: String] = [:]
    var next = 0
  }
  private let state = Guarded(State())

  /// Notes a function that finds the names of what has not answered.
  func note(_ finder: @escaping @Sendable () -> [String]) { state.withLock { $0.finders.append(finder) } }

  /// Notes something that the task waits for, until ``end(_:)``.
  func begin(_ name: String) -> Int {
    state.withLock { state in
      state.next += 1
      state.waits[state.next] = name
      return state.next
    }
  }

  func end(_ number: Int) { state.withLock { _ = $0.waits.removeValue(forKey: number) } }

  /// The names of what has not answered.
  var late: [String] {
    let (finders, waits) = state.withLock { ($0.finders, $0.waits) }
    return waits.sorted { $0.key < $1.key }.map(\.value) + finders.flatMap { $0() }
  }

  /// Runs `body` in the caller's isolation, and waits for it at most for `timeout`.
  ///
  /// A task of its own runs `body`, since the caller's task could not leave a method that it is in.
  /// When the time is up or the caller is cancelled, that task is cancelled; what was sent stays
  /// sent.
  ///
  /// - Parameters:
  ///   - clock: measures the timeout; `nil` for the continuous clock.
  ///   - finder: finds the names of what else has not answered.
  ///   - awaitsEnd: whether to wait for the cancelled task too, because it uses what is not
  ///     `Sendable`.
  /// - Throws: `timedOut`, `CancellationError`, or what `body` throws.
  static func run<T>(
    _ timeout: Duration, _ clock: (any Clock<Duration>)?, of receiver: AnyObject, _ selector: MessageSelector,
    awaitsEnd: Bool = false, noting finder: @escaping @Sendable () -> [String] = { [] },
    isolation: isolated (any Actor)?,
    _ body: nonisolated(nonsending) @escaping () async throws -> T
  ) async throws -> T {
    let (wait, completion, deadline) = (TimedWait(), Completion(), Deadline(after: timeout))
    let name = typeName(of: receiver)
    wait.note(finder)
    nonisolated(unsafe) let body = body  // it runs in the caller's isolation
    completion.enter()
    let task = Task {
      _ = isolation
      defer { completion.leave() }
      return UncheckedSendable(try await $current.withValue(wait) { try await body() })
    }
    let timer = Task.detached {
      if let clock { try await clock.sleep(for: timeout) } else { try await deadline.sleep() }
      let late = wait.late.isEmpty ? "" : " from \(wait.late.joined(separator: ", "))"
      completion.fail(
        MessageError(.timedOut, receiver: name, selector: selector.name, evidence: "no answer in \(timeout)\(late)"))
    }
    defer { timer.cancel() }
    do { try await completion.wait() } catch {
      task.cancel()
      if awaitsEnd { _ = await task.result }
      throw error
    }
    return try await task.value.value
  }
}
