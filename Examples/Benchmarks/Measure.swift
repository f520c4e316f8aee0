// Measure.swift: two things timed in turns, so that both meet the same machine.
// What counts is the ratio of neighbours; a busy minute then slows both alike.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Nanoseconds of a clock that never goes back.
func nanoseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Does an operation so many times.
typealias Batch = (Int) -> Void

/// How long to measure: how many pairs of batches, and how long a batch lasts.
struct Effort {
  var pairs: Int
  var batchNanoseconds: Double

  static let full = Effort(pairs: 61, batchNanoseconds: 1.0e6)
  static let quick = Effort(pairs: 21, batchNanoseconds: 0.4e6)
}

/// What a comparison found, in nanoseconds for one unit of work.
struct Comparison {
  var ours: Double
  var reference: Double
  /// The median of the ratios of neighbouring batches.
  var ratio: Double
  /// Half the distance between the quartiles of those ratios.
  var spread: Double
}

/// Times `ours` and `reference` alternately, each going first in every other pair.
///
/// - Parameter unitsPerOperation: how many units, deliveries for example, one operation is made of.
func timed(_ effort: Effort, unitsPerOperation: Int, ours: Batch, reference: Batch) -> Comparison {
  let oursCount = operationsPerBatch(effort, ours)
  let referenceCount = operationsPerBatch(effort, reference)
  var (mine, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
  for pair in 0..<effort.pairs {
    let first: Double
    let second: Double
    if pair % 2 == 0 {
      first = time(ours, oursCount)
      second = time(reference, referenceCount)
    } else {
      second = time(reference, referenceCount)
      first = time(ours, oursCount)
    }
    mine.append(first / Double(unitsPerOperation))
    theirs.append(second / Double(unitsPerOperation))
    ratios.append(first / second)
  }
  return Comparison(
    ours: mine.quantile(0.5), reference: theirs.quantile(0.5), ratio: ratios.quantile(0.5),
    spread: (ratios.quantile(0.75) - ratios.quantile(0.25)) / 2)
}

/// The time of one operation, from one batch.
private func time(_ batch: Batch, _ count: Int) -> Double {
  let start = nanoseconds()
  batch(count)
  return (nanoseconds() - start) / Double(count)
}

/// How many operations fill a batch. Warms the operation up on the way.
private func operationsPerBatch(_ effort: Effort, _ batch: Batch) -> Int {
  var count = 1
  while true {
    // The shorter of two: the first one may have met a thread that had to be started, or another program.
    let elapsed = max(min(time(batch, count), time(batch, count)) * Double(count), 1)
    if elapsed >= effort.batchNanoseconds * 0.7 { return count }
    let wanted = Double(count) * effort.batchNanoseconds / elapsed
    count = max(count + 1, Int(min(wanted, Double(count) * 8)))
  }
}

extension [Double] {
  /// The value below which `part` of all values lie; `nan` of none.
  func quantile(_ part: Double) -> Double {
    if isEmpty { return .nan }
    let sorted = sorted()
    let position = part * Double(sorted.count - 1)
    let below = Int(position)
    let above = Swift.min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

/// Starts a thread that sleeps for ever: the C library makes locks and memory cheaper while a process has only one.
func startSleepingThread() {
  startThread { while true { sleep(1000) } }
}

/// Starts a thread of its own for `body`.
func startThread(_ body: @escaping @Sendable () -> Void) {
  let start = Unmanaged.passRetained(ThreadStart(body))
  #if canImport(Darwin)
    var thread: pthread_t?
    pthread_create(&thread, nil, { ThreadStart.run($0) }, start.toOpaque())
  #else
    var thread = pthread_t()
    pthread_create(&thread, nil, { $0.flatMap { ThreadStart.run($0) } }, start.toOpaque())
  #endif
}

private final class ThreadStart: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  static func run(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
    return nil
  }
}
