// Bench.swift: runs the rows that were asked for, and keeps what they find.

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

  /// The numbers of targets between which the cost of a delivery is to stay.
  var growthSizes: [Int] { isQuick ? [10, 1_000] : [10, 100, 1_000, 10_000, 100_000] }

  /// The numbers of targets to register and to weigh.
  var registrySizes: [Int] { isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000] }

  /// Whether the filter lets a line through. Tells the terminal what is being measured.
  func wants(_ row: String, _ name: String, _ n: Int) -> Bool {
    let title = "\(row) \(name) \(n)"
    if let filter, !title.lowercased().contains(filter) { return false }
    progress.show(title)
    return true
  }

  func add(_ figure: Figure) { figures.append(figure) }

  /// Compares two ways of doing one thing, and counts what each asks of the memory.
  ///
  /// - Parameters:
  ///   - units: how many units one operation is made of; times are for one unit.
  ///   - messages: how many messages it is made of; requests for memory are for one message.
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

  /// Requests for memory of one operation that has been done before; the least of a few tries, since the process's
  /// other threads are counted too.
  func allocations(_ batch: Batch) -> Double? {
    let operations = 64
    return (0..<3).compactMap { _ in
      AllocationCounter.count(.process) { batch(operations) }.map { Double($0) / Double(operations) }
    }.min()
  }
}
