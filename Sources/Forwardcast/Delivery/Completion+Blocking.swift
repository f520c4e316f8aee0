// Completion+Blocking.swift: blocks a thread until nothing is pending.

import Dispatch

extension Completion {
  /// Blocks until nothing is pending. Returns false if the deadline passes first.
  package func wait(until deadline: Deadline) -> Bool {
    if let controller = ThreadController.current {
      return controller.wait(deadline) { self.state.withLock { $0.open == 0 } }
    }
    let semaphore = DispatchSemaphore(value: 0)
    let isDone = state.withLock { state in
      assert(state.hasNoWaiter, "one thread waits at a time")
      if state.open > 0 { state.waiter = .thread(semaphore) }
      return state.open == 0
    }
    if isDone || semaphore.wait(timeout: deadline.dispatchTime) == .success { return true }
    return state.withLock { state in
      state.waiter = .nobody
      return state.open == 0
    }
  }
}
