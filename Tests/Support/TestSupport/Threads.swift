// Threads.swift: threads for blocking code, with a time limit.

import Dispatch
import Foundation
import Synchronization

/// Runs `body` on a new thread, which may block.
package func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}

/// Runs `body` on `count` threads that start together, and waits for all.
///
/// - Returns: `false` if they do not end within ten minutes.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Bool {
  let (start, end) = (DispatchSemaphore(value: 0), DispatchGroup())
  for index in 0..<count {
    end.enter()
    let thread = Thread {
      start.wait()
      body(index)
      end.leave()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  for _ in 0..<count { start.signal() }
  return end.wait(timeout: .now() + 600) == .success
}

/// A one-time barrier.
package final class Latch: Sendable {
  private let group = DispatchGroup()
  private let isOpen = Atomic<Bool>(false)
  package init() { group.enter() }
  package func open() { if !isOpen.exchange(true, ordering: .sequentiallyConsistent) { group.leave() } }
  /// Waits until the latch is open, for ten minutes at most.
  package func pass() { _ = group.wait(timeout: .now() + 600) }
}

/// Calls blocking code from an async test.
@discardableResult
package func synchronously<T>(_ body: () throws -> T) rethrows -> T { try body() }
