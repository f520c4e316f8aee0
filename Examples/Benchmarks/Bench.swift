// Bench.swift: runs the selected rows and collects their figures.

import AllocationCounter

/// One run of the benchmarks.
final class Bench {
  let effort: Effort
  let isQuick: Bool
  private let filter: String?
  private let progress: Progress
  private(set) var figures: [Figure] = []

  init(filter: String?, isQuick: Bool, progress: Progress) {
    self.filter = filter?.lowercased()
    self.isQuick = isQuick
    self.progress = progress
    effort = isQuick ? .quick : .full
  }

  /// The numbers of targets to measure with.
  var sizes: [Int] { isQuick ? [1, 10, 100] : [1, 10, 100, 1000] }

  /// The numbers of targets between which the cost of a delivery must not grow.
  var growthSizes: [Int] { isQuick ? [10, 1_000] : [10, 100, 1_000, 10_000, 100_000] }

  /// The numbers of targets for the rows about registration and memory.
  var registrySizes: [Int] { isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000] }

  /// True if the filter includes a line; then the terminal shows the line's name.
  func wants(_ row: String, _ name: String, _ n: Int) -> Bool {
    let title = "\(row) \(name) \(n)"
    if let filter, !title.lowercased().contains(filter) { return false }
    progress.show(title)
    return true
  }

  func add(_ figure: Figure) { figures.append(figure) }

  /// Compares two implementations of one operation, and counts the allocations of each.
  ///
  /// - Parameters:
  ///   - units: the number of units in one operation; times are for one unit.
  ///   - messages: the number of messages in one operation; allocations are for one message.
  func compare(
    _ row: String, _ name: String, n: Int, per unit: String = "ns/delivery", units: Int, messages: Int = 1, goal: Goal?,
    ours: Batch, reference: Batch
  ) {
    guard wants(row, name, n) else { return }
    let found = timed(effort, unitsPerOperation: units, ours: ours, reference: reference)
    add(
      Figure(
        row: row, name: name, n: n, ours: found.ours, reference: found.reference, unit: unit, ratio: found.ratio,
        spread: found.spread, allocations: allocations(ours).map { $0 / Double(messages) },
        referenceAllocations: allocations(reference).map { $0 / Double(messages) }, goal: goal))
  }

  /// Allocations of one warmed-up operation: the least of a few tries, since the count includes
  /// other threads.
  func allocations(_ batch: Batch) -> Double? {
    let operations = 64
    return (0..<3).compactMap { _ in
      AllocationCounter.count(.process) { batch(operations) }.map { Double($0) / Double(operations) }
    }.min()
  }
}
