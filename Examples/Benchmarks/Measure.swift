// Measure.swift: times two operations alternately, so that both meet the same conditions.
// The result is the ratio of neighboring batches; a busy minute slows both alike.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Nanoseconds of a monotonic clock.
func nanoseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Performs an operation the given number of times.
typealias Batch = (Int) -> Void

/// The number of pairs of batches, and the duration of a batch.
struct Effort {
  var pairs: Int
  var batchNanoseconds: Double

  static let full = Effort(pairs: 61, batchNanoseconds: 1.0e6)
  static let quick = Effort(pairs: 21, batchNanoseconds: 0.4e6)
}

/// The result of a comparison, in nanoseconds per unit.
struct Comparison {
  var ours: Double
  var reference: Double
  /// The median ratio of neighboring batches.
  var ratio: Double
  /// Half the interquartile range of those ratios.
  var spread: Double
}

/// Times `ours` and `reference` alternately. In every other pair `reference` is first.
///
/// - Parameter unitsPerOperation: the number of units, such as deliveries, in one operation.
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

/// The time of one operation, measured in one batch.
private func time(_ batch: Batch, _ count: Int) -> Double {
  let start = nanoseconds()
  batch(count)
  return (nanoseconds() - start) / Double(count)
}

/// The number of operations in a batch. Also warms the operation up.
private func operationsPerBatch(_ effort: Effort, _ batch: Batch) -> Int {
  var count = 1
  while true {
    // The shorter of two times: during the first one a thread may have had to start.
    let elapsed = max(min(time(batch, count), time(batch, count)) * Double(count), 1)
    if elapsed >= effort.batchNanoseconds * 0.7 { return count }
    let wanted = Double(count) * effort.batchNanoseconds / elapsed
    count = max(count + 1, Int(min(wanted, Double(count) * 8)))
  }
}

extension [Double] {
  /// The value below which `part` of all values are; `nan` without values.
  func quantile(_ part: Double) -> Double {
    if isEmpty { return .nan }
    let sorted = sorted()
    let position = part * Double(sorted.count - 1)
    let below = Int(position)
    let above = Swift.min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

/// Starts a thread that sleeps forever. With one thread, locks and allocations would be cheaper.
func startSleepingThread() {
  startThread { while true { sleep(1000) } }
}

/// Starts a new thread for `body`.
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
