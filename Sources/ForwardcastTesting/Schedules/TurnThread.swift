// TurnThread.swift: threads on which turns run, used again.

import Dispatch
import Forwardcast

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A thread that waits for work: starting one costs more than an order does.
///
/// It is none of Dispatch, which lends few threads when those that it has lent are blocked, as one is whose turn is interrupted.
final class TurnThread: @unchecked Sendable {  // `work` is handed over by the semaphore
  private static let idle = Guarded<[TurnThread]>([])

  private let signal = DispatchSemaphore(value: 0)
  private var work: (@Sendable () -> Void)?

  static func run(_ work: @escaping @Sendable () -> Void) {
    let thread = idle.withLock { $0.popLast() } ?? TurnThread()
    thread.work = work
    thread.signal.signal()
  }

  private init() {
    // The thread never ends, nor does what it keeps.
    let kept = Unmanaged.passRetained(self).toOpaque()
    #if canImport(Darwin)
      var id: pthread_t?
      let failure = pthread_create(&id, nil, { TurnThread.run($0) }, kept)
    #else
      var id = pthread_t()
      let failure = pthread_create(&id, nil, { $0.flatMap { TurnThread.run($0) } }, kept)
    #endif
    precondition(failure == 0, "no thread for a schedule (\(failure))")
  }

  private static func run(_ kept: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let thread = Unmanaged<TurnThread>.fromOpaque(kept).takeUnretainedValue()
    while true {
      thread.signal.wait()
      thread.work.take()?()
      idle.withLock { $0.append(thread) }
    }
  }
}
