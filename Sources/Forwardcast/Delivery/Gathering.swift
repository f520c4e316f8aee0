// Gathering.swift: what the targets of one message gave back, and who waits for it.
// Layer: Delivery. See DESIGN.md, "Delivery".

import Dispatch

/// Where the outcome of one delivery goes. Each place is settled once; whoever comes later is not heard.
package protocol Reply: AnyObject, Sendable {
  /// Opens a place, before its delivery is posted.
  func expect(_ index: Int)
  /// The target answered, by boxes.
  func accept(_ index: Int, _ invocation: Invocation, from target: AnyObject)
  /// The target threw, or could not be reached.
  func fail(_ index: Int, _ error: any Error)
  /// The message was dropped, or the target does not respond.
  func skip(_ index: Int, _ reason: DeliveryReport.SkipReason)
}

/// Collects one outcome for each delivery of a message, from any thread, and lets its sender wait for all.
///
/// A place is opened before its delivery is posted and settled by the delivery, by what dropped it, or by the end of the
/// envelope that held it, whatever comes first. So whoever waits is always let go.
package final class Gathering<Value>: Reply, @unchecked Sendable {  // `state` has a lock; `convert` never changes
  package enum Outcome {
    case open
    case answered(Value)
    case failed(any Error)
    case skipped(DeliveryReport.SkipReason)
  }

  private enum Waiter {
    case nobody
    case task(CheckedContinuation<Void, any Error>)
    case thread(DispatchSemaphore)
  }

  private struct State: @unchecked Sendable {  // guarded by the lock around it
    var outcomes: [Int: Outcome] = [:]
    var open = 0
    var sealed = false
    var cancelled = false
    var waiter = Waiter.nobody
  }

  private let state = Guarded(State())
  private let convert: (Invocation, AnyObject) throws -> Value

  /// - Parameter convert: makes a value of an answer that came by boxes. Called where the answer was given.
  package init(_ convert: @escaping (Invocation, AnyObject) throws -> Value) { self.convert = convert }

  /// Opens a place, before its delivery is posted.
  package func expect(_ index: Int) {
    state.withLock { state in
      if state.outcomes.updateValue(.open, forKey: index) == nil { state.open += 1 }
    }
  }

  private func settle(_ index: Int, _ outcome: Outcome) {
    let sent = UncheckedSendable(outcome)
    let waiter = state.withLock { state -> Waiter in
      guard case .open? = state.outcomes[index] else { return .nobody }
      state.outcomes[index] = sent.value
      state.open -= 1
      guard state.sealed, state.open == 0 else { return .nobody }
      defer { state.waiter = .nobody }
      return state.waiter
    }
    switch waiter {
    case .nobody: break
    case .task(let continuation): continuation.resume()
    case .thread(let semaphore): semaphore.signal()
    }
  }

  package func answer(_ index: Int, _ value: Value) { settle(index, .answered(value)) }
  package func fail(_ index: Int, _ error: any Error) { settle(index, .failed(error)) }
  package func skip(_ index: Int, _ reason: DeliveryReport.SkipReason) { settle(index, .skipped(reason)) }
  package func accept(_ index: Int, _ invocation: Invocation, from target: AnyObject) {
    do { settle(index, .answered(try convert(invocation, target))) } catch { settle(index, .failed(error)) }
  }

  /// What became of a delivery so far; `nil` when there was none.
  package func outcome(_ index: Int) -> Outcome? {
    state.withLock { UncheckedSendable($0.outcomes[index]) }.value
  }

  /// Waits until every place is settled.
  ///
  /// - Throws: `CancellationError` when the task is cancelled; deliveries go on, and nobody hears of them.
  package nonisolated(nonsending) func wait() async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (ready, cancelled) = state.withLock { state in
          state.sealed = true
          if state.open > 0, !state.cancelled { state.waiter = .task(continuation) }
          return (state.open == 0, state.cancelled)
        }
        if ready { continuation.resume() } else if cancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter in
        state.cancelled = true
        defer { state.waiter = .nobody }
        return state.waiter
      }
      if case .task(let continuation) = waiter { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Blocks until every place is settled. Gives the places that were still open when the time was over.
  package func wait(timeout: Duration) -> [Int] {
    let semaphore = DispatchSemaphore(value: 0)
    let ready = state.withLock { state in
      state.sealed = true
      if state.open > 0 { state.waiter = .thread(semaphore) }
      return state.open == 0
    }
    if ready || semaphore.wait(timeout: timeout.deadline) == .success { return [] }
    return state.withLock { state in
      state.waiter = .nobody
      return state.outcomes.compactMap { if case .open = $0.value { $0.key } else { nil } }.sorted()
    }
  }
}

extension Duration {
  /// The time by which this much has passed, from now on.
  fileprivate var deadline: DispatchTime {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return .now() }
    guard seconds < 1 << 32 else { return .distantFuture }
    return .now() + .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
