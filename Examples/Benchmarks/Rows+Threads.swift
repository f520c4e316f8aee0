// Rows+Threads.swift: the throughput of two threads compared with one.

import Dispatch
import Forwardcast
import Synchronization

/// A thread that sleeps until it gets work, and starts the work when the caller starts its own.
private final class Worker: Sendable {
  private let job = Mutex<(@Sendable () -> Void)?>(nil)
  private let isReady = Atomic<Bool>(false)
  private let isStarted = Atomic<Bool>(false)
  private let given = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)

  /// - Parameter processor: where the thread runs; `nil` lets the system choose.
  init(on processor: Processors?) {
    startThread {
      processor?.tie()
      self.main()
    }
  }

  private func main() {
    while true {
      given.wait()
      guard let work = job.withLock({ $0 }) else { return }
      isReady.store(true, ordering: .releasing)
      while !isStarted.load(ordering: .acquiring) {}
      work()
      done.signal()
    }
  }

  /// Wakes the thread, and returns when it begins the work.
  func start(_ work: @escaping @Sendable () -> Void) {
    isReady.store(false, ordering: .relaxed)
    isStarted.store(false, ordering: .relaxed)
    job.withLock { $0 = work }
    given.signal()
    while !isReady.load(ordering: .acquiring) {}
    isStarted.store(true, ordering: .releasing)
  }

  func wait() { done.wait() }

  func finish() {
    job.withLock { $0 = nil }
    given.signal()
  }
}

extension Bench {
  /// Two threads, each with its own proxy and targets, compared with one of the threads.
  func threadRows() {
    let before = Processors.current
    let single = before.single
    if single.count > 1 { single[0].tie() }
    defer { before.tie() }
    for n in sizes where n >= 10 && wants("threads", "two proxies", n) {
      let (first, second) = (Sides(n), Sides(n))
      let worker = Worker(on: single.count > 1 ? single[1] : nil)
      defer { worker.finish() }
      let messages = max(1, Int(effort.batchNanoseconds * 5 / 30) / n)
      let work: (Sides) -> @Sendable () -> Void = { sides in
        let proxy = sides.proxy
        return { for value in 0..<messages { sendTick(proxy, value) } }
      }
      let byHand: (Sides) -> @Sendable () -> Void = { sides in
        let loop = sides.loop
        return { for value in 0..<messages { loop.tick(value) } }
      }
      var (mine, theirs): ([Double], [Double]) = ([], [])
      for _ in 0..<effort.pairs {
        mine.append(scaling(worker, work(first), work(second)))
        theirs.append(scaling(worker, byHand(first), byHand(second)))
      }
      add(
        Figure(
          row: "threads", name: "two proxies", n: n, ours: mine.quantile(0.5), reference: theirs.quantile(0.5),
          unit: "× one thread", ratio: mine.quantile(0.5) / theirs.quantile(0.5),
          spread: (mine.quantile(0.75) - mine.quantile(0.25)) / 2, goal: .atLeast(1.8, "×")))
    }
  }

  /// The throughput of two threads as a multiple of one thread's.
  private func scaling(
    _ worker: Worker, _ first: @Sendable () -> Void, _ second: @escaping @Sendable () -> Void
  ) -> Double {
    let alone = nanoseconds()
    first()
    let one = nanoseconds() - alone
    worker.start(second)
    let together = nanoseconds()
    first()
    worker.wait()
    return 2 * one / (nanoseconds() - together)
  }
}
