// Threads.swift: threads of their own, and a watchdog that ends a test which hangs.

import Dispatch
import Foundation
import Synchronization

/// Runs `body` on `count` threads that start together, and waits for all.
///
/// - Returns: `false` when they have not ended within a minute, which no sound schedule takes.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Bool {
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

/// A door that a test opens.
final class Latch: Sendable {
  private let group = DispatchGroup()
  private let isOpen = Atomic<Bool>(false)
  init() { group.enter() }
  func open() { if !isOpen.exchange(true, ordering: .sequentiallyConsistent) { group.leave() } }
  /// Waits until it is open, or gives up after a minute.
  func pass() { _ = group.wait(timeout: .now() + 600) }
}
