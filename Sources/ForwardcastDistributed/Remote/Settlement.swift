// Settlement.swift: one value that comes once, from whoever is first.
// Layer: Remote. See DESIGN.md, "Other processes".

import Forwardcast

/// One value that comes once, from whoever is first, and that one task waits for.
final class Settlement<Value: Sendable>: Sendable {
  private enum State: Sendable {
    case open
    case awaited(CheckedContinuation<Value, Never>)
    case settled(Value)
    case taken
  }
  private let state = Guarded(State.open)

  /// Gives the value, unless there is one.
  ///
  /// - Returns: whether this was the first.
  @discardableResult
  func settle(_ value: Value) -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
      switch state {
      case .open:
        state = .settled(value)
        return (true, nil)
      case .awaited(let continuation):
        state = .taken
        return (true, continuation)
      case .settled, .taken: return (false, nil)
      }
    }
    waiting?.resume(returning: value)
    return isFirst
  }

  /// Waits for the value. Only one task may, once.
  nonisolated(nonsending) func value() async -> Value {
    await withCheckedContinuation { continuation in
      let settled = state.withLock { state -> Value? in
        if case .settled(let value) = state {
          state = .taken
          return value
        }
        state = .awaited(continuation)
        return nil
      }
      if let settled { continuation.resume(returning: settled) }
    }
  }
}
